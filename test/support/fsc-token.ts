/**
 * A Manager's FSC access tokens, including invalid ones.
 * @see FSC Core 1.1, "Access Token"
 */
import { createPrivateKey, hash, type KeyObject, randomUUID, X509Certificate } from 'node:crypto';
import { SignJWT } from 'jose';

export type FscTokenOptions = {
  /** PEM: the key and the certificate of the signing peer. */
  key: string;
  certificate: string;
  groupId: string;
  /** Our own peer id: `iss`. */
  peerId: string;
  /** The Inway's address: `aud`. */
  audience: string;
  service: string;
  /** OIN of the caller: `sub`. */
  subject: string;
  /** OIN of a delegate: `act.sub`. */
  actor?: string | undefined;
  /** Further claims, such as `gth`, `pdi`, `prp` and `add` of FSC Core 2.0. */
  claims?: Readonly<Record<string, unknown>> | undefined;
  /** The client certificate to bind the token to: PEM, or its thumbprint in base64url. */
  boundTo?: string | undefined;
  /** Default: now. */
  issuedAt?: Date | undefined;
  /** Default 300. */
  lifetimeSeconds?: number | undefined;
  /** Default: the first that fits the key (`RS256`, `ES256`, `ES384`, `ES512`). */
  algorithm?: string | undefined;
};

/** An FSC access token, signed. */
export async function mintFscToken(options: FscTokenOptions): Promise<string> {
  const key = createPrivateKey(options.key);
  const issuedAt = Math.floor((options.issuedAt ?? new Date()).getTime() / 1000);
  const claims = {
    ...options.claims,
    gid: options.groupId,
    svc: options.service,
    ...(options.actor === undefined ? {} : { act: { sub: options.actor } }),
    ...(options.boundTo === undefined ? {} : { cnf: { 'x5t#S256': thumbprintOf(options.boundTo) } }),
  };
  return await new SignJWT(claims)
    .setProtectedHeader({
      alg: options.algorithm ?? algorithmOf(key),
      typ: 'JWT',
      'x5t#S256': thumbprintOf(options.certificate),
    })
    .setIssuer(options.peerId)
    .setAudience(options.audience)
    .setSubject(options.subject)
    .setIssuedAt(issuedAt)
    .setNotBefore(issuedAt)
    .setExpirationTime(issuedAt + (options.lifetimeSeconds ?? 300))
    .setJti(randomUUID())
    .sign(key);
}

function thumbprintOf(certificate: string): string {
  if (!certificate.includes('-----BEGIN')) return certificate;
  return hash('sha256', new X509Certificate(certificate).raw, 'base64url');
}

function algorithmOf(key: KeyObject): string {
  switch (key.asymmetricKeyDetails?.namedCurve) {
    case 'prime256v1':
      return 'ES256';
    case 'secp384r1':
      return 'ES384';
    case 'secp521r1':
      return 'ES512';
    default:
      return 'RS256';
  }
}
