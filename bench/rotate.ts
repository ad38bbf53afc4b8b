/** How many versions a second `koppelvlak log rotate-key` re-encrypts, one machine for it and its database: `node bench/rotate.ts [versions]`. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import pg from 'pg';
import { MIGRATIONS, migrate } from '../src/database/migrate.ts';
import { createPool } from '../src/database/pool.ts';
import { startEmbedded } from '../src/embedded-postgres/start.ts';
import { createLogger } from '../src/lib/log.ts';
import { readConfig } from '../src/settings/read-config.ts';
import { keyOfLine } from '../src/verwerkingenlog/ldv/key-of-line.ts';
import { openIdentityKeys } from '../src/verwerkingenlog/store/keys.ts';
import { rotateKeys } from '../src/verwerkingenlog/store/rotate.ts';
import { BENCH_KEY, generateLog } from './support/generate-log.ts';

const versions = Number(process.argv[2] ?? 300_000);
const NEW_KEY = `new:${Buffer.alloc(32, 2).toString('base64')}`;
const log = createLogger('error');
const dir = await mkdtemp(join(tmpdir(), 'koppelvlak-bench-'));
const postgres = await startEmbedded({ dir, log });
try {
  await migrate({ url: postgres.url, dir: MIGRATIONS, log });
  const db = new pg.Client(postgres.url);
  await db.connect();
  await generateLog(db, versions);
  await db.end();
  const pool = createPool({
    ...{ url: postgres.url, size: 4, connectTimeoutMs: 5000, statementTimeoutMs: 0 },
    ...{ pooler: 'none', applicationName: 'bench', log },
  });
  const config = readConfig({ VERWERKINGENLOG_KEY: `${NEW_KEY},${BENCH_KEY}` }, 'tool');
  const keys = await openIdentityKeys(pool, config, 'write');
  const started = performance.now();
  const { rewritten } = await rotateKeys({ pool, keys, keyOfLine, signal: new AbortController().signal });
  const seconds = (performance.now() - started) / 1000;
  console.log(`${rewritten} versions in ${seconds.toFixed(1)} s, ${(rewritten / seconds).toFixed(0)} a second`);
  await pool.end();
} finally {
  await postgres.stop();
  await rm(dir, { recursive: true, force: true });
}
