// The certificate as others see it: parsed by OpenSSL and used in a real handshake.
import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { connect, createServer } from 'node:tls';
import { type CertificatePair, makeCertificate } from './certificate.js';
import * as der from './der.js';

const notBefore = new Date('2024-03-01T10:20:30Z');
const notAfter = new Date('2049-12-31T23:59:59Z');
const serialNumber = Buffer.from('00ff01020304050607', 'hex');

function make(names: readonly string[], until = notAfter): CertificatePair {
  return makeCertificate({ names, notBefore, notAfter: until, serialNumber });
}

test('it holds names, addresses, dates and the serial number', () => {
  const addresses = ['127.0.0.1', '::1', 'fe80::12:0:3', '::ffff:10.1.2.3', '1:2:3:4:5:6:7:8'];
  const made = new X509Certificate(
    make(['localhost', '*.mayfly.local', ...addresses]).certificatePem,
  );
  assert.equal(made.checkHost('localhost'), 'localhost');
  assert.equal(made.checkHost('db.mayfly.local'), '*.mayfly.local');
  assert.equal(made.checkHost('example.com'), undefined);
  for (const address of addresses) assert.equal(made.checkIP(address), address);
  assert.equal(made.checkIP('127.0.0.2'), undefined);
  assert.equal(Date.parse(made.validFrom), notBefore.getTime());
  assert.equal(Date.parse(made.validTo), notAfter.getTime());
  assert.equal(made.serialNumber, 'FF01020304050607');
  assert.equal(made.subject, 'O=Mayfly\nCN=Mayfly self-signed');
});

test('it signs itself, is an authority and serves', () => {
  const pair = make(['localhost']);
  const made = new X509Certificate(pair.certificatePem);
  assert.equal(made.verify(made.publicKey), true);
  assert.equal(made.checkIssued(made), true);
  assert.equal(made.ca, true);
  assert.equal(made.checkPrivateKey(createPrivateKey(pair.keyPem)), true);
  assert.deepEqual(made.keyUsage, ['1.3.6.1.5.5.7.3.1']);
  assert.equal(made.publicKey.asymmetricKeyDetails?.namedCurve, 'prime256v1');
});

test('dates on both sides of 2050 survive', () => {
  for (const text of ['2049-12-31T23:59:59Z', '2050-01-01T00:00:00Z', '9999-12-31T23:59:59Z']) {
    const made = new X509Certificate(make(['localhost'], new Date(text)).certificatePem);
    assert.equal(Date.parse(made.validTo), Date.parse(text));
  }
});

test('many names make long lengths', () => {
  const names = Array.from({ length: 3000 }, (_, i) => `host-${i}.example.com`);
  const made = new X509Certificate(make(names).certificatePem);
  assert.equal(made.checkHost('host-2999.example.com'), 'host-2999.example.com');
});

for (const servername of ['localhost', '127.0.0.1']) {
  test(`a client that trusts it completes a handshake with ${servername}`, async () => {
    // This one handshake happens at the real present, so the certificate spans all of it.
    const pair = make(['localhost', '127.0.0.1'], new Date('9999-12-31T23:59:59Z'));
    const server = createServer({ cert: pair.certificatePem, key: pair.keyPem }, (socket) =>
      socket.end('hello'),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const name = servername === 'localhost' ? { servername } : {};
    const ca = pair.certificatePem;
    const client = connect({ host: '127.0.0.1', port, ca, rejectUnauthorized: true, ...name });
    const [said] = await once(client, 'data');
    assert.equal(client.authorized, true);
    assert.equal(String(said), 'hello');
    client.destroy();
    server.close();
  });
}

test('DER bytes are those of the standard', () => {
  const rows: readonly (readonly [Buffer, string])[] = [
    [der.integer(Buffer.of(0)), '020100'],
    [der.integer(Buffer.of()), '020100'],
    [der.integer(Buffer.of(0, 0, 5)), '020105'],
    [der.integer(Buffer.of(0x7f)), '02017f'],
    [der.integer(Buffer.of(0x80)), '02020080'],
    [der.oid('1.2.840.10045.4.3.2'), '06082a8648ce3d040302'],
    [der.bitString(Buffer.of(0x84), 2), '03020284'],
    [der.octetString(Buffer.of(1)), '040101'],
    [der.utf8String('é'), '0c02c3a9'],
    [der.set(der.boolean(true)), '31030101ff'],
    [der.wrapped(3, der.boolean(false)), 'a303010100'],
    [der.tagged(2, Buffer.from('a')), '820161'],
    [der.time(new Date('2049-12-31T23:59:59.999Z')), '170d3439313233313233353935395a'],
    [der.time(new Date('2050-01-01T00:00:00Z')), '180f32303530303130313030303030305a'],
    [der.octetString(Buffer.alloc(127)).subarray(0, 3), '047f00'],
    [der.octetString(Buffer.alloc(128)).subarray(0, 3), '048180'],
    [der.octetString(Buffer.alloc(65_536)).subarray(0, 5), '0483010000'],
  ];
  for (const [bytes, hex] of rows) assert.equal(bytes.toString('hex'), hex);
});
