// An authority's statements about revocation: an issuer's list, and the OCSP responder's answers to requests. @see RFC 5280 section 5.1,
// RFC 6960 sections 4.1.1 and 4.2.1
import { createHash, createPublicKey, type KeyObject, sign } from 'node:crypto';
import {
  type Asn1,
  algorithm,
  authorityKeyIdentifier,
  bits,
  contents,
  type Extension,
  encodeExtension,
  encodeName,
  enumerated,
  extendedKeyUsage,
  fromDer,
  generalizedTime,
  type Issuer,
  identifier,
  inside,
  integer,
  keyUsage,
  mintCertificate,
  ocspNoCheck,
  octets,
  type SignatureHash,
  sequence,
  signStructure,
  tagged,
  time,
  toDer,
} from './certificates.ts';

/** `thisUpdate` and `nextUpdate` of an answer. */
export interface Dates {
  readonly thisUpdate: Date;
  readonly nextUpdate: Date | undefined;
}

/** An answer from now, in whole seconds, with this lifetime. */
export function datesFrom(now: Date, lifeSeconds: number): Dates {
  const start = Math.floor(now.getTime() / 1000) * 1000;
  return { thisUpdate: new Date(start), nextUpdate: new Date(start + lifeSeconds * 1000) };
}

export interface RevocationList {
  readonly issuer: Issuer;
  readonly entries: readonly Asn1[];
  readonly dates: Dates;
  readonly extensions?: readonly Extension[];
  /** SHA-256 unless given. */
  readonly hash?: SignatureHash;
  /** The hash that the signed part names; by default the signature's. */
  readonly namedHash?: SignatureHash;
}

export function encodeRevocationList(list: RevocationList): Buffer {
  const { issuer, entries, dates, hash = 'sha256', namedHash = hash } = list;
  const number = integer(dates.thisUpdate.getTime().toString(16));
  const extensions = [
    authorityKeyIdentifier(createPublicKey(issuer.key)),
    { id: '2.5.29.20', critical: false, value: number },
    ...(list.extensions ?? []),
  ];
  const contents = sequence(
    integer('01'),
    algorithm(issuer.key, namedHash),
    encodeName(issuer.name),
    time(dates.thisUpdate),
    ...(dates.nextUpdate === undefined ? [] : [time(dates.nextUpdate)]),
    ...(entries.length > 0 ? [sequence(...entries)] : []),
    tagged(0, [sequence(...extensions.map(encodeExtension))]),
  );
  return signStructure(contents, issuer.key, hash);
}

/** One revoked certificate, by its hexadecimal serial number. */
export function encodeEntry(serial: string, at: Date, extensions: readonly Extension[] = []): Asn1 {
  const more = extensions.length === 0 ? [] : [sequence(...extensions.map(encodeExtension))];
  return sequence(integer(serial), time(at), ...more);
}

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

/** @throws Error when it is not a request for one certificate */
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

/** True when the request names this issuer by the hashes of its name and key. */
export function isAbout({ hash, nameHash, keyHash }: Question, issuer: Issuer): boolean {
  if (hash === undefined) return false;
  const digest = (bytes: Uint8Array): Buffer => createHash(hash).update(bytes).digest();
  return digest(toDer(encodeName(issuer.name))).equals(nameHash) && digest(keyBits(issuer)).equals(keyHash);
}

/** The bits of an RSA issuer's public key: its PKCS#1 structure. */
function keyBits({ key }: Issuer): Buffer {
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

/** The signer of an answer, and the certificate sent with it. */
export interface Responder extends Issuer {
  readonly certificate: Uint8Array | undefined;
}

const ocspSigning = '1.3.6.1.5.5.7.3.9';
const dayMs = 24 * 3_600_000;

/** An issuer's delegate that signs its answers, with a certificate for a month. */
export function appointDelegate(
  issuer: Issuer,
  { key, now, purpose = ocspSigning }: { readonly key: KeyObject; readonly now: Date; readonly purpose?: string },
): Responder {
  const name = issuer.name.map((part) => (part[0] === 'commonName' ? ([part[0], `${part[1]} OCSP`] as const) : part));
  const certificate = mintCertificate({
    subject: name,
    key: createPublicKey(key),
    issuer,
    notBefore: new Date(now.getTime() - dayMs),
    notAfter: new Date(now.getTime() + 30 * dayMs),
    extensions: [keyUsage(['digitalSignature']), extendedKeyUsage([purpose]), ocspNoCheck()],
  });
  return { name, key, certificate: certificate.raw };
}

/** An answer without contents (RFC 6960 section 4.2.1): 1 malformed, 3 try later, 6 unauthorised. */
export function emptyAnswer(status: 1 | 3 | 6): Buffer {
  return toDer(sequence(enumerated(status)));
}

export interface OcspAnswer {
  readonly responder: Responder;
  readonly now: Date;
  /** The status of each certificate: `encodeStatus`. */
  readonly statuses: readonly Asn1[];
  readonly extensions: readonly Asn1[];
  /** SHA-256 unless given. */
  readonly hash?: SignatureHash;
  /** Identifies the responder by the hash of its key. */
  readonly byKey?: boolean;
}

export function encodeOcspAnswer(answer: OcspAnswer): Buffer {
  const { responder, now, statuses, extensions, hash = 'sha256', byKey = false } = answer;
  const keyHash = createHash('sha1').update(keyBits(responder)).digest();
  const data = sequence(
    byKey ? tagged(2, [octets(keyHash)]) : tagged(1, [encodeName(responder.name)]),
    generalizedTime(now),
    sequence(...statuses),
    ...(extensions.length === 0 ? [] : [tagged(1, [sequence(...extensions)])]),
  );
  const certificates =
    responder.certificate === undefined ? [] : [tagged(0, [sequence(fromDer(responder.certificate))])];
  const signature = bits(sign(hash, toDer(data), responder.key));
  const basic = sequence(data, algorithm(responder.key, hash), signature, ...certificates);
  const body = sequence(identifier('1.3.6.1.5.5.7.48.1.1'), octets(toDer(basic)));
  return toDer(sequence(enumerated(0), tagged(0, [body])));
}

export interface Status {
  readonly certId: Asn1;
  readonly status: 'good' | 'revoked' | 'unknown';
  readonly dates: Dates;
  readonly extensions?: readonly Asn1[];
}

export function encodeStatus({ certId, status, dates, extensions = [] }: Status): Asn1 {
  const { thisUpdate, nextUpdate } = dates;
  const choice = {
    good: () => tagged(0, ''),
    revoked: () => tagged(1, [generalizedTime(thisUpdate)]),
    unknown: () => tagged(2, ''),
  };
  return sequence(
    certId,
    choice[status](),
    generalizedTime(thisUpdate),
    ...(nextUpdate === undefined ? [] : [tagged(0, [generalizedTime(nextUpdate)])]),
    ...(extensions.length === 0 ? [] : [tagged(1, [sequence(...extensions)])]),
  );
}

/** The request's nonce, or another; none when it had none. */
export function nonceExtensions({ nonce }: Pick<Question, 'nonce'>): Asn1[] {
  return nonce === undefined ? [] : [sequence(identifier('1.3.6.1.5.5.7.48.1.2'), nonce)];
}
