import { readFileSync } from 'node:fs';
import type { Config } from '../kernel/config/read-config.ts';
import { loadPemKey, loadPkcs12Key, type OwnKey } from './jades/own-key.ts';
import { createSigner, type Signer } from './jades/sign.ts';

/**
 * Reads the own key from the files that are configured: PEM, or PKCS#12.
 * @throws {OwnKeyError} when it cannot be used at that moment; what the file system says
 */
export function loadOwnKey(settings: Config['gegevens'], at: Date): OwnKey {
  const { signingKey, signingChain, signingP12, signingP12Passphrase: passphrase } = settings;
  if (signingP12 !== undefined) {
    return loadPkcs12Key({ p12: readFileSync(signingP12), passphrase: passphrase ?? '' }, at);
  }
  if (signingKey === undefined || signingChain === undefined) {
    throw new Error('GEGEVENS_SIGNING_KEY and GEGEVENS_SIGNING_CHAIN, or GEGEVENS_SIGNING_P12, are missing');
  }
  return loadPemKey({ key: readFileSync(signingKey, 'utf8'), chain: readFileSync(signingChain, 'utf8') }, at);
}

export interface SignerSettings {
  readonly now: () => Date;
  readonly signatureTime?: Config['gegevens']['signatureTime'];
}

export function ownKeySigner({ key, chain, kid }: OwnKey, { now, signatureTime = 'iat' }: SignerSettings): Signer {
  return createSigner({ key, chain, kid, now, time: signatureTime });
}
