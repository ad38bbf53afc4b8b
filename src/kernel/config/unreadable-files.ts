import { accessSync, constants, statSync } from 'node:fs';
import { builtInModel } from './exchange-models.ts';
import type { Config, ConfigFault } from './read-config.ts';

/** Settings that name a file which cannot be read: found before anything is opened, and all of them together. */
export function unreadableFiles({ gegevens, tokens }: Config): ConfigFault[] {
  const files = {
    GEGEVENS_TRUST_ANCHORS: gegevens.trustAnchors,
    GEGEVENS_SIGNING_KEY: gegevens.signingKey,
    GEGEVENS_SIGNING_CHAIN: gegevens.signingChain,
    GEGEVENS_SIGNING_P12: gegevens.signingP12,
    GEGEVENS_SHV_MODEL: builtInModel('shv', gegevens.shvModel) === undefined ? gegevens.shvModel : undefined,
    GEGEVENS_VS_MODEL: builtInModel('vs', gegevens.vsModel) === undefined ? gegevens.vsModel : undefined,
    FSC_TOKEN_CERTIFICATES: /^https?:\/\//i.test(tokens.fscCertificates ?? '') ? undefined : tokens.fscCertificates,
  };
  return Object.entries(files)
    .filter(([, path]) => path !== undefined && !isReadable(path))
    .map(([variable]) => ({ variable, wrong: 'names no readable file', allowed: 'path of a file' }));
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
