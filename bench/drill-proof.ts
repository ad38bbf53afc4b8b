/**
 * `node bench/drill-proof.ts [changes] [kills]`: changes made directly in the database, all to be named by `proof verify`; then kills of the
 * server, its sequencer and Postgres under load, after which every entry has one leaf.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { startEmbedded } from '../src/embedded-postgres/start.ts';
import { createLogger } from '../src/lib/log.ts';
import { serve } from '../src/serve.ts';
import { readConfig } from '../src/settings/read-config.ts';
import { startTokens } from '../test/support/tokens.ts';
import { runKillDrill } from './support/kill-drill.ts';
import {
  addDeliveriesAndRemovals,
  publishMeetings,
  runTamperingDrill,
  verifyProcessing,
} from './support/proof-drill.ts';
import { sampleActie } from './support/sample-actie.ts';

const changes = Number(process.argv[2] ?? 200);
const kills = Number(process.argv[3] ?? 50);
const dir = await mkdtemp(join(tmpdir(), 'koppelvlak-drill-'));
const statePath = join(dir, 'state.json');
const env = {
  NODE_ENV: 'test',
  AREAS: 'verwerkingenlog,raadsfeed',
  VERWERKINGENLOG_KEY: `drill:${Buffer.alloc(32, 3).toString('base64')}`,
  PROOF_KEY: Buffer.alloc(32, 5).toString('base64'),
  PROOF_STATE: statePath,
  PROOF_INTERVAL_SECONDS: '1',
};
let faults = 0;
try {
  faults += await tamper();
  faults += await kill();
  console.log(`${faults} faults`);
  process.exitCode = faults === 0 ? 0 : 1;
} finally {
  await rm(dir, { recursive: true, force: true });
}

async function tamper(): Promise<number> {
  const postgres = await startEmbedded({ dir: join(dir, 'tampering'), log: createLogger('silent') });
  const tokens = await startTokens();
  const server = await serve({
    config: readConfig(
      {
        ...env,
        ...tokens.env,
        ...{ PORT: '0', MANAGEMENT_PORT: '0', OVERLOAD_EVENT_LOOP_DELAY_MS: '0', DATABASE_URL: postgres.url },
      },
      'serve',
    ),
    log: createLogger('error'),
  });
  try {
    const { url } = server;
    const { authorization } = await tokens.bearer(['create:normal']);
    for (let i = 0; i < 1000; i += 1) {
      const answer = await fetch(`${url}/verwerkingenlog/v1/verwerkingsacties`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: sampleActie(String(100_000_000 + i), i),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    }
    await publishMeetings(postgres.url, env, 1000);
    await new Promise((resolve) => setTimeout(resolve, 4000));
    await server.stop();
    const all = { ...env, AREAS: `${env.AREAS},shv` };
    await addDeliveriesAndRemovals(postgres.url, all, { deliveries: 1000, removals: 20 });
    const { before, missed, isJudgedOutside } = await runTamperingDrill({
      databaseUrl: postgres.url,
      env: all,
      statePath,
      changes,
      report: (line) => console.log(line),
    });
    for (const line of before) console.log(`FAULT before: ${line}`);
    for (const line of missed) console.log(`FAULT ${line}`);
    const outside = isJudgedOutside ? 'or accepted outside' : '(Go is not on the path: nobody outside was asked)';
    console.log(`${changes} changes, ${missed.length} not named ${outside}`);
    return before.length + missed.length;
  } finally {
    await server.stop();
    await postgres.stop();
    await tokens.close();
  }
}

async function kill(): Promise<number> {
  const state = join(dir, 'kills.json');
  const own = { ...env, AREAS: 'verwerkingenlog', PROOF_STATE: state };
  const { faults: found, acknowledged } = await runKillDrill({
    dir: join(dir, 'kills'),
    kills,
    writers: 16,
    longestLoadMs: 1500,
    env: own,
    second: { PROOF_STATE: join(dir, 'second.json') },
    judge: (databaseUrl) => verifyProcessing(databaseUrl, own, state),
    report: (line) => console.log(line),
  });
  for (const fault of found) console.log(`FAULT ${fault}`);
  console.log(`${kills} kills: ${acknowledged} actions acknowledged, ${found.length} faults`);
  return found.length;
}
