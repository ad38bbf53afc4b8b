/** A witness on a real server, and the part of its state outside the database. */

import { createSigner, type VerifierKey, WITNESS_KEY } from '../../../src/proof/tlog/note.ts';
import { witnessRoutes } from '../../../src/proof/witness/server.ts';
import { startServer, type TestServer } from '../../support/server.ts';

export interface TestWitness extends TestServer {
  /** Submission prefix. */
  readonly prefix: string;
  readonly key: VerifierKey;
  readonly outside: Map<string, string>;
}

export interface TestWitnessOptions {
  readonly name: string;
  readonly logKeys: readonly VerifierKey[];
  readonly databaseUrl?: string;
  readonly outside?: Map<string, string>;
}

export async function startWitness({
  name,
  logKeys,
  databaseUrl,
  outside = new Map(),
}: TestWitnessOptions): Promise<TestWitness> {
  const signer = createSigner(name, Buffer.alloc(32, name), WITNESS_KEY);
  const kept = {
    get: (origin: string) => outside.get(origin),
    put: async (origin: string, note: string) => void outside.set(origin, note),
  };
  const server = await startServer({
    env: {},
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    register: async (app) => {
      const routes = witnessRoutes({ signer, logKeys, now: () => Math.floor(Date.now() / 1000) }, kept);
      await app.register(routes, { prefix: '/proof/v1/witness' });
    },
  });
  return { ...server, prefix: `${server.url}/proof/v1/witness`, key: signer.key, outside };
}
