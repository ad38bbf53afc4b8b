import { readFileSync } from 'node:fs';
import { authenticate, processingHeaders } from '../http/auth.ts';
import { createClientShare } from '../http/limits.ts';
import { type Area, logRequests, mount } from '../http/mount.ts';
import type { TokenVerifier } from '../kernel/oauth/token-verifier.ts';
import { createGuardedFetch } from '../kernel/outbound/guarded-fetch.ts';
import type { Platform } from '../kernel/platform.ts';
import type { ProcessingLog } from '../kernel/processing-log.ts';
import { createAnswerRoom } from './answer/answer-room.ts';
import { createPageFinder } from './answer/find-page.ts';
import { createPageCache, type PageCache } from './answer/page-cache.ts';
import type { Variant } from './domain/model/mapping.ts';
import { loadModel, type Model } from './domain/model/model.ts';
import { rawJsonBody, verifyExchange } from './exchange.ts';
import { fscStyle } from './fsc-style.ts';
import { createVerifier } from './jades/verify.ts';
import { createMetrics } from './metrics.ts';
import { createOwnSigner } from './own-signer.ts';
import { gegevensProblems } from './problems.ts';
import { postGegevens } from './routes/post-gegevens.ts';
import { fillTraits } from './store/fill-traits.ts';
import { lastRemoval, REMOVED_CHANNEL } from './store/remove-leveringen.ts';
import { variantContract } from './variant-contract.ts';

const MEGABYTE = 1024 * 1024;

export interface GegevensNeeds {
  /** Which variants are served; at least one. */
  readonly variants: readonly Variant[];
  readonly verifier: TokenVerifier;
  readonly processingLog: ProcessingLog;
}

/**
 * Area A: the exchange of data, a mount per variant.
 * @throws {Error} when models, trust anchors or the own key cannot be used; the message is for operators
 */
export async function createGegevens(platform: Platform, needs: GegevensNeeds): Promise<Area> {
  const { gegevens, tokens, server } = platform.config;
  const metrics = createMetrics(platform.metrics);
  const revocation = createGuardedFetch({ allowPrivate: gegevens.revocationAllowPrivate, proxy: server });
  const signatures = createVerifier({
    fetch: revocation.fetch,
    anchors: readFileSync(gegevens.trustAnchors ?? '', 'utf8'),
    requiredPolicies: gegevens.requiredPolicies,
    revocation: gegevens.revocation,
    now: () => platform.clock.now(),
    maxSignatureAgeMs: gegevens.maxSignatureAge,
    refreshFailed: (reason) =>
      platform.log.warn({ err: reason }, 'a revocation answer could not be refreshed; it is used until its end'),
    limits: { ocspTimeoutMs: gegevens.ocspTimeoutMs, crlBytes: gegevens.crlMaxMb * MEGABYTE },
  });
  const ownSigner = createOwnSigner({
    platform,
    taken: ({ notAfter }) => metrics.certificateExpiry.set(notAfter.getTime() / 1000),
  });
  const running = new Set<Promise<unknown>>();
  const background = (work: Promise<unknown>): void => {
    const tracked = work.finally(() => running.delete(tracked));
    running.add(tracked);
  };
  const room = createAnswerRoom({
    maxBytes: gegevens.answersMb * MEGABYTE,
    waitMs: gegevens.answersWaitMs,
    changed: ({ bytes, waiting }) => {
      metrics.answersBytes.set(bytes);
      metrics.answersWaiting.set(waiting);
    },
  });
  const cache = createPageCache(gegevens.cacheMb * MEGABYTE, room);

  const consumerOf = processingHeaders({
    mode: gegevens.processingHeaders,
    metrics: platform.metrics,
    counter: metrics.missingHeaders,
  });

  // One for both mounts: they have the same connections.
  const shareAmongClients = createClientShare({
    poolOf: () => platform.pool,
    waitMs: platform.config.database.connectTimeoutMs,
  });
  const stopForgetting = forgetRemoved(platform, cache, background);
  const mountOf = (variant: Variant, model: Model): Area['mounts'][number] => {
    const own = variantSettings(platform, variant);
    const contract = variantContract(variant, model, own.maximum, platform.config);
    const handler = postGegevens({
      platform,
      variant,
      mapping: model.mapping,
      ownSigner,
      metrics,
      background,
      processingLog: needs.processingLog,
      consumerOf,
      findPage: createPageFinder({
        pool: platform.pool,
        clock: platform.clock,
        model,
        cache,
        counts: new Map(),
        leverancierscode: gegevens.supplierCode,
        maximum: own.maximum,
        pinMinutes: gegevens.pagePinMinutes,
      }),
    });
    const verify = verifyExchange({
      variant,
      pool: platform.pool,
      verifier: signatures,
      allowedSigners: gegevens.allowedSigners,
      bindsClients: tokens.oauthOinClaim !== undefined || tokens.oauthClientOins.size > 0,
      metrics,
    });
    const access = authenticate({
      verifier: needs.verifier,
      service: own.service,
      clientCertificateHeader: tokens.clientCertificateHeader?.toLowerCase(),
    });
    return mount({
      platform,
      isPersonal: true,
      prefix: own.prefix,
      contract,
      rateLimit: gegevens.rateLimit,
      problemStyle: fscStyle,
      routes: (app) => {
        logRequests(app);
        shareAmongClients(app);
        rawJsonBody(app);
        contract.serve(app, 'postGegevens', { authenticate: access, beforeValidation: verify }, handler);
      },
    });
  };

  try {
    const mounts = [];
    for (const variant of needs.variants) {
      const model = loadModel(variant, variantSettings(platform, variant).model);
      const filled = await fillTraits(platform.pool, model);
      if (filled > 0) platform.log.info({ variant, leveringen: filled }, 'records of earlier imports were read again');
      mounts.push(mountOf(variant, model));
    }
    return {
      problems: gegevensProblems,
      checks: [ownSigner.check],
      mounts,
      close: async () => {
        stopForgetting();
        await Promise.all(running);
        ownSigner.close();
        await signatures.close();
        await revocation.close();
      },
    };
  } catch (error) {
    stopForgetting();
    ownSigner.close();
    await signatures.close();
    await revocation.close();
    throw error;
  }
}

/** Pages that were kept hold what has been removed since: they go when anything is removed, by whichever process. @returns ends it */
function forgetRemoved(
  { pool, listener, log }: Platform,
  cache: PageCache,
  background: (work: Promise<unknown>) => void,
): () => void {
  let last: number | undefined;
  const look = async (): Promise<void> => {
    const removal = (await lastRemoval(pool))?.getTime();
    if (removal !== last) cache.clear();
    last = removal;
  };
  return listener.subscribe(REMOVED_CHANNEL, () => {
    background(
      look().catch((error: unknown) => {
        // What was removed is asked for by nobody any more; not knowing, nothing is kept.
        cache.clear();
        log.warn({ err: error }, 'cannot see whether anything was removed; no pages are kept');
      }),
    );
  });
}

function variantSettings({ config: { gegevens } }: Platform, variant: Variant) {
  return variant === 'shv'
    ? {
        prefix: gegevens.shvPrefix,
        service: gegevens.shvService,
        model: gegevens.shvModel,
        maximum: gegevens.shvMaxRecords,
      }
    : {
        prefix: gegevens.vsPrefix,
        service: gegevens.vsService,
        model: gegevens.vsModel,
        maximum: gegevens.vsMaxRecords,
      };
}
