/** Checks the own signing certificate as a requester, or the service itself, would. */
import { hash, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  type Certificate,
  crlAddresses,
  JadesError,
  ocspAddresses,
  parsePemCertificates,
} from '../../../lib/jades/certificate.ts';
import { validatePath } from '../../../lib/jades/chain.ts';
import { type OwnKey, OwnKeyError } from '../../../lib/jades/own-key.ts';
import { checkRevocation as checkPath, createRevocationSource } from '../../../lib/jades/revocation.ts';
import { reasonOf } from '../../../lib/log.ts';
import { createGuardedFetch } from '../../../lib/outbound/guarded-fetch.ts';
import { readTextFileSync } from '../../../lib/text-file.ts';
import type { Config } from '../../../settings/read-config.ts';
import { loadOwnKey } from '../../own-signer.ts';
import { daysLeft, failed, notChecked, ok, type PreflightContext, reasonsOf, type Verdict } from './line.ts';

const LINES = ['key', 'oin', 'chain', 'key-size', 'usage', 'days'] as const;
type Line = (typeof LINES)[number];

const PRODUCTION_BITS = 3072;
const BITS_TODO = `make an RSA key of ${PRODUCTION_BITS} bits or more and request a certificate for it`;
const DAYS_TODO = 'request a new certificate, and replace the files: the service loads them without a restart';
const OIN_TODO = 'ask for a PKIoverheid services certificate with your OIN in the subject';
const FILES_TODO = 'name readable files in GEGEVENS_SIGNING_KEY and GEGEVENS_SIGNING_CHAIN';

/** Reasons that make the own key unusable, by the line that fails, with the remedy. */
const KEY_FAULTS: Readonly<Record<OwnKeyError['code'], readonly [Line, string]>> = {
  'unreadable-key': ['key', 'name a private key in PEM in GEGEVENS_SIGNING_KEY'],
  'unreadable-chain': ['key', 'name your certificate and its intermediates in PEM in GEGEVENS_SIGNING_CHAIN'],
  'unreadable-p12': [
    'key',
    'name a PKCS#12 file with one key and its certificates in GEGEVENS_SIGNING_KEY, or a chain in GEGEVENS_SIGNING_CHAIN',
  ],
  'wrong-passphrase': [
    'key',
    'set GEGEVENS_SIGNING_P12_PASSPHRASE (or …_FILE) to the passphrase of the file; a PEM key must not be encrypted',
  ],
  'mismatched-pair': [
    'key',
    'put the certificate that was issued for this key into the chain, or name the key that it was requested with',
  ],
  'broken-chain': ['chain', 'leave only your certificate and its issuers in the chain'],
  'weak-key': ['key-size', BITS_TODO],
  'wrong-usage': ['usage', 'ask for a certificate with key usage `digitalSignature` that is not of an authority'],
  'not-yet-valid': ['days', 'wait, or check the clock of this machine'],
  expired: ['days', DAYS_TODO],
};

/** Reads the own key and certificate, without the network. For an unusable one, only the failing line is known. */
export function checkOwnCertificate(
  { gegevens, server }: Config,
  now: Date,
): Pick<PreflightContext, 'own' | 'path'> & { readonly verdicts: Readonly<Record<string, Verdict>> } {
  const named = (verdictOf: (line: Line) => Verdict): Readonly<Record<string, Verdict>> =>
    Object.fromEntries(LINES.map((line) => [line === 'key' ? 'signing-key' : `certificate-${line}`, verdictOf(line)]));
  let own: OwnKey;
  try {
    own = loadOwnKey(gegevens, now);
  } catch (error) {
    const [failing, todo] = error instanceof OwnKeyError ? KEY_FAULTS[error.code] : (['key', FILES_TODO] as const);
    const unknown = notChecked('the signing key and its certificate cannot be used');
    const verdicts = named((line) => (line === failing ? failed(reasonOf(error), todo) : unknown));
    return { own: undefined, path: undefined, verdicts };
  }
  const { path, verdict: chain } = checkChain(own, gegevens, now);
  const bits = own.chain[0]?.x509.publicKey.asymmetricKeyDetails?.modulusLength ?? 0;
  const isShort = bits < PRODUCTION_BITS;
  const noOin = 'the subject of the certificate has no OIN of 20 digits in `serialNumber`';
  const verdicts: Record<Line, Verdict> = {
    key: ok('the key belongs to its certificate'),
    oin: own.oin === undefined ? failed(noOin, OIN_TODO) : ok(own.oin),
    chain,
    'key-size':
      isShort && server.environment === 'production'
        ? failed(`${bits} bits; at least ${PRODUCTION_BITS} are needed`, BITS_TODO)
        : ok(`${bits} bits${isShort ? `: enough for tests; production needs ${PRODUCTION_BITS}` : ''}`),
    usage: ok('meant for signing'),
    days: daysLeft(own.notAfter, now, DAYS_TODO),
  };
  return { own, path, verdicts: named((line) => verdicts[line]) };
}

function checkChain(
  { chain }: OwnKey,
  { trustAnchors, requiredPolicies }: Config['gegevens'],
  at: Date,
): { readonly verdict: Verdict; readonly path?: readonly Certificate[] } {
  try {
    if (trustAnchors === undefined) throw new Error('GEGEVENS_TRUST_ANCHORS is missing');
    const anchors = parsePemCertificates(readTextFileSync(trustAnchors));
    if (anchors.length === 0) throw new Error('GEGEVENS_TRUST_ANCHORS holds no certificate');
    const path = validatePath(chain, { anchors, requiredPolicies, at });
    return { path, verdict: ok(`${path.length} certificates, up to ${oneLine(path.at(-1)?.x509.subject ?? '')}`) };
  } catch (error) {
    const end = oneLine(chain.at(-1)?.x509.issuer ?? '');
    const todo =
      'add the missing intermediate to GEGEVENS_SIGNING_CHAIN, or its root (PKIoverheid in production) to GEGEVENS_TRUST_ANCHORS';
    return { verdict: failed(`${reasonOf(error)}; the chain ends at a certificate of ${end}`, todo) };
  }
}

/** Whether a requester can learn that no certificate of the path is revoked. */
export async function checkRevocation({ config, path, now, timeoutMs }: PreflightContext): Promise<Verdict> {
  const { gegevens, server } = config;
  if (path === undefined) return notChecked('only addresses in a certificate with a valid chain are called');
  const network = createGuardedFetch({ allowPrivate: gegevens.revocationAllowPrivate, proxy: server });
  const ended = new AbortController();
  const statusOf = createRevocationSource({
    now,
    fetch: network.fetch,
    signal: ended.signal,
    refreshFailed: () => undefined,
    ocspTimeoutMs: timeoutMs,
    ocspLateMs: timeoutMs,
    crlTimeoutMs: timeoutMs,
    crlBytes: gegevens.crlMaxMb * 1024 * 1024,
  });
  try {
    await checkPath(path, statusOf, { mode: 'hard', deadlineMs: timeoutMs });
    return ok('not revoked; its addresses answer');
  } catch (error) {
    if (!(error instanceof JadesError)) throw error;
    if (error.code === 'certificate-revoked') {
      const todo = 'request a new certificate with a new key: every requester refuses this one';
      return failed('a certificate of the path is revoked', todo);
    }
    const addresses = path.slice(0, -1).flatMap((each) => [...ocspAddresses(each), ...crlAddresses(each)]);
    return failed(
      `no revocation answer for each certificate of the path: ${addresses.join(', ') || 'no address'} (${reasonsOf(error.cause)})`,
      'let this machine call these addresses, directly or through OUTBOUND_PROXY: the certificates of requesters are checked there too',
    );
  } finally {
    ended.abort();
    await network.close();
  }
}

/** Whether the connection uses another certificate than the signature. @param file PEM */
export function checkTransport(
  file: string | undefined,
  own: OwnKey | undefined,
): { readonly verdict: Verdict; readonly certificate?: X509Certificate } {
  if (file === undefined) {
    const todo = 'name the certificate of your Inway: --transport-certificate FILE';
    return { verdict: notChecked('the certificate of the connection is not known', todo) };
  }
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(readFileSync(file));
  } catch (error) {
    const detail = `${file} holds no certificate: ${reasonOf(error)}`;
    return { verdict: failed(detail, 'name a PEM file of a certificate') };
  }
  const leaf = own?.chain[0]?.x509;
  if (leaf === undefined) return { certificate, verdict: notChecked('no signing certificate to compare with') };
  const isSame = certificate.raw.equals(leaf.raw);
  if (!isSame && keyHash(certificate) !== keyHash(leaf))
    return { certificate, verdict: ok('its certificate and key differ from those of the signatures') };
  const detail = isSame
    ? 'the connection uses the signing certificate itself'
    : 'the connection and the signatures use the same key';
  const todo =
    'request a separate certificate, with its own key, for the signatures: the interface requires two, so that access to the Inway is not enough to sign';
  return { certificate, verdict: failed(detail, todo) };
}

function keyHash({ publicKey }: X509Certificate): string {
  return hash('sha256', publicKey.export({ type: 'spki', format: 'der' }), 'base64url');
}

export function oneLine(name: string): string {
  return name.replaceAll('\n', ', ');
}
