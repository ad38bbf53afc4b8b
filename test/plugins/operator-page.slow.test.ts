/** The operator's page over HTTP and in Chromium, with a part and a condition made for the test. Real ones: operator-conditions.test.ts. */
import { setTimeout as sleep } from 'node:timers/promises';
import { HtmlValidate } from 'html-validate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findChromium, inChromium } from '../../scripts/chromium.ts';
import type { OperatorSection, ReadinessResult } from '../../src/lib/operations.ts';
import { axeFindings, sharedChromium } from '../support/chromium.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { createProbe } from './support/probe-area.ts';

let database: TestDatabase;
let server: TestServer;
let probed: () => Promise<ReadinessResult> = async () => ({ ok: true });
let section: OperatorSection['read'] = async () => ({ columns: ['a'], rows: [] });

beforeAll(async () => {
  database = await createDatabase();
  const probe = createProbe();
  server = await startServer({
    env: {},
    databaseUrl: database.url,
    register: async (app) => {
      await probe.open(app);
      app.readiness.push({ name: 'breakable', check: () => probed() });
      app.operatorPage.push({ title: 'A part', read: () => section() });
    },
  });
});
afterAll(async () => {
  await server.stop();
  await database.drop();
});

async function page(): Promise<string> {
  const answer = await fetch(`${server.managementUrl}/`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('refresh')).toBe('10');
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  return await answer.text();
}

describe("the operator's page", () => {
  it('says that all is well, and is valid HTML', async () => {
    const text = await page();
    expect(text).toContain('All is well.');
    expect(text).toContain(
      '<th scope="row"><a href="/runbook#koppelvlakerrors">database</a></th><td data-label="state"><span class="state well">well</span>',
    );
    expect(text).toContain('<polyline');
    const report = await new HtmlValidate({
      extends: ['html-validate:recommended'],
      rules: { 'long-title': 'off', 'no-inline-style': 'off' },
    }).validateString(text);
    expect(report.results.flatMap(({ messages }) => messages.map(({ message }) => message))).toEqual([]);
  });

  it('shows a failing condition, with its reason and since when, and drops it when it recovers', async () => {
    probed = async () => ({ ok: false, detail: 'the wrong <key>' });
    const broken = await page();
    expect(broken).toContain('Not ready: 1 of');
    const since =
      /breakable<\/a><\/th><td data-label="state"><span class="state failed">failed<\/span><\/td><td data-label="what">the wrong &lt;key&gt;<\/td><td data-label="since"><time datetime="([^"]+)"/.exec(
        broken,
      )?.[1];
    expect(Date.parse(since ?? '')).toBeLessThanOrEqual(Date.now());
    expect(await page()).toContain(`datetime="${since}"`);
    probed = async () => ({ ok: true, warning: 'ends in 3 days' });
    expect(await page()).toContain('Ready, with 1 warning.');
    probed = async () => ({ ok: true });
    expect(await page()).toContain('All is well.');
  });

  it('shows the reason for an unreadable part, and its text as text', async () => {
    section = async () => ({ columns: ['a', 'b"<'], rows: [['<script>', '"&']] });
    expect(await page()).toContain('<th scope="row">&lt;script&gt;</th><td data-label="b&quot;&lt;">&quot;&amp;</td>');
    section = async () => {
      throw new Error('it is away');
    };
    expect(await page()).toContain('Not known now: it is away');
  });

  it('links each condition to a paragraph of the runbook', async () => {
    const targets = [...(await page()).matchAll(/href="\/runbook#([^"]+)"/g)].map(([, id]) => id);
    expect(targets.length).toBeGreaterThan(4);
    const answer = await fetch(`${server.managementUrl}/runbook`);
    expect(answer.status).toBe(200);
    const text = await answer.text();
    for (const id of targets) expect(text).toContain(` id="${id}">`);
    const report = await new HtmlValidate({
      extends: ['html-validate:recommended'],
      rules: { 'long-title': 'off', 'no-inline-style': 'off' },
    }).validateString(text);
    expect(report.results.flatMap(({ messages }) => messages.map(({ message }) => message))).toEqual([]);
  });

  it('knows since when a condition holds even if nobody viewed the page', async () => {
    const before = Date.now();
    probed = async () => ({ ok: false, detail: 'nobody saw it' });
    await sleep(10_000);
    const looked = Date.now();
    const since = /nobody saw it<\/td><td data-label="since"><time datetime="([^"]+)"/.exec(await page())?.[1] ?? '';
    expect(Date.parse(since)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(since)).toBeLessThan(looked - 1000);
    probed = async () => ({ ok: true });
  });

  it('answers within two seconds while everything hangs, from the last observations, and gives their time', async () => {
    section = async () => ({ columns: ['a', 'b'], rows: [['x', 'read before']] });
    await page();
    let asked = 0;
    const hanging = Promise.withResolvers<never>();
    section = () => hanging.promise;
    probed = () => {
      asked += 1;
      return hanging.promise;
    };
    for (let i = 0; i < 3; i += 1) {
      const began = performance.now();
      const text = await page();
      // Enough for a busy machine too: less than the three seconds that the check itself may take.
      expect(performance.now() - began).toBeLessThan(2900);
      expect(text).toMatch(/As seen at <time[^>]*>[^<]+<\/time>:<\/p>[\s\S]*read before/);
    }
    await expect.poll(page).toContain('the check did not answer within 3000 ms');
    expect(asked).toBe(1);
    probed = async () => ({ ok: true });
    section = async () => ({ columns: ['a'], rows: [] });
    hanging.reject(new Error('over'));
    await expect.poll(page).toContain('All is well.');
  });

  it('does not count its own queries as waiting for a connection', async () => {
    await Promise.all(Array.from({ length: 10 }, page));
    await sleep(11_000);
    expect(await page()).toMatch(/Waiting for a connection<\/strong>: 0 requests \(most in \d+ minutes: 0\)/);
  });

  it('gives times to the second', async () => {
    const before = new Date(Date.now() - 3 * 3_600_000 - 60_000);
    section = async () => ({ columns: ['a', 'b'], rows: [['x', before]] });
    expect(await page()).toContain(`<time datetime="${before.toISOString()}">`);
  });

  it('adds no sample to its charts when it is viewed', async () => {
    const points = async (): Promise<number> => (/points="([^"]*)"/.exec(await page())?.[1] ?? '').split(' ').length;
    const before = await points();
    for (let i = 0; i < 5; i += 1) await page();
    // A scheduled one may fall in between.
    expect(await points()).toBeLessThanOrEqual(before + 1);
  });
});

const executable = findChromium();

describe.runIf(executable !== undefined)(inChromium(executable), () => {
  it('has no axe finding and no line wider than the screen, well and broken, wide and narrow', async () => {
    const context = await (await sharedChromium()).newContext({ viewport: { width: 1280, height: 800 } });
    const view = await context.newPage();
    const faults: string[] = [];
    view.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    for (const state of ['well', 'failed']) {
      probed = async () => (state === 'well' ? { ok: true } : { ok: false, detail: 'x'.repeat(300) });
      section =
        state === 'well'
          ? async () => ({ columns: ['a', 'b'], rows: [] })
          : async () => ({ columns: ['a', 'b'], rows: [[`https://${'bron.'.repeat(40)}example`, new Date()]] });
      await view.goto(`${server.managementUrl}/`);
      for (const width of [1280, 320]) {
        await view.setViewportSize({ width, height: 800 });
        expect(await axeFindings(view), `${state} at ${width}`).toEqual([]);
        expect(await view.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
      }
    }
    expect(faults).toEqual([]);
    await context.close();
  });
});
