/** Joins the areas to what they need; the only place that knows all three. Each is loaded where it is served only: that is half the memory of an idle process. */
import type { FastifyInstance } from 'fastify';
import { Counter, Gauge } from 'prom-client';
import type { Area } from './http/server.ts';
import type { Config } from './kernel/config/read-config.ts';
import type { PoolShare } from './kernel/database/open-database.ts';
import type { FetchJson } from './kernel/oauth/remote-keys.ts';
import { createTokenVerifier, type TokenVerifier } from './kernel/oauth/token-verifier.ts';
import { createOutboundFetch } from './kernel/outbound/outbound-client.ts';
import type { Platform, ReadinessCheck } from './kernel/platform.ts';
import type { ProofWriter } from './kernel/proof-log.ts';
import { createProof } from './proof/area.ts';
import { openWitnessing } from './proof/witness/open.ts';

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
  const logsProcessing = mountsLog || variants.length > 0;
  const processingLog = logsProcessing
    ? await (await import('./verwerkingenlog/processing-log.ts')).openProcessingLog(sharing('append'))
    : undefined;
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
      if (variants.length > 0) {
        const { createGegevens } = await import('./gegevens/area.ts');
        areas.push(unlessAlone(await createGegevens(sharing('gegevens'), { variants, verifier, processingLog })));
      }
      if (mountsLog) {
        const { createVerwerkingenlog } = await import('./verwerkingenlog/area.ts');
        areas.push(await createVerwerkingenlog(sharing('verwerkingenlog'), { verifier, processingLog }));
      }
    }
    if (mounts(config, 'raadsfeed')) {
      const { createRaadsfeed } = await import('./raadsfeed/area.ts');
      areas.push(await createRaadsfeed(sharing('raadsfeed')));
    }
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
  const writer = platform.proof('raadsfeed');
  const feed = writer === undefined ? undefined : await openFeedProof(platform, writer);
  const witnessing = await openWitnessing(platform);
  const area = await createProof(platform, {
    feed: feed?.records,
    routes: async (app) => {
      feed?.route(app);
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

/** The records of the feed as leaves of its log, and the route of a record's proof. */
async function openFeedProof(platform: Platform, writer: ProofWriter) {
  const [{ numberedRecords }, { recordProofRoute }] = await Promise.all([
    import('./raadsfeed/store/proof.ts'),
    import('./raadsfeed/routes/proof.ts'),
  ]);
  return {
    records: numberedRecords(writer),
    route: (app: FastifyInstance) => recordProofRoute(app, { platform, writer }),
  };
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
