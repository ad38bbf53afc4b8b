// What an OCSP request asks.
// @see RFC 6960 section 4.1.1
import { createHash, createPublicKey } from 'node:crypto';
import { type Asn1, contents, fromDer, identifier, inside, toDer } from './der.ts';
import type { Issuer } from './mint.ts';
import { encodeName } from './name.ts';

export interface Question {
  /** As sent, to be repeated in the answer. */
  readonly certId: Asn1;
  readonly nameHash: Buffer;
  readonly keyHash: Buffer;
  /** `sha1` or `sha256`; undefined for any other. */
  readonly hash: string | undefined;
  /** Hexadecimal without leading zeros. */
  readonly serial: string;
  /** The extension value, as sent. */
  readonly nonce: Asn1 | undefined;
}

const hashes: ReadonlyMap<string, string> = new Map([
  [toDer(identifier('1.3.14.3.2.26')).toString('hex'), 'sha1'],
  [toDer(identifier('2.16.840.1.101.3.4.2.1')).toString('hex'), 'sha256'],
]);
const nonceId = toDer(identifier('1.3.6.1.5.5.7.48.1.2')).toString('hex');
const isTagged = (tag: number) => (element: Asn1) => element.tagClass === 0x80 && Number(element.type) === tag;

/** @throws Error when it is no request for one certificate */
export function readQuestion(der: Uint8Array): Question {
  const [request] = inside(fromDer(der));
  const list = inside(request).find((element) => element.tagClass === 0);
  const [certId] = inside(inside(list)[0]);
  const [algorithm, nameHash, keyHash, serial] = inside(certId);
  if (certId === undefined || serial === undefined) throw new Error('not an OCSP request');
  const [hashId] = inside(algorithm);
  const extensions = inside(inside(inside(request).find(isTagged(2)))[0]);
  const nonce = extensions.find((extension) => derHex(inside(extension)[0]) === nonceId);
  return {
    certId,
    nameHash: contents(nameHash),
    keyHash: contents(keyHash),
    hash: hashes.get(derHex(hashId)),
    serial: normaliseSerial(contents(serial).toString('hex')),
    nonce: inside(nonce).at(-1),
  };
}

/** True when the question names this issuer by the hashes of its name and key. */
export function isAbout({ hash, nameHash, keyHash }: Question, issuer: Issuer): boolean {
  if (hash === undefined) return false;
  const digest = (bytes: Uint8Array): Buffer => createHash(hash).update(bytes).digest();
  return digest(toDer(encodeName(issuer.name))).equals(nameHash) && digest(keyBits(issuer)).equals(keyHash);
}

/** The bits of the public key of an RSA issuer: its PKCS#1 structure. */
export function keyBits({ key }: Issuer): Buffer {
  return createPublicKey(key).export({ type: 'pkcs1', format: 'der' });
}

export function normaliseSerial(hex: string): string {
  return hex
    .toLowerCase()
    .replace(/[^0-9a-f]/g, '')
    .replace(/^0+(?=.)/, '');
}

function derHex(value: Asn1 | undefined): string {
  return value === undefined ? '' : toDer(value).toString('hex');
}
