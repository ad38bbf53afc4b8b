// Plays the Manager of the supplier in an FSC group: the key that signs access tokens, and its certificate.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Authority } from './authority/authority.ts';
import { keepCertificate, keepKey } from './authority/files.ts';
import { mintLeaf } from './authority/profiles.ts';

export interface FscManager {
  readonly groupId: string;
  readonly peerId: string;
  /** Address of the Inway, as tokens name it. */
  readonly audience: string;
  /** PEM files. */
  readonly key: string;
  readonly certificate: string;
}

/** The files are made when they are missing or the certificate is about to end. */
export async function createFscManager(dir: string, authority: Authority): Promise<FscManager> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const key = join(dir, 'manager-key.pem');
  const certificate = join(dir, 'manager.pem');
  const privateKey = await keepKey(key);
  const now = new Date();
  const { oin } = authority.supplier;
  const lasts = (kept: { validToDate: Date }): boolean => kept.validToDate.getTime() > now.getTime() + 31 * 86_400_000;
  await keepCertificate(certificate, lasts, () =>
    mintLeaf({
      key: privateKey,
      issuer: authority.issuers.intermediate,
      now,
      organization: 'Voorbeeld Leverancier FSC Manager',
      oin,
      ocspUrl: authority.ocspUrl,
      crlUrl: authority.crlUrl,
    }),
  );
  return { groupId: 'koppelvlak-demo', peerId: oin, audience: 'https://inway.voorbeeld.example:443', key, certificate };
}
