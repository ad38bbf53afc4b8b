// Verifies a signed message: digest, signature, certificate path and revocation, cheapest first.
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonObject } from '../json/json-value.ts';
import { parseStrictObject } from '../json/parse-untrusted.ts';
import { type Certificate, JadesError, parseCertificate, signerOin } from './certificate.ts';
import { createPathCache, type ReadCertificates } from './chain.ts';
import {
  checkRevocation,
  createRevocationSource,
  type Fetch,
  type RevocationLimits,
  type RevocationMode,
} from './revocation.ts';
import {
  ALGORITHMS,
  algorithmNames,
  checkDigest,
  digestInPieces,
  type HeaderValues,
  HTTP_HEADERS,
  onlyValue,
  type ProtectedHeader,
  parseDigest,
  type SignatureStyle,
  verifySignature,
} from './signature.ts';

export interface VerifierLimits extends RevocationLimits {
  readonly signatureCharacters: number;
  /** Milliseconds that a verification waits for revocation answers. */
  readonly revocationDeadlineMs: number;
}

export interface VerifierOptions {
  /** PEM bundle. */
  readonly anchors: string;
  /** Policies (OIDs), one of which must hold for the whole path. */
  readonly requiredPolicies?: readonly string[];
  readonly revocation: RevocationMode;
  readonly now: () => Date;
  /** Milliseconds after its signing time in which a message is accepted. Absent: its times are not checked (for old evidence). */
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
  /** Pass it to the signer for an answer in the same style. */
  readonly style: SignatureStyle;
  /** The signer's OIN, if its certificate has one. */
  readonly oin: string | undefined;
  /** `SHA-256=<base64>`. */
  readonly digest: string;
  readonly signature: string;
}

export interface Verifier {
  /** @throws {JadesError} when the message is refused; its `code` says why */
  verify(message: SignedMessage): Promise<Verified>;
  close(): Promise<void>;
}

const DEFAULT_LIMITS: VerifierLimits = {
  signatureCharacters: 64 * 1024,
  revocationDeadlineMs: 5_000,
  ocspTimeoutMs: 2_000,
  ocspLateMs: 15_000,
  crlTimeoutMs: 60_000,
  crlBytes: 50 * 1024 * 1024,
};

/**
 * Makes a verifier, which keeps validated paths and revocation answers in memory: one for all messages.
 * @throws {Error} when the bundle holds no readable anchor
 * @example
 * const verifier = createVerifier({ anchors, revocation: 'hard', now: () => new Date(), fetch: fetchRevocation() });
 * const { oin } = await verifier.verify({ body, digestHeader, signatureHeader });
 */
export function createVerifier(options: VerifierOptions): Verifier {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const { now, fetch } = options;
  const stop = new AbortController();
  const refreshFailed = (reason: unknown): void => {
    if (!stop.signal.aborted) options.refreshFailed?.(reason);
  };
  const statusOf = createRevocationSource({ now, fetch, signal: stop.signal, refreshFailed, ...limits });
  const revocation = { mode: options.revocation, deadlineMs: limits.revocationDeadlineMs };
  const { anchors, requiredPolicies = [] } = options;
  const paths = createPathCache({ anchors, requiredPolicies, now });

  return {
    async verify({ signatureHeader, digestHeader, body }) {
      const digest = parseDigest(digestHeader);
      checkDigest(digest, await digestInPieces(body));
      const { header, signature, sent } = readSignature(
        signatureHeader,
        limits.signatureCharacters,
        paths.readCertificates,
      );
      try {
        await verifySignature(header, signature, body, digest.sent);
      } catch (error) {
        checkOrder(header.x5c);
        throw error;
      }
      if (options.maxSignatureAgeMs !== undefined) checkAge(header, now(), options.maxSignatureAgeMs);
      const path = paths.find(header.x5c);
      await checkRevocation(path, statusOf, revocation);
      const [leaf] = path;
      return { style: header.style, oin: leaf && signerOin(leaf), digest: digest.sha256, signature: sent };
    },
    async close() {
      stop.abort(new Error('the verifier is closed'));
    },
  };
}

/** @throws JadesError signature-invalid for a chain that was sent in reverse, whose signature would otherwise only be called invalid */
function checkOrder([first, second]: readonly Certificate[]): void {
  if (first === undefined || second?.pki.issuer.isEqual(first.pki.subject) !== true) return;
  const detail =
    'De keten in x5c staat in de verkeerde volgorde: het certificaat van de ondertekenaar hoort als eerste.';
  throw new JadesError('signature-invalid', detail);
}

function malformed(what: string, cause?: unknown): JadesError {
  return new JadesError('signature-malformed', `De handtekening is niet leesbaar: ${what}.`, { cause });
}

function readSignature(values: HeaderValues, maxCharacters: number, readCertificates: ReadCertificates) {
  const sent = onlyValue(values, 'signature-missing', 'signature-malformed', 'nlgov-adr-payload-sig');
  if (sent.length > maxCharacters) throw malformed(`langer dan ${maxCharacters} tekens`);
  const [encoded, payload, last, ...more] = sent.split('.');
  if (encoded === undefined || payload === undefined || last === undefined || more.length > 0) {
    throw malformed('de vorm is niet <header>..<handtekening>');
  }
  if (payload !== '') throw malformed('de handtekening bevat de inhoud, die er los van moet staan');
  const signature = decodeBase64url(last, 'het laatste deel');
  return { header: parseProtectedHeader(encoded, readCertificates), signature, sent };
}

// The protected header of a detached JWS, read strictly, with the times in it.
// @see RFC 7515 section 4, RFC 7797 section 3, ETSI TS 119 182-1 clauses 5.1 and 5.2.8.2

interface HeaderMembers {
  readonly alg: string;
  readonly x5c: readonly string[];
  readonly 'x5t#S256'?: string;
  readonly crit?: readonly string[];
  readonly b64?: boolean;
  readonly sigD?: object;
  readonly sigT?: string;
  readonly iat?: number;
  readonly exp?: number;
}

/** Up to the last second that a Date can hold. */
const NUMERIC_DATE = { type: 'number', minimum: 0, maximum: 8.64e12 };

const isHeader = new Ajv2020({ ownProperties: true, allErrors: false }).compile<HeaderMembers>({
  type: 'object',
  required: ['alg', 'x5c'],
  properties: {
    alg: { type: 'string' },
    kid: { type: 'string', minLength: 1 },
    // Media types that mean a compact JWS; any case, the prefix `application/` may be left out (RFC 7515 section 4.1.9).
    typ: { type: 'string', pattern: '^([aA][pP][pP][lL][iI][cC][aA][tT][iI][oO][nN]/)?[jJ][oO][sS][eE]$' },
    x5c: {
      type: 'array',
      items: { type: 'string', pattern: '^[A-Za-z0-9+/]+={0,2}$' },
      minItems: 1,
      maxItems: 5,
      uniqueItems: true,
    },
    'x5t#S256': { type: 'string' },
    crit: { type: 'array', items: { enum: ['sigD', 'b64', 'sigT'] }, minItems: 1, uniqueItems: true },
    b64: { type: 'boolean' },
    sigD: {
      type: 'object',
      required: ['mId', 'pars'],
      properties: { mId: { const: HTTP_HEADERS }, pars: { const: ['digest'] } },
      additionalProperties: false,
    },
    sigT: { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?Z$' },
    iat: NUMERIC_DATE,
    exp: NUMERIC_DATE,
  },
});

/** @param encoded the first part of the compact serialisation @throws JadesError signature-malformed, signature-algorithm */
export function parseProtectedHeader(
  encoded: string,
  readCertificates: ReadCertificates = (ders) => ders.map(parseCertificate),
): ProtectedHeader {
  const members = decode(encoded);
  if (!isHeader(members)) {
    const at = isHeader.errors?.[0]?.instancePath || 'de header';
    throw malformed(`${at} heeft niet de voorgeschreven vorm`);
  }
  const algorithm = ALGORITHMS.get(members.alg);
  if (algorithm === undefined) {
    throw new JadesError('signature-algorithm', `Alleen het algoritme ${algorithmNames()} is toegestaan.`);
  }
  const { crit = [], b64 = true, sigD, sigT } = members;
  if (crit.some((name) => !Object.hasOwn(members, name))) throw malformed('crit noemt een lid dat ontbreekt');
  if (!b64 && !crit.includes('b64')) throw malformed('b64 is onwaar zonder in crit te staan');
  const moments = [members.iat === undefined ? undefined : members.iat * 1000, sigT && Date.parse(sigT)];
  const signedAt = moments.filter((moment) => typeof moment === 'number');
  if (signedAt.some(Number.isNaN)) throw malformed('sigT is geen tijdstip in UTC');
  const x5c = decodeCertificates(members.x5c, readCertificates);
  const { 'x5t#S256': thumbprint = x5c[0]?.thumbprint } = members;
  if (thumbprint !== x5c[0]?.thumbprint) throw malformed('x5t#S256 hoort niet bij het eerste certificaat');
  return {
    encoded,
    x5c,
    alg: members.alg,
    algorithm,
    style: { form: sigD === undefined ? 'body' : 'digest', b64 },
    signedAt,
    expiresAt: members.exp === undefined ? undefined : members.exp * 1000,
  };
}

function decode(encoded: string): JsonObject {
  const bytes = decodeBase64url(encoded, 'de header');
  try {
    return parseStrictObject(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (cause) {
    throw malformed('de header is geen JSON-object in UTF-8 waarin elk lid eenmaal voorkomt', cause);
  }
}

function decodeCertificates(texts: readonly string[], readCertificates: ReadCertificates): readonly Certificate[] {
  const ders = texts.map((text) => Buffer.from(text, 'base64'));
  // Only the canonical spelling: two texts never mean the same certificate.
  if (ders.some((der, index) => der.toString('base64') !== texts[index])) throw malformed('x5c is geen base64');
  try {
    return readCertificates(ders);
  } catch (cause) {
    throw malformed('x5c bevat iets anders dan certificaten in DER', cause);
  }
}

/** The clock of a signer may be this much ahead of ours. */
const LEEWAY_MS = 5 * 60_000;

/** A signature without a time has no age. @see ETSI TS 119 182-1 clauses 5.1.11 (iat) and 5.2.1 (sigT), RFC 7519 section 4.1.4 (exp) */
function checkAge({ signedAt, expiresAt }: ProtectedHeader, now: Date, maxAgeMs: number): void {
  const time = now.getTime();
  if (signedAt.some((moment) => moment > time + LEEWAY_MS)) {
    throw new JadesError('signature-not-yet-valid', 'De handtekening heeft een tijdstip in de toekomst.');
  }
  if (signedAt.some((moment) => moment < time - maxAgeMs)) {
    throw new JadesError('signature-expired', 'De handtekening is te lang geleden gezet.');
  }
  if (expiresAt !== undefined && time >= expiresAt) {
    throw new JadesError('signature-expired', 'De handtekening is volgens haar eigen exp verlopen.');
  }
}

/** Accepts only the canonical spelling (RFC 7515 section 2), so that nothing outside the signature can vary. */
function decodeBase64url(text: string, what: string): Buffer {
  const bytes = Buffer.from(text, 'base64url');
  if (text === '' || bytes.toString('base64url') !== text) throw malformed(`${what} is geen base64url`);
  return bytes;
}
