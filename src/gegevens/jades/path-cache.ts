import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Certificate, parseCertificate, parsePemCertificates } from './certificate.ts';
import { checkValidity, validatePath } from './chain.ts';

// Caches validated paths and the parsed certificates in them for a while. Nothing of a sender who was refused is cached.

export interface PathCacheOptions {
  /** PEM bundle. */
  readonly anchors: string;
  readonly requiredPolicies: readonly string[];
  readonly now: () => Date;
}

export interface PathCache {
  /** @throws Error when it is no certificate */
  read(der: Uint8Array): Certificate;
  /** The validated path, leaf first and anchor last. @throws JadesError */
  find(x5c: readonly Certificate[]): Promise<readonly Certificate[]>;
}

interface ValidatedPath {
  readonly path: readonly Certificate[];
  readonly until: number;
}

/** A parsed certificate takes about this many times its bytes. */
const parsedFactor = 60;
const maxBytes = 32 * 1024 * 1024;
const pathLifeMs = 5 * 60_000;

/** @throws Error when the bundle holds no readable anchor */
export function createPathCache({ anchors: bundle, requiredPolicies, now }: PathCacheOptions): PathCache {
  const anchors = parsePemCertificates(bundle);
  if (anchors.length === 0) throw new Error('the bundle of trust anchors holds no certificate');
  const certificates = new LRUCache<string, Certificate>({
    maxSize: maxBytes,
    sizeCalculation: (certificate, key) => 2 * key.length + sizeOf(certificate),
  });
  const paths = new LRUCache<string, ValidatedPath>({
    maxSize: maxBytes,
    sizeCalculation: ({ path }, key) =>
      path.reduce((sum, certificate) => sum + sizeOf(certificate), 2 * key.length + 100),
  });

  return {
    read(der) {
      const thumbprint = createHash('sha256').update(der).digest('base64url');
      return certificates.get(thumbprint) ?? parseCertificate(der);
    },
    async find(x5c) {
      const at = now();
      const key = x5c.map(({ thumbprint }) => thumbprint).join();
      const known = paths.get(key);
      if (known !== undefined && at.getTime() < known.until) {
        checkValidity(known.path, at); // it may have expired since
        return known.path;
      }
      const path = await validatePath(x5c, { anchors, requiredPolicies, at });
      paths.set(key, { path, until: at.getTime() + pathLifeMs });
      for (const certificate of path) certificates.set(certificate.thumbprint, certificate);
      return path;
    },
  };
}

function sizeOf({ der }: Certificate): number {
  return parsedFactor * der.length;
}
