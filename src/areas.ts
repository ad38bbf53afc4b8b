/** Joins the areas to what they need; the only place that knows all three. */
import { readFileSync } from 'node:fs';
import { createGegevens } from './gegevens/area.ts';
import type { Area } from './http/area.ts';
import type { Config } from './kernel/config/read-config.ts';
import type { PoolShare } from './kernel/database/open-database.ts';
import { createTokenVerifier, type TokenVerifier } from './kernel/oauth/token-verifier.ts';
import type { Platform } from './kernel/platform.ts';
import { createRaadsfeed } from './raadsfeed/area.ts';
import { createVerwerkingenlog } from './verwerkingenlog/area.ts';
import { createProcessingLog } from './verwerkingenlog/processing-log.ts';

export interface Areas {
  readonly areas: readonly Area[];
  readonly close: () => Promise<void>;
}

/** @throws {Error} when keys or certificates cannot be used; what was opened is given back */
export async function createAreas(platform: Platform): Promise<Areas> {
  const { config } = platform;
  const sharing = (share: PoolShare): Platform => ({ ...platform, pool: platform.shares[share] });
  const verifier = createVerifier(platform);
  const processingLog = createProcessingLog(sharing('append'));
  const areas: Area[] = [];
  const close = async (): Promise<void> => {
    for (const area of areas.toReversed()) await area.close();
    await processingLog.close();
    verifier.close();
  };
  try {
    const variants = (['shv', 'vs'] as const).filter((variant) => mounts(config, variant));
    if (variants.length > 0)
      areas.push(await createGegevens(sharing('gegevens'), { variants, verifier, processingLog }));
    if (mounts(config, 'verwerkingenlog'))
      areas.push(await createVerwerkingenlog(sharing('verwerkingenlog'), { verifier, processingLog }));
    if (mounts(config, 'raadsfeed')) areas.push(await createRaadsfeed(sharing('raadsfeed')));
  } catch (error) {
    await close();
    throw error;
  }
  return { areas, close };
}

function mounts(config: Config, area: Config['server']['areas'][number]): boolean {
  return config.server.areas.includes(area);
}

function createVerifier({ config: { tokens }, log, clock }: Platform): TokenVerifier {
  const { oauthIssuer, oauthAudience, fscCertificates, fscGroupId, fscAudience, fscPeerId } = tokens;
  return createTokenVerifier({
    log,
    clock,
    ...(oauthIssuer === undefined || oauthAudience === undefined
      ? {}
      : { oauth: { issuer: oauthIssuer, audience: oauthAudience, jwksUrl: tokens.oauthJwksUrl } }),
    ...(fscCertificates === undefined ||
    fscGroupId === undefined ||
    fscAudience === undefined ||
    fscPeerId === undefined
      ? {}
      : {
          fsc: {
            certificates: readFileSync(fscCertificates, 'utf8'),
            groupId: fscGroupId,
            audience: fscAudience,
            peerId: fscPeerId,
          },
        }),
    clientCertificates: tokens.clientCertificateHeader !== undefined,
  });
}
