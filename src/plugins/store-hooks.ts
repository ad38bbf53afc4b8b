/** What extensions do in the transactions of the interfaces: `app.proof` and `app.forward`. */
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import type { ForwardPolicy } from '../seams/processing-log.ts';
import type { ProofWriters } from '../seams/proof-log.ts';
import { openStoreHooks } from '../seams/store-hooks.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** The proof logs that are switched on. */
    readonly proof: ProofWriters;
    /** What of the processing log is forwarded. */
    readonly forward: ForwardPolicy;
  }
}

export const storeHooks = fp(
  async (app: FastifyInstance) => {
    const { proof, forward } = await openStoreHooks(app.settings);
    app.decorate('proof', proof);
    app.decorate('forward', forward);
  },
  { name: 'store-hooks', dependencies: ['service'] },
);
