// Plays the Manager of the supplier in an FSC group: its key and certificate, and the access tokens that it signs.
// @see FSC Core 1.1, "Access Token"
import { createPrivateKey, hash, randomUUID, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { SignJWT } from 'jose';
import type { Authority } from './authority/authority.ts';

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
  const { oin: peerId } = authority.supplier;
  const name = { organization: 'Voorbeeld Leverancier FSC Manager', oin: peerId };
  const { key, certificate } = await authority.party(dir, 'manager', name);
  return { groupId: 'koppelvlak-demo', peerId, audience: 'https://inway.voorbeeld.example:443', key, certificate };
}

/** An FSC access token, signed. @param subject OIN of the caller */
export async function mintFscToken(manager: FscManager, service: string, subject: string): Promise<string> {
  const { raw } = new X509Certificate(await readFile(manager.certificate));
  return new SignJWT({ gid: manager.groupId, svc: service })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', 'x5t#S256': hash('sha256', raw, 'base64url') })
    .setIssuer(manager.peerId)
    .setAudience(manager.audience)
    .setSubject(subject)
    .setIssuedAt()
    .setNotBefore(0)
    .setExpirationTime('5m')
    .setJti(randomUUID())
    .sign(createPrivateKey(await readFile(manager.key)));
}
