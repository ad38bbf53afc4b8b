/** A database with data of every area, and what instances and clients need to use it. */
import { randomInt, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { MIGRATIONS, migrate } from '../../src/database/migrate.ts';
import { startEmbedded } from '../../src/embedded-postgres/start.ts';
import { importFile } from '../../src/gegevens/store/import-file.ts';
import { createAuthority } from '../../src/lib/authority/authority.ts';
import { loadModel } from '../../src/lib/exchange-model/model.ts';
import { createLogger } from '../../src/lib/log.ts';
import { startTokens } from '../../test/support/tokens.ts';
import { openPool } from './databases.ts';
import { growHistory } from './feed-history.ts';
import type { Ask } from './mixed-load.ts';
import { sampleActie } from './sample-actie.ts';
import { writeSample } from './sample-delivery.ts';
import { createSignedClient } from './signed-client.ts';

export interface SupplierDatabase {
  /** Environment of an instance. */
  readonly env: Readonly<Record<string, string>>;
  readonly databaseUrl: string;
  /** One request of every kind, across all areas. */
  readonly asks: readonly Ask[];
  close(): Promise<void>;
}

const RECORDS = 500;
const HISTORY = 2000;

export async function openSupplierDatabase(dir: string): Promise<SupplierDatabase> {
  const log = createLogger('error');
  const closing: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const one of closing.splice(0).toReversed()) await one();
  };
  try {
    const postgres = await startEmbedded({ dir: join(dir, 'pg'), log });
    closing.push(postgres.stop);
    await migrate({ url: postgres.url, dir: MIGRATIONS, log });
    const path = join(dir, 'shv.json');
    await writeSample(path, { variant: 'shv', records: RECORDS });
    const pool = openPool(postgres.url);
    await importFile(pool, { path, model: loadModel('shv'), signal: new AbortController().signal });
    await pool.end();
    await growHistory(postgres.url, HISTORY);
    const authority = await createAuthority({ dir: join(dir, 'pki'), port: 0, lifeSeconds: 7 * 86_400 });
    closing.push(authority.close);
    const tokens = await startTokens();
    closing.push(tokens.close);
    const { authorization } = await tokens.bearer(['read', 'create:normal', 'read:normal'], { seconds: 7 * 86_400 });
    const client = createSignedClient(authority.requester.key, authority.requester.chain, authorization);
    closing.push(async () => client.close());
    const env = {
      ...tokens.env,
      NODE_ENV: 'test',
      AREAS: 'shv,verwerkingenlog,raadsfeed',
      DATABASE_URL: postgres.url,
      TRUST_PROXY: '1',
      'server.overloadEventLoopDelayMs': '0',
      GEGEVENS_TRUST_ANCHORS: authority.root,
      GEGEVENS_SIGNING_KEY: authority.supplier.key,
      GEGEVENS_SIGNING_CHAIN: authority.supplier.chain,
      GEGEVENS_REVOCATION_ALLOW_PRIVATE: 'true',
      GEGEVENS_RATE_LIMIT: '0',
      RAADSFEED_RATE_LIMIT: '0',
      VERWERKINGENLOG_KEY: `drill:${Buffer.alloc(32, 3).toString('base64')}`,
    };
    const append: Ask = {
      name: 'append',
      method: 'POST',
      path: '/verwerkingenlog/v1/verwerkingsacties',
      status: 201,
      make: async () => ({
        headers: { authorization, 'content-type': 'application/json', 'idempotency-key': randomUUID() },
        body: sampleActie(String(randomInt(1e8, 1e9)), randomInt(1e9)),
      }),
    };
    const delivery: Ask = {
      name: 'delivery',
      method: 'POST',
      path: '/shv/v1/gegevens',
      status: 200,
      make: () => client.sign({}, 'digest'),
    };
    const read = (name: string, path: string): Ask => ({ name, method: 'GET', path, status: 200 });
    const pages = Array.from({ length: 8 }, (_, n) => read('feed', `/ori/v1/feed?limit=${n + 1}`));
    const asks = [...pages.flatMap((page) => [append, page]), read('snapshot', '/ori/v1/snapshot?limit=20'), delivery];
    return { env, databaseUrl: postgres.url, asks, close };
  } catch (error) {
    await close();
    throw error;
  }
}
