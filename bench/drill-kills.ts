/** Repeatedly kills the server and Postgres while actions are logged: `npm run drill -- kills [kills]`. */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { runKillDrill } from './support/kill-drill.ts';

await using folder = await mkdtempDisposable(join(tmpdir(), 'koppelvlak-drill-'));
const kills = Number(process.argv[2] ?? 50);
const result = await runKillDrill({
  dir: folder.path,
  kills,
  writers: 16,
  longestLoadMs: 1500,
  report: (line) => console.log(line),
});
for (const fault of result.faults) console.log(`FAULT ${fault}`);
console.log(
  `${kills} kills: ${result.acknowledged} actions and ${result.changes} changes acknowledged, ${result.replayed} retried, ${result.faults.length} faults`,
);
process.exitCode = result.faults.length === 0 ? 0 : 1;
