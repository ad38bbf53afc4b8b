/** A shortened version of the drill in docs/citus.md, if there is a cluster. */
import process from 'node:process';
import { expect, it } from 'vitest';
import { CITUS_SETTING } from '../support/citus.ts';
import { runCitusDrill } from './citus-drill.ts';

const { [CITUS_SETTING]: coordinator, TEST_CITUS_KILL: kill, TEST_CITUS_START: start } = process.env;

it('keeps acknowledged actions when a worker is killed and a shard is moved', async ({ skip }) => {
  if (coordinator === undefined) return skip(`no Citus: ${CITUS_SETTING} names no coordinator`);
  const worker = kill === undefined || start === undefined ? undefined : { kill, start };
  const result = await runCitusDrill({ coordinator, worker, writers: 8, loadMs: 2000 });
  expect(result).toMatchObject({ lost: [], changedReplays: [], verified: expect.stringMatching(/^ok/) });
  expect(result.acknowledged).toBeGreaterThan(0);
  const killed = result.phases.find(({ name }) => name === 'a worker is killed');
  // Requests that need the worker get 503; the rest continues.
  const answered = Object.keys(killed?.statuses ?? {});
  expect(answered.filter((status) => !['201', '503', 'GET 200', 'GET 503'].includes(status))).toEqual([]);
});
