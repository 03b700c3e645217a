// The certificate kept beside the data: made on the first need and reused, so that a user who
// trusts it once does not have to trust it again.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { domainToASCII } from 'node:url';
import { type CertificatePair, makeCertificate } from './certificate.js';

export const CERTIFICATE_FILE = 'certificate.pem';
export const KEY_FILE = 'certificate-key.pem';

/**
 * The pair kept in the folder, or a new one when that one ends soon or lacks a name. Without a
 * folder a new pair is made each time. The names every Mayfly answers to need not be given.
 */
export function keepCertificate(
  folder: string | undefined,
  names: readonly string[],
  now: Date,
  serialNumber: Uint8Array,
): CertificatePair {
  const wanted = withoutDoubles([...alwaysNames(), ...names].map(normalize));
  const kept = folder === undefined ? undefined : load(folder);
  if (kept !== undefined && isGood(kept, wanted, now)) return kept;
  const made = makeCertificate({
    names: wanted,
    notBefore: new Date(now.getTime() - DAY_MS),
    notAfter: new Date(now.getTime() + VALID_DAYS * DAY_MS),
    serialNumber,
  });
  if (folder !== undefined) save(folder, made);
  return made;
}

const DAY_MS = 86_400_000;
/** Apple's platforms refuse certificates that are valid for more than 825 days. */
const VALID_DAYS = 820;
const RENEW_DAYS = 30;

function alwaysNames(): readonly string[] {
  return ['localhost', '127.0.0.1', '::1', hostname(), 'host.docker.internal'];
}

/** Certificates hold international names in their ASCII form; what has none is left out as ''. */
function normalize(name: string): string {
  return isIP(name) === 0 ? domainToASCII(name) : name;
}

function withoutDoubles(names: readonly string[]): readonly string[] {
  return [...new Set(names)].filter((name) => name !== '');
}

function load(folder: string): CertificatePair | undefined {
  const certificatePem = readIfThere(join(folder, CERTIFICATE_FILE));
  const keyPem = readIfThere(join(folder, KEY_FILE));
  if (certificatePem === undefined || keyPem === undefined) return undefined;
  understood(join(folder, CERTIFICATE_FILE), () => new X509Certificate(certificatePem));
  understood(join(folder, KEY_FILE), () => createPrivateKey(keyPem));
  return { certificatePem, keyPem };
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** A file that is there but makes no sense may be somebody's own, so it is never overwritten. */
function understood(file: string, parse: () => unknown): void {
  try {
    parse();
  } catch (cause) {
    const advice = 'Repair it, or delete it and a new one is made.';
    throw new Error(`The file ${file} is not readable as PEM. ${advice}`, { cause });
  }
}

function isGood(pair: CertificatePair, names: readonly string[], now: Date): boolean {
  const certificate = new X509Certificate(pair.certificatePem);
  // A crash between the two writes can leave a key that belongs to another certificate.
  if (!certificate.checkPrivateKey(createPrivateKey(pair.keyPem))) return false;
  if (Date.parse(certificate.validFrom) > now.getTime()) return false;
  if (Date.parse(certificate.validTo) < now.getTime() + RENEW_DAYS * DAY_MS) return false;
  const listed = new Set((certificate.subjectAltName ?? '').split(', '));
  return names.every((name) =>
    isIP(name) === 0
      ? listed.has(`DNS:${name}`) || certificate.checkHost(name) !== undefined
      : certificate.checkIP(name) !== undefined,
  );
}

function save(folder: string, pair: CertificatePair): void {
  mkdirSync(folder, { recursive: true });
  writeWhole(join(folder, KEY_FILE), pair.keyPem, 0o600);
  writeWhole(join(folder, CERTIFICATE_FILE), pair.certificatePem, 0o644);
}

/**
 * Written under another name first, so that a crash leaves the old file or the new one, never a
 * half.
 */
function writeWhole(file: string, text: string, mode: number): void {
  const draft = `${file}.new`;
  // The mode counts only when a file is created, so a draft left by a crash must go first.
  rmSync(draft, { force: true });
  writeFileSync(draft, text, { mode, flag: 'wx' });
  renameSync(draft, file);
}
