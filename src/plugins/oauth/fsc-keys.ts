/** The token signing certificates of our own FSC Manager: from a file, read again when it changes, or from its published key set. */
import { createPublicKey, hash, type KeyObject, X509Certificate } from 'node:crypto';
import { isRecord } from '../../lib/json/json-value.ts';
import type { ReadinessCheck } from '../../lib/operations.ts';
import { readTextFileSync } from '../../lib/text-file.ts';
import type { Clock } from '../../lib/time.ts';
import { watchFiles } from '../../lib/watch-files.ts';
import { fetchKeys, findKey, type Keys, publishedKeys, type SourceOptions, type VerifierLog } from './remote-keys.ts';

/** A key that may sign FSC access tokens. Times are epoch milliseconds; a bare key has no end. */
interface FscKey {
  readonly key: KeyObject;
  readonly algorithms: readonly string[];
  readonly validFrom: number;
  readonly validTo: number;
}

/** By thumbprint: SHA-256 of the certificate, base64url (`x5t#S256`). */
type FscKeyMap = ReadonlyMap<string, FscKey>;

interface FscKeysOptions extends SourceOptions {
  readonly source: string;
}

export type FscKeys = ReturnType<typeof createFscKeys>;

/** @throws {Error} when a file holds no usable certificate; failures to fetch from an address are logged and retried */
export function createFscKeys({ source: place, ...options }: FscKeysOptions) {
  const { client, log } = options;
  let refused: string | undefined;
  const source = /^https?:\/\//i.test(place)
    ? publishedKeys({
        ...options,
        of: 'the FSC Manager',
        load: (signal) => fetchKeys(client, new URL(place), signal),
        read: readFscKeySet,
      })
    : keysInFile(place, log, (reason) => {
        refused = reason;
      });
  return {
    ...source,
    /** @throws {TokenError} for an unknown thumbprint, or when no key was ever fetched */
    find: (thumbprint: string) => findKey(source, (keys) => keys.get(thumbprint)),
    /** Expiry of the certificate that is valid longest; undefined without certificates. */
    validUntil: (): Date | undefined => {
      const ends = [...(source.latest()?.values() ?? [])].map(({ validTo }) => validTo).filter(Number.isFinite);
      return ends.length === 0 ? undefined : new Date(Math.max(...ends));
    },
    refused: () => refused,
  };
}

function keysInFile(path: string, log: VerifierLog, refused: (reason: string | undefined) => void): Keys<FscKeyMap> {
  let keys = readFscCertificates(readTextFileSync(path));
  const read = (): void => {
    try {
      keys = readFscCertificates(readTextFileSync(path));
      refused(undefined);
    } catch (err) {
      refused(err instanceof Error ? err.message : String(err));
      log.warn({ err }, 'the new FSC token certificates cannot be used; the old ones stay');
    }
  };
  const watcher = watchFiles([path], read, log);
  return {
    latest: () => keys,
    freshen: async () => {},
    refreshForUnknown: async () => {},
    fetchedAt: () => undefined,
    close: () => watcher.close(),
  };
}

const WARNING_DAYS = 30;

export function fscKeysCheck(keys: FscKeys, clock: Clock): ReadinessCheck {
  return {
    name: 'fsc-token-certificates',
    runbook: 'koppelvlaktokencertificateexpires',
    check: async () => {
      const refused = keys.refused();
      if (refused !== undefined) return { ok: true, warning: `changed certificates were refused: ${refused}` };
      if (keys.latest() === undefined) return { ok: false, detail: 'the keys of the FSC Manager were never fetched' };
      const end = keys.validUntil();
      if (end === undefined) return { ok: true, detail: 'keys without certificates' };
      const days = Math.floor((end.getTime() - clock.now().getTime()) / 86_400_000);
      if (days < 0) return { ok: false, detail: `the last FSC token certificate expired on ${end.toISOString()}` };
      const detail = `the last FSC token certificate expires in ${days} days, on ${end.toISOString()}`;
      return days <= WARNING_DAYS ? { ok: true, warning: detail } : { ok: true, detail };
    },
  };
}

const PEM_BLOCK = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** By thumbprint. @throws {Error} without a certificate, with an unreadable one, or with a key that no allowed algorithm can use */
function readFscCertificates(pem: string): FscKeyMap {
  const blocks = pem.match(PEM_BLOCK) ?? [];
  if (blocks.length === 0) throw new Error('the FSC token certificates hold no PEM certificate');
  return new Map(blocks.map((text, index) => readCertificate(text, `FSC token certificate ${index + 1}`)));
}

/** The keys of a JSON Web Key Set that a thumbprint can name: a Manager may publish others too. */
export function readFscKeySet(document: unknown): FscKeyMap {
  if (!isRecord(document) || !Array.isArray(document.keys)) throw new Error('the answer is not a JSON Web Key Set');
  const keys = new Map<string, FscKey>();
  for (const jwk of document.keys) {
    try {
      keys.set(...readJwk(jwk));
    } catch {
      // An unusable key does not invalidate the others.
    }
  }
  if (keys.size === 0) throw new Error('the key set holds no key with a certificate or its thumbprint');
  return keys;
}

function readJwk(jwk: unknown): [string, FscKey] {
  if (!isRecord(jwk)) throw new Error('no key');
  const { x5c, 'x5t#S256': thumbprint } = jwk;
  const leaf: unknown = Array.isArray(x5c) ? x5c[0] : undefined;
  if (typeof leaf === 'string') {
    const [found, key] = readCertificate(Buffer.from(leaf, 'base64'), 'certificate');
    if (thumbprint !== undefined && thumbprint !== found) throw new Error('x5t#S256 is of another certificate');
    return [found, key];
  }
  if (typeof thumbprint !== 'string' || thumbprint === '') throw new Error('no thumbprint');
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  const algorithms = algorithmsOf(key);
  if (algorithms.length === 0) throw new Error('no algorithm');
  return [thumbprint, { key, algorithms, validFrom: 0, validTo: Number.POSITIVE_INFINITY }];
}

function readCertificate(encoded: string | Buffer, name: string): [string, FscKey] {
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(encoded);
  } catch (cause) {
    throw new Error(`${name} cannot be read`, { cause });
  }
  const key = certificate.publicKey;
  const algorithms = algorithmsOf(key);
  if (algorithms.length === 0) {
    throw new Error(`${name} has neither an RSA key of 2048 bits or more nor an EC key of P-256, P-384 or P-521`);
  }
  const [validFrom, validTo] = [certificate.validFromDate.getTime(), certificate.validToDate.getTime()];
  return [hash('sha256', certificate.raw, 'base64url'), { key, algorithms, validFrom, validTo }];
}

const CURVE_ALGORITHMS: Readonly<Record<string, string>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

/** The key determines the algorithm, so that a token cannot choose another one. */
function algorithmsOf({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): readonly string[] {
  if (type === 'rsa') return (details?.modulusLength ?? 0) >= 2048 ? ['RS256', 'RS384', 'RS512'] : [];
  const algorithm = type === 'ec' ? CURVE_ALGORITHMS[details?.namedCurve ?? ''] : undefined;
  return algorithm === undefined ? [] : [algorithm];
}
