/** The kill drill of the aggregator in its long form: `node bench/drill-aggregator.ts [kills]`. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import pg from 'pg';
import { MIGRATIONS, migrate } from '../src/database/migrate.ts';
import { startEmbedded } from '../src/embedded-postgres/start.ts';
import { createLogger } from '../src/lib/log.ts';
import { withDatabase } from '../test/support/with-database.ts';
import { runAggregatorDrill } from './support/aggregator-drill.ts';

const log = createLogger('error');
const dir = await mkdtemp(join(tmpdir(), 'koppelvlak-drill-'));
const postgres = await startEmbedded({ dir: join(dir, 'pg'), log });
try {
  const [first = '', second = '', third = ''] = await Promise.all(
    ['drill_een', 'drill_twee', 'drill_samen'].map(makeDatabase),
  );
  const kills = Number(process.argv[2] ?? 50);
  const result = await runAggregatorDrill({
    sourceUrls: [first, second],
    aggregatorUrl: third,
    kills,
    longestLifeMs: 2500,
    longestPauseMs: 50,
    report: (line) => console.log(line),
  });
  for (const fault of result.faults) console.log(`FAULT ${fault}`);
  console.log(
    `${kills} kills: ${result.published} records of sources, ${result.recorded} of the aggregator, ${result.faults.length} faults`,
  );
  process.exitCode = result.faults.length === 0 ? 0 : 1;
} finally {
  await postgres.stop();
  await rm(dir, { recursive: true, force: true });
}

async function makeDatabase(name: string): Promise<string> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const url = withDatabase(postgres.url, name);
  await migrate({ url, dir: MIGRATIONS, log });
  return url;
}
