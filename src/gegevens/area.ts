import { readFileSync } from 'node:fs';
import { logRequests } from '../http/access-log.ts';
import type { Area } from '../http/area.ts';
import { authenticate } from '../http/auth.ts';
import { shareAmongClients } from '../http/client-share.ts';
import { mount } from '../http/mount.ts';
import type { TokenVerifier } from '../kernel/oauth/token-verifier.ts';
import type { Platform } from '../kernel/platform.ts';
import type { ProcessingLog } from '../kernel/processing-log.ts';
import { createAnswerRoom } from './answer/answer-room.ts';
import { createPageFinder } from './answer/find-page.ts';
import { createPageCache } from './answer/page-cache.ts';
import type { Variant } from './domain/model/mapping.ts';
import { loadModel } from './domain/model/model.ts';
import type { GegevensRequest } from './domain/request.ts';
import { rawJsonBody, verifyExchange } from './exchange.ts';
import { fscStyle } from './fsc-style.ts';
import { createVerifier } from './jades/verify.ts';
import { createMetrics } from './metrics.ts';
import { createOwnSigner } from './own-signer.ts';
import { gegevensProblems } from './problems.ts';
import { postGegevens } from './routes/post-gegevens.ts';
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
  const { gegevens } = platform.config;
  const metrics = createMetrics(platform.metrics);
  const signatures = createVerifier({
    anchors: readFileSync(gegevens.trustAnchors ?? '', 'utf8'),
    requiredPolicies: gegevens.requiredPolicies,
    revocation: gegevens.revocation,
    allowPrivate: gegevens.revocationAllowPrivate,
    now: () => platform.clock.now(),
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
  const verify = verifyExchange({ verifier: signatures, allowedSigners: gegevens.allowedSigners, metrics });

  const mountOf = (variant: Variant): Area['mounts'][number] => {
    const own = variantSettings(platform, variant);
    const model = loadModel(variant, own.model);
    const contract = variantContract(variant, model, own.maximum, platform.config);
    const handler = postGegevens({
      platform,
      variant,
      ownSigner,
      metrics,
      background,
      processingLog: needs.processingLog,
      findPage: createPageFinder({
        pool: platform.pool,
        clock: platform.clock,
        model,
        cache,
        leverancierscode: gegevens.supplierCode,
        maximum: own.maximum,
        pinMinutes: gegevens.pagePinMinutes,
      }),
    });
    const access = authenticate({
      verifier: needs.verifier,
      service: own.service,
      clientCertificateHeader: platform.config.tokens.clientCertificateHeader?.toLowerCase(),
    });
    return mount({
      platform,
      prefix: own.prefix,
      contract,
      rateLimit: gegevens.rateLimit,
      verifier: needs.verifier,
      problemStyle: fscStyle,
      routes: (app) => {
        logRequests(app);
        shareAmongClients(app, { poolOf: () => platform.pool, waitMs: platform.config.database.connectTimeoutMs });
        rawJsonBody(app);
        contract.serve<{ Body: GegevensRequest }>(
          app,
          'postGegevens',
          { authenticate: access, beforeValidation: verify },
          handler,
        );
      },
    });
  };

  try {
    return {
      problems: gegevensProblems,
      checks: [ownSigner.check],
      mounts: needs.variants.map(mountOf),
      close: async () => {
        await Promise.all(running);
        ownSigner.close();
        await signatures.close();
      },
    };
  } catch (error) {
    ownSigner.close();
    await signatures.close();
    throw error;
  }
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
