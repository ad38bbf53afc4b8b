// An authority's answers with one fault each, made with the demo's authority.
import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import type { CrlBehaviour, OcspBehaviour } from './behaviour.ts';
import {
  type Asn1,
  bits,
  type Extension,
  encodeExtension,
  type Issuer,
  identifier,
  integer,
  nothing,
  octets,
  randomSerial,
  sequence,
  tagged,
  toDer,
  utf8,
} from './certificates.ts';
import {
  appointDelegate,
  type Dates,
  datesFrom,
  encodeEntry,
  encodeOcspAnswer,
  encodeRevocationList,
  encodeStatus,
  nonceExtensions,
  type Question,
  type Responder,
} from './revocation.ts';

export interface Signers {
  /** The key of the delegates. */
  readonly key: KeyObject;
  /** An untrusted authority, created on first use. */
  readonly stranger: () => Issuer;
  readonly now: () => Date;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const yearMs = 365 * dayMs;
const clientAuth = '1.3.6.1.5.5.7.3.2';
const nobodyKnows: Extension = { id: '1.2.3.4.5', critical: true, value: bits(new Uint8Array()) };

/** The dates for a behaviour, in whole seconds. */
export function answerDates(behaviour: string, now: Date, lifeSeconds: number): Dates {
  const shifted = (ms: number, life: number): Dates => datesFrom(new Date(now.getTime() + ms), life / 1000);
  if (behaviour === 'stale') return shifted(-3 * hourMs, 2 * hourMs);
  if (behaviour === 'years-old') return shifted(-6 * yearMs, 20 * yearMs);
  if (behaviour === 'future') return shifted(2 * hourMs, lifeSeconds * 1000);
  const dates = behaviour === 'older-no-end' ? shifted(-hourMs / 12, hourMs) : datesFrom(now, lifeSeconds);
  return behaviour.endsWith('no-end') ? { ...dates, nextUpdate: undefined } : dates;
}

/** The signer of answers about certificates of this issuer. */
export function signerFor(behaviour: OcspBehaviour, issuer: Issuer, signers: Signers): Responder {
  if (behaviour === 'issuer-signed') return { ...issuer, certificate: undefined };
  const appointer = behaviour === 'foreign' ? { name: issuer.name, key: signers.stranger().key } : issuer;
  const delegate = appointDelegate(appointer, {
    key: signers.key,
    now: new Date(signers.now().getTime() - (behaviour === 'expired-delegate' ? 90 * dayMs : 0)),
    ...(behaviour === 'unappointed' ? { purpose: clientAuth } : {}),
  });
  return behaviour === 'forged' ? { ...delegate, key: signers.stranger().key } : delegate;
}

/** An authority with its own key, created on first use. */
export function lazyStranger(): () => Issuer {
  let made: Issuer | undefined;
  return () => {
    made ??= {
      name: [['commonName', 'Een vreemde']],
      key: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
    };
    return made;
  };
}

export interface AnswerInput {
  readonly question: Question;
  readonly responder: Responder;
  readonly revoked: boolean;
  readonly dates: Dates;
  readonly now: Date;
  readonly behaviour: OcspBehaviour;
}

export function ocspAnswer({ question, responder, revoked, dates, now, behaviour }: AnswerInput): Buffer {
  const unknown = encodeExtension({ ...nobodyKnows, value: octets(Buffer.from('?')) });
  const status = encodeStatus({
    certId: behaviour === 'wrong-certificate' ? aboutAnother(question.certId) : question.certId,
    status: behaviour === 'unknown' ? 'unknown' : revoked ? 'revoked' : 'good',
    dates,
    extensions: behaviour === 'critical-single-extension' ? [unknown] : [],
  });
  return encodeOcspAnswer({
    responder,
    now,
    statuses: behaviour === 'twice' ? [status, status] : [status],
    extensions: [...nonce(question, behaviour), ...(behaviour === 'critical-extension' ? [unknown] : [])],
    hash: behaviour === 'weak-signature' ? 'sha1' : 'sha256',
    byKey: behaviour === 'by-key',
  });
}

/** The same issuer, another serial number. */
function aboutAnother(certId: Asn1): Asn1 {
  const members = Array.isArray(certId.value) ? certId.value.slice(0, 3) : [];
  return sequence(...members, integer(randomSerial()));
}

function nonce(question: Question, behaviour: OcspBehaviour): Asn1[] {
  if (behaviour === 'other-nonce') return nonceExtensions({ nonce: octets(toDer(octets(randomBytes(32)))) });
  return behaviour.startsWith('no-nonce') ? [] : nonceExtensions(question);
}

export interface ListInput {
  readonly issuer: Issuer;
  /** Hexadecimal. */
  readonly serials: readonly string[];
  readonly dates: Dates;
  readonly behaviour: CrlBehaviour;
}

export function revocationList({ issuer, serials, dates, behaviour }: ListInput): Buffer {
  const entries = serials.map((serial) => encodeEntry(serial, dates.thisUpdate));
  if (behaviour === 'unknown-entry') entries.unshift(encodeEntry('0123', dates.thisUpdate, [nobodyKnows]));
  return encodeRevocationList({
    issuer,
    entries,
    dates,
    extensions: scope(behaviour),
    hash: behaviour === 'weak-signature' ? 'sha1' : 'sha256',
    ...(behaviour === 'two-algorithms' ? { namedHash: 'sha384' } : {}),
  });
}

function scope(behaviour: CrlBehaviour): Extension[] {
  const point = (value: Asn1): Extension => ({ id: '2.5.29.28', critical: true, value: sequence(value) });
  if (behaviour === 'delta') return [{ id: '2.5.29.27', critical: true, value: integer('01') }];
  if (behaviour === 'partial') return [point(tagged(3, Buffer.from([0x01, 0x40]).toString('binary')))];
  if (behaviour === 'authorities-only') return [point(tagged(2, '\xff'))];
  if (behaviour === 'elsewhere') return [point(tagged(0, [tagged(0, [tagged(6, 'http://elders.example/lijst.crl')])]))];
  if (behaviour === 'unknown-extension') return [nobodyKnows];
  if (behaviour === 'relative-name') {
    return [point(tagged(0, [tagged(1, [sequence(identifier('2.5.4.3'), utf8('lijst'))])]))];
  }
  if (behaviour === 'unreadable-scope') return [{ ...point(nothing()), value: octets(Buffer.from('lijst')) }];
  if (behaviour === 'scope-twice') return [point(tagged(2, '\x00')), point(tagged(1, '\x00'))];
  return [];
}
