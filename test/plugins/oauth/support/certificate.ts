import { generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';
import { mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as asn1js from 'asn1js';
import * as pkijs from 'pkijs';

const day = 86_400_000;

/** A self-signed certificate. `validFrom`, `validTo`: days from now. */
export async function selfSigned(
  keys: { privateKey: KeyObject; publicKey: KeyObject },
  { validFrom = -1, validTo = 365, digest = 'SHA-256' } = {},
): Promise<{ key: string; certificate: string; der: Buffer }> {
  const certificate = new pkijs.Certificate();
  certificate.version = 2;
  certificate.serialNumber = new asn1js.Integer({ value: Math.floor(Math.random() * 1e9) + 1 });
  const name = new pkijs.AttributeTypeAndValue({ type: '2.5.4.3', value: new asn1js.Utf8String({ value: 'manager' }) });
  certificate.issuer.typesAndValues.push(name);
  certificate.subject.typesAndValues.push(name);
  certificate.notBefore.value = new Date(Date.now() + validFrom * day);
  certificate.notAfter.value = new Date(Date.now() + validTo * day);
  const algorithm =
    keys.publicKey.asymmetricKeyType === 'rsa'
      ? { name: 'RSASSA-PKCS1-v1_5', hash: digest }
      : { name: 'ECDSA', namedCurve: curves[keys.publicKey.asymmetricKeyDetails?.namedCurve ?? ''] ?? '' };
  const privateKey = keys.privateKey.toCryptoKey(algorithm, true, ['sign']);
  await certificate.subjectPublicKeyInfo.importKey(keys.publicKey.toCryptoKey(algorithm, true, ['verify']));
  await certificate.sign(privateKey, digest);
  const der = Buffer.from(certificate.toSchema(true).toBER());
  const key = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { key, certificate: new X509Certificate(der).toString(), der };
}

const curves: Record<string, string> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' };

export const rsaKeys = (modulusLength = 2048) => generateKeyPairSync('rsa', { modulusLength });
export const ecKeys = (namedCurve = 'P-256') => generateKeyPairSync('ec', { namedCurve });

/** A new file with this text. */
export function pemFile(text: string): string {
  const file = join(mkdtempSync(join(tmpdir(), 'manager-')), 'certificates.pem');
  writeFileSync(file, text);
  return file;
}

/** Replaces a file in one step, as a secret store does. */
export function replaceFile(file: string, text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}
