// Remembers for a while what was found good, so that a sender who comes back costs little: verified paths, and the parsed
// certificates in them. Nothing of a sender who was refused is kept.
import { createHash } from 'node:crypto';
import { BoundedMap } from './bounded-map.ts';
import { type Certificate, parseCertificate, parsePemCertificates } from './certificate.ts';
import { checkValidity, validatePath } from './chain.ts';

export interface PathOptions {
  /** PEM bundle. */
  readonly anchors: string;
  readonly requiredPolicies: readonly string[];
  readonly now: () => Date;
}

export interface PathMemory {
  /** @throws Error when it is no certificate */
  read(der: Uint8Array): Certificate;
  /** The validated path, leaf first and anchor last. @throws JadesError */
  find(x5c: readonly Certificate[]): Promise<readonly Certificate[]>;
}

/** A parsed certificate takes this many times its bytes, about. */
const parsedFactor = 60;
const maxBytes = 32 * 1024 * 1024;
const pathLifeMs = 5 * 60_000;

/** @throws Error when the bundle holds no readable anchor */
export function createPathMemory({ anchors: bundle, requiredPolicies, now }: PathOptions): PathMemory {
  const anchors = parsePemCertificates(bundle);
  if (anchors.length === 0) throw new Error('the bundle of trust anchors holds no certificate');
  const certificates = new BoundedMap<Certificate>(maxBytes, (_key, certificate) => sizeOf(certificate));
  const paths = new BoundedMap<{ readonly path: readonly Certificate[]; readonly until: number }>(
    maxBytes,
    (_key, { path }) => path.reduce((sum, certificate) => sum + sizeOf(certificate), 0),
  );

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
        checkValidity(known.path, at); // time has passed since
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
