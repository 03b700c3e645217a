// Keeping the certificate: reused while it is good, made anew when it is not, never overwritten
// when unreadable.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type CertificatePair, makeCertificate } from './certificate.js';
import { CERTIFICATE_FILE, KEY_FILE, keepCertificate } from './certificate-files.js';

const DAY_MS = 86_400_000;
const now = new Date('2025-06-01T00:00:00Z');
const later = (days: number): Date => new Date(now.getTime() + days * DAY_MS);
const serial = Buffer.of(1, 2, 3);
const root = mkdtempSync(join(tmpdir(), 'mayfly-certificate-'));
after(() => rmSync(root, { recursive: true }));
const newFolder = (): string => mkdtempSync(join(root, 'data-'));

test('a new pair is good for 820 days, from yesterday on, for the names of every Mayfly', () => {
  const folder = join(newFolder(), 'not', 'yet', 'there');
  const made = parse(keepCertificate(folder, ['Db.Example.com', '10.0.0.7'], now, serial));
  assert.equal(Date.parse(made.validFrom), later(-1).getTime());
  assert.equal(Date.parse(made.validTo), later(820).getTime());
  for (const name of ['localhost', hostname(), 'host.docker.internal', 'db.example.com']) {
    assert.notEqual(made.checkHost(name), undefined, name);
  }
  for (const address of ['127.0.0.1', '::1', '10.0.0.7']) {
    assert.equal(made.checkIP(address), address);
  }
  assert.deepEqual(readdirSync(folder).sort(), [KEY_FILE, CERTIFICATE_FILE].sort());
});

test('it is reused byte for byte, also for fewer names and other spellings', () => {
  const folder = newFolder();
  const names = ['db.example.com', '*.example.org', '10.0.0.7', '0:0::7'];
  const made = keepCertificate(folder, names, now, serial);
  assert.deepEqual(keepCertificate(folder, names, later(1), serial), made);
  assert.deepEqual(keepCertificate(folder, ['DB.example.com', '::7'], now, serial), made);
  assert.equal(readFileSync(join(folder, CERTIFICATE_FILE), 'utf8'), made.certificatePem);
  assert.equal(readFileSync(join(folder, KEY_FILE), 'utf8'), made.keyPem);
});

test('it is made anew less than 30 days before its end', () => {
  const folder = newFolder();
  const made = keepCertificate(folder, [], now, serial);
  assert.deepEqual(keepCertificate(folder, [], later(790), serial), made);
  const renewed = keepCertificate(folder, [], new Date(later(790).getTime() + 1), serial);
  assert.notEqual(renewed.certificatePem, made.certificatePem);
  assert.equal(readFileSync(join(folder, CERTIFICATE_FILE), 'utf8'), renewed.certificatePem);
});

test('it is made anew when it is not valid yet', () => {
  const folder = newFolder();
  const made = keepCertificate(folder, [], now, serial);
  assert.notDeepEqual(keepCertificate(folder, [], later(-2), serial), made);
});

test('it is made anew when a name or an address is missing', () => {
  const folder = newFolder();
  const made = keepCertificate(folder, [], now, serial);
  const named = keepCertificate(folder, ['other.example.com'], now, serial);
  assert.notDeepEqual(named, made);
  const addressed = keepCertificate(folder, ['10.0.0.7'], now, serial);
  assert.notDeepEqual(addressed, named);
  assert.equal(parse(addressed).checkIP('10.0.0.7'), '10.0.0.7');
});

test('a pair that does not belong together, or half a pair, is made anew', () => {
  const folder = newFolder();
  const made = keepCertificate(folder, [], now, serial);
  const names = ['localhost'];
  const notBefore = now;
  const stranger = makeCertificate({ names, notBefore, notAfter: now, serialNumber: serial });
  writeFileSync(join(folder, KEY_FILE), stranger.keyPem);
  const second = keepCertificate(folder, [], now, serial);
  assert.notDeepEqual(second, made);
  rmSync(join(folder, KEY_FILE));
  assert.notDeepEqual(keepCertificate(folder, [], now, serial), second);
});

for (const file of [CERTIFICATE_FILE, KEY_FILE]) {
  test(`an unreadable ${file} is named and left alone`, () => {
    const folder = newFolder();
    keepCertificate(folder, [], now, serial);
    writeFileSync(join(folder, file), '-----BEGIN JUNK-----\n');
    assert.throws(
      () => keepCertificate(folder, [], now, serial),
      (error: Error) => error.message.includes(join(folder, file)),
    );
    assert.equal(readFileSync(join(folder, file), 'utf8'), '-----BEGIN JUNK-----\n');
  });
}

test('only the owner may read the key', { skip: process.platform === 'win32' }, () => {
  const folder = newFolder();
  // A draft that a crash left behind must not lend its wider mode to the key.
  writeFileSync(join(folder, `${KEY_FILE}.new`), 'draft', { mode: 0o644 });
  keepCertificate(folder, [], now, serial);
  assert.equal(statSync(join(folder, KEY_FILE)).mode & 0o777, 0o600);
});

test('without a folder nothing is kept', () => {
  const first = keepCertificate(undefined, [], now, serial);
  assert.notDeepEqual(keepCertificate(undefined, [], now, serial), first);
});

function parse(pair: CertificatePair): X509Certificate {
  return new X509Certificate(pair.certificatePem);
}
