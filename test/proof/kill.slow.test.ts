import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { expect, it, vi } from 'vitest';
import { runKillDrill } from '../../bench/support/kill-drill.ts';
import { databaseHome } from '../support/database-home.ts';
import { verifyProcessing } from './proof-drill.ts';
import { PROOF_KEY } from './support.ts';

/** For fifty: `PROOF_KILLS=50 npm run test:slow -- test/proof/kill.slow.test.ts`. */
const KILLS = Number(process.env.PROOF_KILLS ?? 1);

it('gives every acknowledged entry one leaf, however two sequencers and Postgres are killed', {
  timeout: 300_000 + KILLS * 20_000,
}, async () => {
  const dir = await databaseHome();
  const state = join(dir, 'state.json');
  const stateOfSecond = join(dir, 'state-of-the-second.json');
  const env = {
    AREAS: 'verwerkingenlog',
    VERWERKINGENLOG_KEY: `drill:${Buffer.alloc(32, 3).toString('base64')}`,
    PROOF_KEY,
    PROOF_STATE: state,
    'proof.intervalSeconds': '1',
  };
  try {
    const { acknowledged, faults } = await runKillDrill({
      dir: join(dir, 'database'),
      kills: KILLS,
      writers: 8,
      longestLoadMs: 1500,
      env,
      second: { PROOF_STATE: stateOfSecond },
      // An instance without a checkpoint signs nothing for a tree that another has begun.
      beforeSecond: () => vi.waitFor(() => copyFile(state, stateOfSecond), { timeout: 30_000 }),
      judge: (databaseUrl) => verifyProcessing(databaseUrl, env, state),
    });
    expect(faults).toEqual([]);
    expect(acknowledged).toBeGreaterThan(0);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});
