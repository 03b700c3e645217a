// Makes a self-signed X.509 certificate with Node's own cryptography; der.ts writes the envelope.
import { createHash, generateKeyPairSync, sign, X509Certificate } from 'node:crypto';
import { isIP, isIPv4 } from 'node:net';
import * as der from './der.js';

export interface CertificatePair {
  readonly certificatePem: string;
  readonly keyPem: string;
}
export interface CertificateRequest {
  /** Host names and IP addresses the certificate is good for. */
  readonly names: readonly string[];
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** At most 20 bytes, and not all zero. */
  readonly serialNumber: Uint8Array;
}

export function makeCertificate(request: CertificateRequest): CertificatePair {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = nameOf(ORGANIZATION);
  const algorithm = der.sequence(der.oid(OID.ecdsaWithSha256));
  const publicKeyInfo = publicKey.export({ type: 'spki', format: 'der' });
  // TBSCertificate of RFC 5280, 4.1; issuer and subject are the same because it signs itself.
  const content = der.sequence(
    der.wrapped(0, der.integer(Buffer.of(2))),
    der.integer(request.serialNumber),
    algorithm,
    subject,
    der.sequence(der.time(request.notBefore), der.time(request.notAfter)),
    subject,
    publicKeyInfo,
    der.wrapped(3, extensions(request.names, publicKeyInfo)),
  );
  const signature = sign('sha256', content, privateKey);
  const certificate = der.sequence(content, algorithm, der.bitString(signature));
  return {
    certificatePem: new X509Certificate(certificate).toString(),
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

const ORGANIZATION = 'Mayfly';
const OID = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  organization: '2.5.4.10',
  commonName: '2.5.4.3',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
} as const;

function nameOf(name: string): Buffer {
  const part = (type: string, text: string) =>
    der.set(der.sequence(der.oid(type), der.utf8String(text)));
  return der.sequence(part(OID.organization, name), part(OID.commonName, `${name} self-signed`));
}

/** It is its own authority (CA:TRUE), because some trust stores take nothing else. */
function extensions(names: readonly string[], publicKeyInfo: Uint8Array): Buffer {
  // Any value that is peculiar to the key will do; this one spares us the usual SHA-1.
  const keyIdentifier = createHash('sha256').update(publicKeyInfo).digest().subarray(0, 20);
  // Bit 0 is digitalSignature, bit 5 is keyCertSign; the last two bits of the byte are unused.
  const usage = der.bitString(Buffer.of(0b1000_0100), 2);
  return der.sequence(
    extension(OID.subjectKeyIdentifier, false, der.octetString(keyIdentifier)),
    extension(OID.basicConstraints, true, der.sequence(der.boolean(true))),
    extension(OID.keyUsage, true, usage),
    extension(OID.extendedKeyUsage, false, der.sequence(der.oid(OID.serverAuth))),
    extension(OID.subjectAltName, false, der.sequence(...names.map(generalName))),
  );
}

function extension(id: string, critical: boolean, value: Uint8Array): Buffer {
  const parts = critical ? [der.oid(id), der.boolean(true)] : [der.oid(id)];
  return der.sequence(...parts, der.octetString(value));
}

/** GeneralName of RFC 5280: [2] is a DNS name, [7] the bytes of an IP address. */
function generalName(name: string): Buffer {
  if (isIP(name) === 0) return der.tagged(2, Buffer.from(name, 'latin1'));
  return der.tagged(7, isIPv4(name) ? Buffer.from(name.split('.').map(Number)) : bytesOfIpv6(name));
}

function bytesOfIpv6(address: string): Buffer {
  // A URL writes every IPv6 address in one form: hexadecimal groups, with '::' at most once.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const right = groups(tail ?? '');
  const left = groups(head);
  const zeros = Array<string>(8 - left.length - right.length).fill('0');
  const all = [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16));
  return Buffer.from(all.flatMap((group) => [group >>> 8, group & 0xff]));
}
