import { createHash, createPublicKey, randomBytes, sign } from 'node:crypto';
import type { OcspBehaviour } from './behaviour.ts';
import { algorithm, encodeExtension, type Issuer, randomSerial } from './certificates.ts';
import type { Dates } from './dates.ts';
import {
  type Asn1,
  bits,
  contents,
  encodeName,
  enumerated,
  fromDer,
  generalizedTime,
  identifier,
  inside,
  integer,
  octets,
  sequence,
  tagged,
  toDer,
} from './der.ts';

// What an OCSP request asks.
// @see RFC 6960 section 4.1.1

interface Question {
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

// Answers of the OCSP responder.
// @see RFC 6960 section 4.2.1

/** Who signs an answer, and the certificate that is sent along. */
export interface Responder extends Issuer {
  readonly certificate: Uint8Array | undefined;
}

interface AnswerInput {
  readonly question: Question;
  readonly responder: Responder;
  readonly revoked: boolean;
  readonly dates: Dates;
  readonly now: Date;
  readonly behaviour: OcspBehaviour;
}

/** An answer without contents (RFC 6960 section 4.2.1): 1 malformed, 3 try later, 6 unauthorised. */
export function emptyAnswer(status: 1 | 3 | 6): Buffer {
  return toDer(sequence(enumerated(status)));
}

export function ocspAnswer(input: AnswerInput): Buffer {
  const { responder, behaviour, now } = input;
  const hash = createHash('sha1').update(keyBits(responder)).digest();
  const id = behaviour === 'by-key' ? tagged(2, [octets(hash)]) : tagged(1, [encodeName(responder.name)]);
  const singles = behaviour === 'twice' ? [single(input), single(input)] : [single(input)];
  const extensions = [nonceExtension(input), ...(behaviour === 'critical-extension' ? [nobodyKnows()] : [])].filter(
    (extension) => extension !== undefined,
  );
  const data = sequence(
    id,
    generalizedTime(now),
    sequence(...singles),
    ...(extensions.length === 0 ? [] : [tagged(1, [sequence(...extensions)])]),
  );
  const weak = behaviour === 'weak-signature' ? 'sha1' : 'sha256';
  const certificates =
    responder.certificate === undefined ? [] : [tagged(0, [sequence(fromDer(responder.certificate))])];
  const signature = bits(sign(weak, toDer(data), responder.key));
  const basic = sequence(data, algorithm(responder.key, weak), signature, ...certificates);
  const body = sequence(identifier('1.3.6.1.5.5.7.48.1.1'), octets(toDer(basic)));
  return toDer(sequence(enumerated(0), tagged(0, [body])));
}

function single({ question, revoked, dates, behaviour }: AnswerInput): Asn1 {
  const end = dates.nextUpdate === undefined ? [] : [tagged(0, [generalizedTime(dates.nextUpdate)])];
  return sequence(
    behaviour === 'wrong-certificate' ? aboutAnother(question.certId) : question.certId,
    certificateStatus(revoked, behaviour === 'unknown', dates.thisUpdate),
    generalizedTime(dates.thisUpdate),
    ...end,
    ...(behaviour === 'critical-single-extension' ? [tagged(1, [sequence(nobodyKnows())])] : []),
  );
}

function nobodyKnows(): Asn1 {
  return encodeExtension({ id: '1.2.3.4.5', critical: true, value: octets(Buffer.from('?')) });
}

function certificateStatus(revoked: boolean, unknown: boolean, at: Date): Asn1 {
  if (unknown) return tagged(2, '');
  return revoked ? tagged(1, [generalizedTime(at)]) : tagged(0, '');
}

/** The same issuer, another serial number. */
function aboutAnother(certId: Asn1): Asn1 {
  const members = Array.isArray(certId.value) ? certId.value.slice(0, 3) : [];
  return sequence(...members, integer(randomSerial()));
}

function nonceExtension({ question, behaviour }: AnswerInput): Asn1 | undefined {
  const id = identifier('1.3.6.1.5.5.7.48.1.2');
  if (behaviour === 'other-nonce') return sequence(id, octets(toDer(octets(randomBytes(32)))));
  if (question.nonce === undefined || behaviour.startsWith('no-nonce')) return undefined;
  return sequence(id, question.nonce);
}
