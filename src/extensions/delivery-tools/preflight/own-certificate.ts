/** The own signing certificate: what a requester, or the service itself, would refuse it for. */
import { readFileSync } from 'node:fs';
import { loadOwnKey } from '../../../gegevens/own-signer.ts';
import {
  authority,
  type Certificate,
  crlAddresses,
  keyUsage,
  ocspAddresses,
  parsePemCertificates,
  signerOin,
  usage,
} from '../../../lib/jades/certificate.ts';
import { isRsa, validatePath } from '../../../lib/jades/chain.ts';
import { JadesError } from '../../../lib/jades/errors.ts';
import { type KeyFiles, OwnKeyError, readPemFiles, readPkcs12 } from '../../../lib/jades/own-key.ts';
import { createRevocationSource } from '../../../lib/jades/revocation.ts';
import { reasonOf } from '../../../lib/log.ts';
import { createGuardedFetch } from '../../../lib/outbound/guarded-fetch.ts';
import type { Config } from '../../../settings/read-config.ts';
import { daysLeft, failed, notChecked, ok, type PreflightContext, type Verdict } from './line.ts';

/** The signing certificate with what is known of its path. */
export interface OwnCertificate {
  readonly leaf: Certificate;
  /** Leaf first, each issued by the next, as far as the chain goes. */
  readonly chain: readonly Certificate[];
  readonly oin: string | undefined;
  /** Empty when they cannot be read. */
  readonly anchors: readonly Certificate[];
  /** To the anchor; only when all of it holds. */
  readonly path?: readonly Certificate[];
  /** Why there is no path. */
  readonly fault?: JadesError;
  /** Why the anchors cannot be read. */
  readonly anchorsFault?: string;
}

type Settings = Config['gegevens'];

const KEY_FILES = 'GEGEVENS_SIGNING_KEY and GEGEVENS_SIGNING_CHAIN';
const PRODUCTION_BITS = 3072;
const LEAST_BITS = 2048;

/** What to do about a key or chain that cannot be used; the other causes have lines of their own. */
const KEY_TODO: Partial<Record<OwnKeyError['code'], string>> = {
  'unreadable-key': 'name a private key in PEM in GEGEVENS_SIGNING_KEY',
  'unreadable-chain': 'name your certificate and its intermediates in PEM in GEGEVENS_SIGNING_CHAIN',
  'unreadable-p12':
    'name a PKCS#12 file with one key and its certificates in GEGEVENS_SIGNING_KEY, or a chain in GEGEVENS_SIGNING_CHAIN',
  'wrong-passphrase':
    'set GEGEVENS_SIGNING_P12_PASSPHRASE (or …_FILE) to the passphrase of the file; a PEM key must not be encrypted',
  'mismatched-pair':
    'put the certificate that was issued for this key into the chain, or name the key that it was requested with',
  'broken-chain': 'leave only your certificate and its issuers in the chain',
};

/** Reads the own key and certificate, without the network. @returns why that is impossible, where it is */
export async function readOwnCertificate({ gegevens }: Config, at: Date): Promise<OwnCertificate | Verdict> {
  try {
    return await findPath(readFiles(gegevens), gegevens, at);
  } catch (error) {
    const todo = error instanceof OwnKeyError ? KEY_TODO[error.code] : undefined;
    return failed(reasonOf(error), todo ?? `name readable files in ${KEY_FILES}`);
  }
}

function readFiles({ signingKey, signingChain, signingP12Passphrase: passphrase = '' }: Settings): KeyFiles {
  if (signingKey === undefined) throw new Error('GEGEVENS_SIGNING_KEY is missing');
  if (signingChain === undefined) return readPkcs12({ p12: readFileSync(signingKey), passphrase });
  return readPemFiles({ key: readFileSync(signingKey, 'utf8'), chain: readFileSync(signingChain, 'utf8') });
}

async function findPath({ key, certificates }: KeyFiles, settings: Settings, at: Date): Promise<OwnCertificate> {
  const leaf = certificates.find(({ x509 }) => x509.checkPrivateKey(key)) ?? certificates[0];
  if (leaf === undefined) throw new TypeError('a chain without certificates was read');
  const chain = issuersOf(leaf, certificates);
  const found = { leaf, chain, oin: signerOin(leaf) };
  let anchors: Certificate[];
  try {
    anchors = readAnchors(settings);
  } catch (error) {
    return { ...found, anchors: [], anchorsFault: reasonOf(error) };
  }
  try {
    const options = { anchors, requiredPolicies: settings.requiredPolicies, at: momentWithin(chain, at) };
    return { ...found, anchors, path: await validatePath(chain, options) };
  } catch (error) {
    // A certificate that a library cannot read cannot be trusted either.
    const fault = error instanceof JadesError ? error : new JadesError('certificate-untrusted', reasonOf(error));
    return { ...found, anchors, fault };
  }
}

function readAnchors({ trustAnchors }: Settings): Certificate[] {
  if (trustAnchors === undefined) throw new Error('GEGEVENS_TRUST_ANCHORS is missing');
  const anchors = parsePemCertificates(readFileSync(trustAnchors, 'utf8'));
  if (anchors.length === 0) throw new Error('GEGEVENS_TRUST_ANCHORS holds no certificate');
  return anchors;
}

function issuersOf(leaf: Certificate, certificates: readonly Certificate[]): Certificate[] {
  const chain = [leaf];
  for (let last: Certificate | undefined = leaf; last !== undefined; ) {
    const current: Certificate = last;
    last = certificates.find(
      (other) =>
        !chain.includes(other) && current.x509.checkIssued(other.x509) && current.x509.verify(other.x509.publicKey),
    );
    if (last !== undefined) chain.push(last);
  }
  return chain;
}

/** A moment at which all are valid, so that an expired certificate does not hide what else is wrong; that has a line of its own. */
function momentWithin(chain: readonly Certificate[], at: Date): Date {
  const [from, to] = bounds(chain);
  return at < from || at > to ? new Date((from.getTime() + to.getTime()) / 2) : at;
}

function bounds(chain: readonly Certificate[]): [Date, Date] {
  return [
    new Date(Math.max(...chain.map(({ notBefore }) => notBefore.getTime()))),
    new Date(Math.min(...chain.map(({ notAfter }) => notAfter.getTime()))),
  ];
}

export function checkSigningKey({ config, now }: PreflightContext): Verdict {
  try {
    loadOwnKey(config.gegevens, now());
  } catch (error) {
    const todo = error instanceof OwnKeyError ? KEY_TODO[error.code] : `name readable files in ${KEY_FILES}`;
    if (todo !== undefined) return failed(reasonOf(error), todo);
  }
  return ok('the key belongs to its certificate');
}

/** What is judged of a certificate that can be read, each under the name of its line. */
export const CERTIFICATE_CHECKS: Readonly<Record<string, (own: OwnCertificate, context: PreflightContext) => Verdict>> =
  {
    'certificate-oin': ({ oin }) =>
      oin === undefined
        ? failed(
            'the subject of the certificate has no OIN of 20 digits in `serialNumber`',
            'ask for a PKIoverheid services certificate with your OIN in the subject',
          )
        : ok(oin),

    'certificate-chain': ({ path, chain, fault, anchors, anchorsFault }) => {
      const last = (path ?? chain).at(-1);
      if (path !== undefined || fault?.code === 'certificate-usage') {
        return ok(`${(path ?? chain).length} certificates, up to ${oneLine(last?.x509.subject ?? '')}`);
      }
      if (anchorsFault !== undefined) {
        return failed(
          anchorsFault,
          'name the roots that you trust (PKIoverheid in production) in GEGEVENS_TRUST_ANCHORS',
        );
      }
      if (last !== undefined && !anchors.some(({ x509 }) => last.x509.checkIssued(x509))) {
        return failed(
          `the chain ends at a certificate of ${oneLine(last.x509.issuer)}, which is neither in it nor among the anchors`,
          'add the missing intermediate to GEGEVENS_SIGNING_CHAIN, or its root to GEGEVENS_TRUST_ANCHORS',
        );
      }
      return failed(fault?.message ?? 'no path', 'ask the supplier of the certificate for the right chain');
    },

    'certificate-key-size': ({ leaf }, { config }) => {
      const key = leaf.x509.publicKey;
      const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
      const least = config.server.environment === 'production' ? PRODUCTION_BITS : LEAST_BITS;
      const todo = `make an RSA key of ${PRODUCTION_BITS} bits or more and request a certificate for it`;
      if (!isRsa(key)) return failed(`not an RSA key but ${key.asymmetricKeyType}: PS256 needs one`, todo);
      if (bits < least) return failed(`${bits} bits; at least ${least} are needed`, todo);
      return ok(
        `${bits} bits${bits < PRODUCTION_BITS ? `: enough for tests; production needs ${PRODUCTION_BITS}` : ''}`,
      );
    },

    'certificate-usage': ({ leaf, fault }) => {
      const todo = 'ask for a certificate with key usage `digitalSignature` that is not of an authority';
      const bits = (keyUsage(leaf) ?? 0) & (usage.digitalSignature | usage.nonRepudiation);
      if (bits === 0) return failed('its key usage allows neither `digitalSignature` nor `nonRepudiation`', todo);
      if (authority(leaf).ca) return failed('it is the certificate of an authority', todo);
      if (fault?.code === 'certificate-usage') return failed(fault.detail, todo);
      return ok(bits & usage.digitalSignature ? 'digitalSignature' : 'nonRepudiation');
    },

    'certificate-days': ({ chain }, { now }) => {
      const [from, to] = bounds(chain);
      const at = now();
      if (at < from) return failed(`valid only from ${from.toISOString()}`, 'wait, or check the clock of this machine');
      return daysLeft(
        to,
        at,
        'request a new certificate, and replace the files: the service takes them up without a restart',
      );
    },
  };

/** Whether a requester can learn that no certificate of the path is revoked. */
export async function checkRevocation({ config, own, now, timeoutMs }: PreflightContext): Promise<Verdict> {
  const { gegevens, server } = config;
  const path = own?.path;
  if (path === undefined) return notChecked('only the addresses in a certificate whose chain holds are called');
  const network = createGuardedFetch({ allowPrivate: gegevens.revocationAllowPrivate, proxy: server });
  const ended = new AbortController();
  const ask = createRevocationSource({
    ...{ now, fetch: network.fetch, signal: ended.signal, refreshFailed: () => undefined },
    ...{ ocspTimeoutMs: timeoutMs, ocspLateMs: timeoutMs, crlTimeoutMs: timeoutMs },
    crlBytes: gegevens.crlMaxMb * 1024 * 1024,
  });
  try {
    const faults: string[] = [];
    for (const [index, certificate] of path.slice(0, -1).entries()) {
      const issuer = path[index + 1];
      if (issuer === undefined) continue;
      const subject = oneLine(certificate.x509.subject);
      try {
        const { revoked } = await ask({ certificate, issuer }, () => undefined);
        if (revoked) {
          const todo = 'request a new certificate with a new key: every requester refuses this one';
          return failed(`the certificate of ${subject} is revoked`, todo);
        }
      } catch (error) {
        const reasons = error instanceof AggregateError ? error.errors.map((one) => reasonOf(one)) : [reasonOf(error)];
        const addresses = [...ocspAddresses(certificate), ...crlAddresses(certificate)];
        faults.push(`${subject}: ${addresses.join(', ') || 'no address'} (${[...new Set(reasons)].join('; ')})`);
      }
    }
    if (faults.length === 0) return ok('not revoked; its addresses answer');
    return failed(
      `no revocation answer for ${faults.join(' | ')}`,
      'let this machine call these addresses, directly or through OUTBOUND_PROXY: the certificates of requesters are checked there too',
    );
  } finally {
    ended.abort();
    await network.close();
  }
}

export function oneLine(name: string): string {
  return name.replaceAll('\n', ', ');
}
