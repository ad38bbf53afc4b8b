/**
 * Kills the primary of a real Postgres pair under load: `node bench/drill-failover.ts [synchronous|asynchronous]
 * [seconds of load]`.
 */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { runFailoverDrill } from './support/failover-drill.ts';

const [only, seconds = '3'] = process.argv.slice(2);
const modes = (['synchronous', 'asynchronous'] as const).filter((mode) => only === undefined || mode === only);
if (modes.length === 0) throw new Error(`unknown replication mode: ${only}`);

for (const replication of modes) {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'kv-failover-'));
  const result = await runFailoverDrill({
    dir: folder.path,
    replication,
    loadMs: Number(seconds) * 1000,
    writers: 8,
    pauseMs: 0,
  });
  console.log(
    `${replication} replication: ${result.appended} appends and ${result.published} publications acknowledged`,
  );
  console.log(
    `  first success after the loss: append ${inSeconds(result.appendAfterMs)}, publication ${inSeconds(result.publishAfterMs)}`,
  );
  console.log(
    `  acknowledged and lost: ${result.lostActions.length} actions, ${result.lostRecords.length} records${range(result.lostRecords)}`,
  );
  console.log(
    `  sequence numbers whose content changed for readers: ${result.givenTwice.length}${range(result.givenTwice)}`,
  );
  console.log(`  the cursor from before the loss: ${result.oldCursor}`);
  for (const fault of result.faults) console.log(`  FAULT ${fault}`);
  if (result.faults.length > 0) process.exitCode = 1;
}

function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

function range(numbers: readonly number[]): string {
  return numbers.length === 0 ? '' : ` (${numbers[0]} to ${numbers.at(-1)})`;
}
