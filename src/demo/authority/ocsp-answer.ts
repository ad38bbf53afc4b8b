// Answers of the OCSP responder.
// @see RFC 6960 section 4.2.1
import { createHash, randomBytes, sign } from 'node:crypto';
import type { OcspBehaviour } from './behaviour.ts';
import type { Dates } from './dates.ts';
import {
  type Asn1,
  bits,
  enumerated,
  fromDer,
  generalizedTime,
  identifier,
  integer,
  octets,
  sequence,
  tagged,
  toDer,
} from './der.ts';
import { encodeExtension } from './extensions.ts';
import { algorithm, type Issuer, randomSerial } from './mint.ts';
import { encodeName } from './name.ts';
import { keyBits, type Question } from './ocsp-request.ts';

/** Who signs an answer, and the certificate that is sent along. */
export interface Responder extends Issuer {
  readonly certificate: Uint8Array | undefined;
}

export interface AnswerInput {
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
