/**
 * The log on Citus, with a worker that is killed and a shard that is moved under load (docs/citus.md):
 * `node bench/drill-citus.ts COORDINATOR_URL ['command that kills a worker' 'command that starts it' [seconds [writers]]]`
 */
import process from 'node:process';
import { runCitusDrill } from './support/citus-drill.ts';

const [coordinator, kill, start, seconds = '5', writers = '16'] = process.argv.slice(2);
if (coordinator === undefined) {
  console.error('name the address of the coordinator, as superuser');
  process.exitCode = 2;
} else {
  const result = await runCitusDrill({
    coordinator,
    worker: kill === undefined || start === undefined ? undefined : { kill, start },
    writers: Number(writers),
    loadMs: Number(seconds) * 1000,
    report: (line) => console.log(line),
  });
  const { lost, changedReplays, verified } = result;
  process.exitCode = lost.length + changedReplays.length === 0 && verified.startsWith('ok') ? 0 : 1;
}
