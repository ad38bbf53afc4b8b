/** The drills of docs/operations.md in short: a primary that is lost, and every acknowledged entry is at the standby that took over. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { runFailoverDrill } from '../../bench/support/failover-drill.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(inject('databaseHomes'), 'kv-failover-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

describe.runIf(existsSync('/usr/sbin/haproxy'))('a primary that is lost under load', () => {
  it('loses nothing that was acknowledged, with a synchronous standby', async () => {
    const result = await runFailoverDrill({ dir, replication: 'synchronous', loadMs: 800, writers: 4, pauseMs: 20 });
    expect(result).toMatchObject({ faults: [], lostActions: [], lostRecords: [], givenTwice: [], oldCursor: '200' });
    expect(result.appendAfterMs).toBeLessThan(30_000);
  });

  it('loses what an asynchronous one had not received, and readers have to begin again', async () => {
    const result = await runFailoverDrill({ dir, replication: 'asynchronous', loadMs: 800, writers: 4, pauseMs: 20 });
    expect(result.faults).toEqual([]);
    expect(result.lostActions.length).toBeGreaterThan(0);
    expect(result.lostRecords.length).toBeGreaterThan(0);
    // A reader that had read nothing of what was lost goes on.
    const hadReadLostRecords = result.givenTwice.length > 0;
    expect(result.oldCursor).toMatch(
      hadReadLostRecords ? /^400 .*(geschiedenis|voorbij)/ : /^200$|^400 .*(geschiedenis|voorbij)/,
    );
  });
});
