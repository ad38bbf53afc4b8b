import type { FastifyInstance } from 'fastify';
import type { TokenVerifier } from '../kernel/oauth/token-verifier.ts';
import type { Platform } from '../kernel/platform.ts';
import { apiDocs } from './api-docs.ts';
import type { Area } from './area.ts';
import type { Contract } from './contract.ts';
import { createRateCounter, limitBodies, limitRate, shedLoad } from './limits.ts';
import { handleProblems, type ProblemStyle } from './problem-reply.ts';
import type { RateCounter } from './rate-counter.ts';

export interface MountOptions {
  readonly platform: Platform;
  readonly prefix: string;
  readonly contract: Contract;
  /** Requests per minute per client (0 is no limit), or the counter that another way into the mount shares. */
  readonly rateLimit: number | { readonly counter: RateCounter | undefined };
  /** Given where tokens are used, so where answers hold personal data: a verified one counts as its subject. */
  readonly verifier?: TokenVerifier;
  readonly problemStyle?: ProblemStyle;
  readonly routes: (app: FastifyInstance) => void | Promise<void>;
}

/** What every mount has: limit, version header, errors in its own shape, its contract and readable pages of it; then its routes. */
export function mount(options: MountOptions): Area['mounts'][number] {
  const { platform, prefix, contract, rateLimit } = options;
  const counter = typeof rateLimit === 'number' ? createRateCounter(rateLimit) : rateLimit.counter;
  return {
    prefix,
    routes: async (app) => {
      // The full version of the interface (API Design Rules, /core/version-header); before anything that can refuse.
      app.addHook('onRequest', (_request, reply, done) => {
        reply.header('api-version', contract.document.info.version);
        // A proxy that spools an answer keeps personal data on its disk, and takes it before the client does.
        if (options.verifier !== undefined) reply.header('x-accel-buffering', 'no');
        done();
      });
      await shedLoad(app, platform.config.server.overloadEventLoopDelayMs);
      await limitRate(app, counter, options.verifier);
      limitBodies(app);
      handleProblems(app, platform.publicBaseUrl, options.problemStyle);
      await options.routes(app);
      await apiDocs(app, contract.document, () => `${platform.publicBaseUrl()}${prefix}`);
    },
  };
}
