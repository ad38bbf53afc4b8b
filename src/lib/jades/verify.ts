// Verifies a signed message: digest, signature, certificate path and revocation, cheapest first.
import { type Certificate, signerOin } from './certificate.ts';
import { createPathCache } from './chain.ts';
import { malformed } from './errors.ts';
import { checkAge, decodeBase64url, parseProtectedHeader, type SignatureStyle } from './protected-header.ts';
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
