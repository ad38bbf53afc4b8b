import { rm } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { runKillDrill } from '../../bench/support/kill-drill.ts';
import { databaseHome } from '../support/database-home.ts';

it('loses nothing acknowledged when the server and Postgres are killed under load', async () => {
  const dir = await databaseHome();
  try {
    const { acknowledged, faults } = await runKillDrill({ dir, kills: 2, writers: 8, longestLoadMs: 600 });
    expect(faults).toEqual([]);
    expect(acknowledged).toBeGreaterThan(0);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});
