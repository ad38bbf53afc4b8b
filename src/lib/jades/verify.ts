// Verifies a signed message: digest, signature, certificate path and revocation, cheapest first.
import { parseStrictObject } from '../json/json-text.ts';
import { isRecord, type JsonObject } from '../json/json-value.ts';
import { type Certificate, parseCertificate, signerOin } from './certificate.ts';
import { createPathCache } from './chain.ts';
import { JadesError, malformed } from './errors.ts';
import { createRevocationCheck, createRevocationSource, type Fetch, type RevocationMode } from './revocation.ts';
import {
  checkDigest,
  digestInPieces,
  type HeaderValues,
  onlyValue,
  parseDigest,
  verifySignature,
} from './signature.ts';

interface VerifierLimits {
  /** Characters of the signature header. */
  readonly signatureCharacters: number;
  /** Milliseconds that a verification waits for revocation answers. */
  readonly revocationDeadlineMs: number;
  /** Milliseconds for one OCSP answer before the list is fetched; a later answer is cached for the next verification. */
  readonly ocspTimeoutMs: number;
  /** Milliseconds after which the wait for a late OCSP answer ends. */
  readonly ocspLateMs: number;
  /** Milliseconds for one revocation list; one that comes after the deadline is cached for the next verification. */
  readonly crlTimeoutMs: number;
  /** Bytes of one revocation list; all cached lists together take twice as much at most. */
  readonly crlBytes: number;
}

export interface VerifierOptions {
  /** PEM bundle. */
  readonly anchors: string;
  /** Policies (OIDs) of which one must hold for the whole path. */
  readonly requiredPolicies?: readonly string[];
  readonly revocation: RevocationMode;
  readonly now: () => Date;
  /** Milliseconds after its signing time in which a message is accepted. Absent: its times are not checked (for old proof). */
  readonly maxSignatureAgeMs?: number;
  /** Calls the revocation services: the only network access of this library. The caller closes it, after the verifier. */
  readonly fetch: Fetch;
  readonly limits?: Partial<VerifierLimits>;
  /** Called with the reason when a revocation answer that is still valid could not be refreshed. */
  readonly refreshFailed?: (reason: unknown) => void;
}

/** A message as received: raw header values, so that a repeated header is seen, and the exact bytes. */
export interface SignedMessage {
  readonly signatureHeader: HeaderValues;
  readonly digestHeader: HeaderValues;
  readonly body: Uint8Array;
}

export interface Verified {
  readonly form: SignatureStyle['form'];
  /** To be passed to the signer for an answer in the same style. */
  readonly style: SignatureStyle;
  /** The signer's OIN, if its certificate has one. */
  readonly oin: string | undefined;
  readonly leaf: {
    readonly subject: string;
    /** Hexadecimal. */
    readonly serialNumber: string;
    readonly thumbprint: string;
    readonly notAfter: Date;
  };
  /** Absent where the signer left it out. */
  readonly kid: string | undefined;
  /** `SHA-256=<base64>`. */
  readonly digest: string;
  /** The signature header as received. */
  readonly signature: string;
}

export interface Verifier {
  /** @throws JadesError */
  verify(message: SignedMessage): Promise<Verified>;
  close(): Promise<void>;
}

const defaultLimits: VerifierLimits = {
  signatureCharacters: 64 * 1024,
  revocationDeadlineMs: 5_000,
  ocspTimeoutMs: 2_000,
  ocspLateMs: 15_000,
  crlTimeoutMs: 60_000,
  crlBytes: 50 * 1024 * 1024,
};

/** @throws Error when the bundle holds no readable anchor */
export function createVerifier(options: VerifierOptions): Verifier {
  const limits = { ...defaultLimits, ...options.limits };
  const { now, fetch } = options;
  const stop = new AbortController();
  const refreshFailed = (reason: unknown): void => {
    if (!stop.signal.aborted) options.refreshFailed?.(reason);
  };
  const ask = createRevocationSource({ now, fetch, signal: stop.signal, refreshFailed, ...limits });
  const { revocation: mode } = options;
  const checkRevocation = createRevocationCheck({
    ...{ mode, now, ask, refreshFailed },
    deadlineMs: limits.revocationDeadlineMs,
  });
  const { anchors, requiredPolicies = [] } = options;
  const paths = createPathCache({ anchors, requiredPolicies, now });

  return {
    async verify({ signatureHeader, digestHeader, body }) {
      const digest = parseDigest(digestHeader);
      checkDigest(digest, await digestInPieces(body));
      const { header, signature, sent } = readSignature(signatureHeader, limits.signatureCharacters, paths.read);
      await verifySignature(header, signature, body, digest.sent);
      if (options.maxSignatureAgeMs !== undefined) checkAge(header.times, now(), options.maxSignatureAgeMs);
      const path = await paths.find(header.x5c);
      await checkRevocation(path);
      return {
        ...describe(header.x5c),
        form: header.style.form,
        style: header.style,
        kid: header.kid,
        digest: digest.sha256,
        signature: sent,
      };
    },
    async close() {
      stop.abort(new Error('the verifier is closed'));
    },
  };
}

function readSignature(values: HeaderValues, maxCharacters: number, read: (der: Uint8Array) => Certificate) {
  const sent = onlyValue(values, 'signature-missing', 'signature-malformed', 'nlgov-adr-payload-sig');
  if (sent.length > maxCharacters) throw malformed(`langer dan ${maxCharacters} tekens`);
  const [encoded, payload, last, ...more] = sent.split('.');
  if (encoded === undefined || payload === undefined || last === undefined || more.length > 0) {
    throw malformed('de vorm is niet <header>..<handtekening>');
  }
  if (payload !== '') throw malformed('de handtekening bevat de inhoud, die er los van moet staan');
  const signature = decodeBase64url(last);
  if (signature === undefined) throw malformed('het laatste deel is geen base64url');
  return { header: parseProtectedHeader(encoded, read), signature, sent };
}

function describe([leaf]: readonly Certificate[]): Pick<Verified, 'oin' | 'leaf'> {
  if (leaf === undefined) throw malformed('x5c is leeg');
  const { x509, thumbprint, notAfter } = leaf;
  return {
    oin: signerOin(leaf),
    leaf: { subject: x509.subject, serialNumber: x509.serialNumber.toLowerCase(), thumbprint, notAfter },
  };
}

// The protected header of a detached JWS, read strictly, with the times in it.
// @see RFC 7515 section 4, RFC 7797 section 3, ETSI TS 119 182-1 clauses 5.1 and 5.2.8.2

/** How a signature is made. An answer is signed in the style of its request. */
export interface SignatureStyle {
  /** `body`: the payload is the HTTP body; `digest`: it is the line `digest: <Digest header>`, named by `sigD`. */
  readonly form: 'body' | 'digest';
  /** False: the payload enters the signing input as it is (RFC 7797). */
  readonly b64: boolean;
  /** Whether `crit` names what must be understood; `b64: false` always asks for it. */
  readonly crit: boolean;
}

export interface ProtectedHeader {
  /** The header as it was sent: what the signature covers. */
  readonly encoded: string;
  /** Absent where the signer left it out. */
  readonly kid: string | undefined;
  /** Leaf first; one to five different certificates. */
  readonly x5c: readonly Certificate[];
  readonly style: SignatureStyle;
  /** When it was signed and when it expires, as far as the header says so. */
  readonly times: SignatureTimes;
  /** All members, used or not. */
  readonly members: JsonObject;
}

export const httpHeaders = 'http://uri.etsi.org/19182/HttpHeaders';
const understood: ReadonlySet<string> = new Set(['sigD', 'b64', 'sigT']);
/** Media types that mean a compact JWS; any case, the prefix `application/` may be left out (RFC 7515 section 4.1.9). */
const joseType = /^(application\/)?jose$/i;
const maxCertificates = 5;

/**
 * @param encoded the first part of the compact serialisation
 * @param read what reads a certificate
 * @throws JadesError signature-malformed, signature-algorithm
 */
export function parseProtectedHeader(
  encoded: string,
  read: (der: Uint8Array) => Certificate = parseCertificate,
): ProtectedHeader {
  const members = decode(encoded);
  readAlgorithm(members);
  const kid = readKid(members);
  const typ = member(members, 'typ');
  if (typ !== undefined && (typeof typ !== 'string' || !joseType.test(typ))) throw malformed('typ is niet JOSE');
  const x5c = readCertificates(member(members, 'x5c'), read);
  readThumbprint(members, x5c);
  return { encoded, kid, x5c, style: readStyle(members), times: readTimes(members), members };
}

function member(members: JsonObject, name: string): unknown {
  return Object.hasOwn(members, name) ? members[name] : undefined;
}

function decode(encoded: string): JsonObject {
  const bytes = decodeBase64url(encoded);
  if (bytes === undefined) throw malformed('de header is geen base64url');
  try {
    return parseStrictObject(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (cause) {
    throw malformed('de header is geen JSON-object in UTF-8 waarin elk lid eenmaal voorkomt', cause);
  }
}

function readAlgorithm(members: JsonObject): void {
  const alg = member(members, 'alg');
  if (typeof alg !== 'string') throw malformed('alg ontbreekt of is geen tekst');
  if (alg !== 'PS256') throw new JadesError('signature-algorithm', 'Alleen het algoritme PS256 is toegestaan.');
}

function readKid(members: JsonObject): string | undefined {
  const kid = member(members, 'kid');
  if (kid === undefined || (typeof kid === 'string' && kid !== '')) return kid;
  throw malformed('kid is geen tekst');
}

function readCertificates(x5c: unknown, read: (der: Uint8Array) => Certificate): Certificate[] {
  if (!Array.isArray(x5c) || x5c.length === 0) throw malformed('x5c ontbreekt of is leeg');
  if (x5c.length > maxCertificates) throw malformed(`x5c bevat meer dan ${maxCertificates} certificaten`);
  const texts: readonly unknown[] = x5c;
  if (new Set(texts).size !== texts.length) throw malformed('x5c bevat een certificaat meer dan eens');
  return texts.map((text, index) => {
    const der = typeof text === 'string' ? decodeBase64(text) : undefined;
    if (der === undefined) throw malformed(`x5c[${index}] is geen base64`);
    try {
      return read(der);
    } catch (cause) {
      throw malformed(`x5c[${index}] is geen certificaat in DER`, cause);
    }
  });
}

function readThumbprint(members: JsonObject, x5c: readonly Certificate[]): void {
  if (!Object.hasOwn(members, 'x5t#S256')) return;
  if (members['x5t#S256'] !== x5c[0]?.thumbprint) throw malformed('x5t#S256 hoort niet bij het eerste certificaat');
}

function readStyle(members: JsonObject): SignatureStyle {
  const crit = readCrit(members);
  const b64 = Object.hasOwn(members, 'b64') ? members.b64 : true;
  if (typeof b64 !== 'boolean') throw malformed('b64 is geen waar of onwaar');
  if (!b64 && !crit.includes('b64')) throw malformed('b64 is onwaar zonder in crit te staan');
  return { form: readForm(members), b64, crit: crit.length > 0 };
}

function readCrit(members: JsonObject): readonly unknown[] {
  if (!Object.hasOwn(members, 'crit')) return [];
  const crit = members.crit;
  if (!Array.isArray(crit) || crit.length === 0) throw malformed('crit is geen gevulde lijst');
  const names: readonly unknown[] = crit;
  if (new Set(names).size !== names.length) throw malformed('crit noemt een lid meer dan eens');
  for (const name of names) {
    if (typeof name !== 'string' || !understood.has(name))
      throw malformed('crit noemt iets anders dan sigD, b64 en sigT');
    if (!Object.hasOwn(members, name)) throw malformed('crit noemt een lid dat ontbreekt');
  }
  return names;
}

/** The presence of `sigD` decides the form; its only use is the signing of the Digest header. */
function readForm(members: JsonObject): SignatureStyle['form'] {
  if (!Object.hasOwn(members, 'sigD')) return 'body';
  const sigD = members.sigD;
  if (!isRecord(sigD)) throw malformed('sigD is geen object');
  if (Object.keys(sigD).some((name) => name !== 'mId' && name !== 'pars'))
    throw malformed('sigD bevat onbekende leden');
  if (member(sigD, 'mId') !== httpHeaders) throw malformed('sigD.mId is niet HttpHeaders');
  const pars = member(sigD, 'pars');
  if (!Array.isArray(pars) || pars.length !== 1 || pars[0] !== 'digest')
    throw malformed('sigD.pars is niet ["digest"]');
  return 'digest';
}

// When a signature was made and when it expires, by its own header.
// @see ETSI TS 119 182-1 clauses 5.1.11 (iat) and 5.2.1 (sigT), RFC 7519 section 4.1.4 (exp)

/** Moments in milliseconds since 1970; each may be absent. */
interface SignatureTimes {
  /** `iat`, `sigT` or both. */
  readonly signedAt: readonly number[];
  /** `exp`. */
  readonly expiresAt: number | undefined;
}

/** The clock of a signer may be this much ahead of ours. */
const leewayMs = 5 * 60_000;
/** The last moment that a Date can hold, in seconds. */
const lastSecond = 8.64e12;
const utcTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?Z$/;

/** @throws JadesError signature-malformed when one is no moment */
function readTimes(members: JsonObject): SignatureTimes {
  const iat = numericDate(members, 'iat');
  const sigT = Object.hasOwn(members, 'sigT') ? readSigT(members.sigT) : undefined;
  return {
    signedAt: [iat, sigT].filter((moment) => moment !== undefined),
    expiresAt: numericDate(members, 'exp'),
  };
}

/**
 * Checks the age of a signature; one that names no time has none.
 * @param maxAgeMs how long after it was made a signature is accepted
 * @throws JadesError signature-expired, signature-not-yet-valid
 */
export function checkAge({ signedAt, expiresAt }: SignatureTimes, now: Date, maxAgeMs: number): void {
  const time = now.getTime();
  if (signedAt.some((moment) => moment > time + leewayMs)) {
    throw new JadesError('signature-not-yet-valid', 'De handtekening is van een moment dat nog moet komen.');
  }
  if (signedAt.some((moment) => moment < time - maxAgeMs)) {
    throw new JadesError('signature-expired', 'De handtekening is te lang geleden gezet.');
  }
  if (expiresAt !== undefined && time >= expiresAt) {
    throw new JadesError('signature-expired', 'De handtekening is volgens haar eigen exp verlopen.');
  }
}

function numericDate(members: JsonObject, name: 'iat' | 'exp'): number | undefined {
  if (!Object.hasOwn(members, name)) return undefined;
  const value = members[name];
  if (typeof value !== 'number' || value < 0 || value > lastSecond) throw malformed(`${name} is geen tijdstip`);
  return value * 1000;
}

function readSigT(value: unknown): number {
  const moment = typeof value === 'string' && utcTime.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(moment)) throw malformed('sigT is geen tijdstip in UTC');
  return moment;
}

const base64urlText = /^[A-Za-z0-9_-]+$/;
const base64Text = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * Decodes base64url without padding (RFC 7515 section 2), in its one canonical spelling: two texts never mean the same
 * bytes, so nothing can be varied that a signature does not cover. Anything else is undefined.
 */
export function decodeBase64url(text: string): Buffer | undefined {
  if (!base64urlText.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

/** Decodes standard base64 with its padding (RFC 4648 section 4), canonical only. Anything else is undefined. */
function decodeBase64(text: string): Buffer | undefined {
  if (!base64Text.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}
