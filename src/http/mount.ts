import type { FastifyInstance } from 'fastify';
import type { Platform } from '../kernel/platform.ts';
import type { ProblemKind } from '../kernel/problem.ts';
import type { ReadinessCheck } from '../kernel/readiness.ts';
import { limitBodies } from './body-limits.ts';
import { createRateCounter, limitRate, shedLoad } from './limits.ts';
import type { OpenapiDocument } from './openapi-document.ts';
import { apiDocs } from './pages.ts';
import { handleProblems, type ProblemStyle } from './problem-reply.ts';
import { limitRequestHead } from './request-head.ts';
import { limitUnreadAnswers } from './unread-answers.ts';

export interface MountOptions {
  readonly platform: Platform;
  readonly prefix: string;
  readonly contract: { readonly document: OpenapiDocument };
  /** Requests per minute per client; 0 is no limit. */
  readonly rateLimit: number;
  /** Its answers hold personal data: no proxy may keep them on its disk. */
  readonly isPersonal?: boolean;
  readonly problemStyle?: ProblemStyle;
  readonly routes: (app: FastifyInstance) => void | Promise<void>;
}

/** What every mount has: limit, version header, errors in its own shape, its contract and readable pages of it; then its routes. */
export function mount(options: MountOptions): Area['mounts'][number] {
  const { platform, prefix, contract, rateLimit } = options;
  const counter = createRateCounter(rateLimit);
  return {
    prefix,
    routes: async (app) => {
      // The full version of the interface (API Design Rules, /core/version-header); before anything that can refuse.
      app.addHook('onRequest', (_request, reply, done) => {
        reply.header('api-version', contract.document.info.version);
        // A proxy that spools an answer keeps personal data on its disk, and takes it before the client does.
        if (options.isPersonal === true) reply.header('x-accel-buffering', 'no');
        done();
      });
      limitRequestHead(app);
      await shedLoad(app, platform.config.server.overloadEventLoopDelayMs);
      limitRate(app, counter);
      limitBodies(app, platform.config.server.bodiesInProgressBytes);
      limitUnreadAnswers(app, platform.config.server.unreadAnswersBytes);
      const { refuseEarly } = handleProblems(app, platform.publicBaseUrl, options.problemStyle);
      await options.routes(app);
      refuseEarly();
      await apiDocs(app, contract.document, () => `${platform.publicBaseUrl()}${prefix}`);
    },
  };
}

/** One of the national interfaces, ready to be mounted. */
export interface Area {
  readonly mounts: readonly {
    readonly prefix: string;
    /** Registers the routes; `app` is a scope of its own under the prefix. */
    readonly routes: (app: FastifyInstance) => Promise<void>;
  }[];
  /** Addresses that the area needs at the root of the host. */
  readonly root?: (app: FastifyInstance) => void;
  readonly problems: Readonly<Record<string, ProblemKind>>;
  readonly checks: readonly ReadinessCheck[];
  /** Starts work that goes on without requests; called once the server listens. */
  readonly start?: () => Promise<void>;
  /** Gives back what the area opened; called after the last request was answered. */
  readonly close: () => Promise<void>;
}
