/** Instances that are killed in the middle of reading suppliers, in the long form: `node bench/drill-suppliers-killed.ts [kills]`. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { MIGRATIONS, migrate } from '../src/database/migrate.ts';
import { startEmbedded } from '../src/embedded-postgres/start.ts';
import { createLogger } from '../src/lib/log.ts';
import { RID } from '../test/raadsfeed/aggregator/parlaeus/server.ts';
import { runSupplierKillDrill } from './support/supplier-kill-drill.ts';

const log = createLogger('error');
const dir = await mkdtemp(join(tmpdir(), 'koppelvlak-drill-'));
const ridFile = join(dir, 'rid');
await writeFile(ridFile, RID);
const postgres = await startEmbedded({ dir: join(dir, 'pg'), log });
try {
  await migrate({ url: postgres.url, dir: MIGRATIONS, log });
  const kills = Number(process.argv[2] ?? 20);
  const report = (line: string): void => console.log(line);
  const result = await runSupplierKillDrill({ databaseUrl: postgres.url, ridFile, kills, longestLifeMs: 2000, report });
  for (const fault of result.faults) console.log(`FAULT ${fault}`);
  console.log(
    `${kills} kills, ${result.inTheMiddle} in the middle of reading: ${result.calls} calls, ${result.records} records, ${result.faults.length} faults`,
  );
  process.exitCode = result.faults.length === 0 ? 0 : 1;
} finally {
  await postgres.stop();
  await rm(dir, { recursive: true, force: true });
}
