/** Joins the areas to what they need; the only place that knows all three. */
import { Counter, Gauge } from 'prom-client';
import { createGegevens } from './gegevens/area.ts';
import type { Area } from './http/server.ts';
import type { Config } from './kernel/config/read-config.ts';
import type { PoolShare } from './kernel/database/open-database.ts';
import type { FetchJson } from './kernel/oauth/remote-keys.ts';
import { createTokenVerifier, type TokenVerifier } from './kernel/oauth/token-verifier.ts';
import { createOutboundFetch } from './kernel/outbound/outbound-client.ts';
import type { Platform, ReadinessCheck } from './kernel/platform.ts';
import { createProof } from './proof/area.ts';
import { openWitnessing } from './proof/witness/open.ts';
import { createRaadsfeed } from './raadsfeed/area.ts';
import { recordProofRoute } from './raadsfeed/routes/proof.ts';
import { numberedRecords } from './raadsfeed/store/proof.ts';
import { createVerwerkingenlog } from './verwerkingenlog/area.ts';
import { openProcessingLog } from './verwerkingenlog/processing-log.ts';

export interface Areas {
  readonly areas: readonly Area[];
  /** Conditions of what the areas share. */
  readonly checks?: readonly ReadinessCheck[];
  readonly close: () => Promise<void>;
}

/** @throws {Error} when keys or certificates cannot be used; what was opened is given back */
export async function createAreas(platform: Platform): Promise<Areas> {
  const { config } = platform;
  const variants = (['shv', 'vs'] as const).filter((variant) => mounts(config, variant));
  const mountsLog = mounts(config, 'verwerkingenlog');
  const sharing = (share: PoolShare): Platform => ({ ...platform, pool: platform.shares[share] });
  // The feed alone logs no processing, and need not have the keys of the log.
  const processingLog = mountsLog || variants.length > 0 ? await openProcessingLog(sharing('append')) : undefined;
  const outbound = createOutboundFetch(config.server);
  const verifier = createVerifier(platform, outbound.fetch);
  const areas: Area[] = [];
  /** What makes one area useless only warns where others are served. */
  const unlessAlone = (area: Area): Area => {
    const isAlone = !mountsLog && !mounts(config, 'raadsfeed');
    return isAlone ? area : { ...area, checks: area.checks.map((check) => ({ ...check, vital: false })) };
  };
  const close = async (): Promise<void> => {
    for (const area of areas.toReversed()) await area.close();
    verifier.close();
    await processingLog?.close();
    await outbound.close();
  };
  try {
    if (processingLog !== undefined) {
      if (variants.length > 0)
        areas.push(unlessAlone(await createGegevens(sharing('gegevens'), { variants, verifier, processingLog })));
      if (mountsLog) areas.push(await createVerwerkingenlog(sharing('verwerkingenlog'), { verifier, processingLog }));
    }
    if (mounts(config, 'raadsfeed')) areas.push(await createRaadsfeed(sharing('raadsfeed')));
    const proof = await openProof(platform);
    if (proof !== undefined) areas.push(proof);
  } catch (error) {
    await close();
    throw error;
  }
  // Without tokens the feed, which is public, is still served.
  const tokens = verifier.checks.map((check) => ({ ...check, vital: !mounts(config, 'raadsfeed') }));
  return { areas, checks: [...tokens, ...(processingLog?.checks ?? [])], close };
}

/** The proof logs: addresses of their own, but of the feed a record's proof too; and their witnesses. */
async function openProof(platform: Platform): Promise<Area | undefined> {
  const feed = platform.proof('raadsfeed');
  const witnessing = await openWitnessing(platform);
  const area = await createProof(platform, {
    feed: feed === undefined ? undefined : numberedRecords(feed),
    routes: async (app) => {
      if (feed !== undefined) recordProofRoute(app, { platform, writer: feed });
      await witnessing?.routes(app);
    },
    cosign: witnessing?.cosign,
    witnessed: witnessing?.witnessed,
  });
  if (area === undefined || witnessing === undefined) return area;
  const close = async (): Promise<void> => {
    await area.close();
    await witnessing.close();
  };
  return { ...area, checks: [...area.checks, ...witnessing.checks], close };
}

function mounts(config: Config, area: Config['server']['areas'][number]): boolean {
  return config.server.areas.includes(area);
}

function createVerifier({ config: { tokens }, log, clock, metrics }: Platform, fetch: FetchJson): TokenVerifier {
  const { oauthIssuer, oauthAudience, fscCertificates, fscGroupId, fscAudience, fscPeerId } = tokens;
  const refused = new Counter({
    name: 'koppelvlak_access_tokens_refused_total',
    help: 'Access tokens that were refused, by reason',
    labelNames: ['reason'],
    registers: [metrics],
  });
  const verifier = createTokenVerifier({
    log,
    clock,
    fetch,
    keysCacheSeconds: tokens.oauthJwksCacheSeconds,
    tokenCacheSeconds: tokens.oauthTokenCacheSeconds,
    refused: (reason) => refused.inc({ reason }),
    ...(oauthIssuer === undefined || oauthAudience === undefined
      ? {}
      : {
          oauth: {
            issuer: oauthIssuer,
            audience: oauthAudience,
            jwksUrl: tokens.oauthJwksUrl,
            oinClaim: tokens.oauthOinClaim,
            clientOins: tokens.oauthClientOins,
          },
        }),
    ...(fscCertificates === undefined || fscGroupId === undefined || fscPeerId === undefined
      ? {}
      : {
          fsc: { certificates: fscCertificates, groupId: fscGroupId, audiences: fscAudience, peerId: fscPeerId },
        }),
    clientCertificates: tokens.clientCertificateHeader !== undefined,
  });
  if (fscCertificates !== undefined) {
    new Gauge({
      name: 'koppelvlak_fsc_token_certificate_expiry_timestamp_seconds',
      help: 'When the last certificate that FSC tokens are signed with expires',
      registers: [metrics],
      collect() {
        const end = verifier.fscValidUntil();
        if (end !== undefined) this.set(end.getTime() / 1000);
      },
    });
  }
  return verifier;
}
