/** An operator's view in a real Chromium while the database is frozen rather than down, so that no query ever ends. */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findChromium, inChromium } from '../../scripts/chromium.ts';
import { type EmbeddedPostgres, startEmbedded } from '../../src/embedded-postgres/start.ts';
import { createLogger } from '../../src/lib/log.ts';
import { sharedChromium } from '../support/chromium.ts';
import { databaseHome } from '../support/database-home.ts';
import { startServer, type TestServer } from '../support/server.ts';

const executable = findChromium();

describe.runIf(executable !== undefined)(inChromium(executable), () => {
  let home: string;
  let postgres: EmbeddedPostgres;
  let server: TestServer;
  let frozen: readonly number[] = [];

  beforeAll(async () => {
    home = await databaseHome();
    postgres = await startEmbedded({ dir: home, log: createLogger('silent'), settings: { fsync: 'off' } });
    server = await startServer({ env: { AREAS: 'raadsfeed' }, databaseUrl: postgres.url });
  });
  afterAll(async () => {
    signal('SIGCONT', frozen);
    await server?.stop();
    await postgres?.stop();
    rmSync(home, { recursive: true, force: true });
  });

  /** Every process of this test's Postgres cluster, and of no other: its postmaster and the children of that. */
  function clusterProcesses(): number[] {
    const [first = ''] = readFileSync(join(home, 'postgres', 'postmaster.pid'), 'utf8').split('\n', 1);
    const children = readdirSync('/proc').filter((name) => {
      try {
        return (
          /^\d+$/.test(name) && readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1] === first
        );
      } catch {
        // It has exited meanwhile.
        return false;
      }
    });
    return [first, ...children].map(Number);
  }

  function signal(name: 'SIGSTOP' | 'SIGCONT', processes: readonly number[]): void {
    for (const pid of processes) process.kill(pid, name);
  }

  it('shows an operator within two seconds that the database hangs, since when, and what to do; and when it is over', async () => {
    const page = await (await sharedChromium()).newPage();
    const open = async (): Promise<void> => {
      const answer = await page.goto(`${server.managementUrl}/`);
      expect(answer?.status()).toBe(200);
      // The server's own time: a busy machine takes longer to render the page.
      const { requestStart = 0, responseStart = Number.POSITIVE_INFINITY } = answer?.request().timing() ?? {};
      expect(responseStart - requestStart).toBeLessThan(2000);
    };
    const verdict = async (): Promise<string> => {
      await open();
      return (await page.locator('.verdict').textContent()) ?? '';
    };
    await expect.poll(verdict, { interval: 1000 }).toContain('All is well.');
    // The earlier view of the service.
    const before = await page.locator('h2').allTextContents();

    frozen = clusterProcesses();
    expect(frozen.length).toBeGreaterThan(5);
    signal('SIGSTOP', frozen);
    const stopped = Date.now();
    // At once and all the time: the page never waits for the database.
    for (let i = 0; i < 5; i += 1) {
      await open();
      await sleep(500);
    }
    await expect.poll(verdict, { interval: 500 }).toContain('Not ready');
    const row = page
      .locator('tr', { has: page.locator('.state.failed') })
      .filter({ hasText: 'database' })
      .first();
    expect(await row.textContent()).toContain('the check did not answer within 3000 ms');
    // Since the freeze, not since a view before or after it.
    const since = Date.parse((await row.locator('time').getAttribute('datetime')) ?? '');
    expect(since).toBeGreaterThanOrEqual(stopped);
    expect(since - stopped).toBeLessThan(20_000);
    await sleep(7000);
    await open();
    expect(Date.parse((await row.locator('time').getAttribute('datetime')) ?? '')).toBe(since);
    // The last observations are shown, with their time.
    expect(await page.locator('h2').allTextContents()).toEqual(before);
    expect(await page.locator('main, body').first().textContent()).toMatch(/As seen at|Not known now/);
    // The runbook needs no database.
    await row.getByRole('link', { name: 'database' }).click();
    expect(new URL(page.url()).pathname).toBe('/runbook');
    const target = page.locator(':target');
    expect(await target.count()).toBe(1);
    expect(await target.isVisible()).toBe(true);

    signal('SIGCONT', frozen);
    frozen = [];
    await expect.poll(verdict, { interval: 1000 }).toContain('All is well.');
    await page.context().close();
  });
});
