/**
 * Shortened versions of the drills in docs/operations.md: after the primary is lost, every acknowledged entry is on the promoted standby.
 */
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

describe.runIf(existsSync('/usr/sbin/haproxy'))('losing the primary under load', () => {
  it('loses no acknowledged entry, with a synchronous standby', async () => {
    const result = await runFailoverDrill({ dir, replication: 'synchronous', loadMs: 800, writers: 4, pauseMs: 20 });
    expect(result).toMatchObject({ faults: [], lostActions: [], lostRecords: [], givenTwice: [], oldCursor: '200' });
    expect(result.appendAfterMs).toBeLessThan(30_000);
  });

  it('loses entries that an asynchronous standby had not received, and readers have to start over', async () => {
    const result = await runFailoverDrill({ dir, replication: 'asynchronous', loadMs: 800, writers: 4, pauseMs: 20 });
    expect(result.faults).toEqual([]);
    expect(result.lostActions.length).toBeGreaterThan(0);
    expect(result.lostRecords.length).toBeGreaterThan(0);
    // A reader that had read no lost entry continues.
    const hadReadLostRecords = result.givenTwice.length > 0;
    expect(result.oldCursor).toMatch(
      hadReadLostRecords ? /^400 .*(geschiedenis|voorbij)/ : /^200$|^400 .*(geschiedenis|voorbij)/,
    );
  });
});
