/** The operator's page over HTTP, with conditions that are broken on purpose. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { HtmlValidate } from 'html-validate';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { findChromium, inChromium, launchChromium } from '../../scripts/chromium.ts';
import type { OperatorSection, ReadinessResult } from '../../src/kernel/platform.ts';
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
    areas: async (platform) => {
      const opened = await probe.open(platform);
      const part = {
        checks: [{ name: 'breakable', check: () => probed() }],
        sections: [{ title: 'A part', read: () => section() }],
      };
      return { ...opened, areas: opened.areas.map((area) => ({ ...area, ...part })) };
    },
  });
});
afterAll(async () => {
  await server.stop();
  await database.drop();
});

const PATIENT = { timeout: 15_000, interval: 200 };

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
    expect(text).toContain('<th scope="row">database</th><td><span class="state">well</span>');
    expect(text).toContain('<polyline');
    const report = await new HtmlValidate({
      extends: ['html-validate:recommended'],
      rules: { 'long-title': 'off', 'no-inline-style': 'off' },
    }).validateString(text);
    expect(report.results.flatMap(({ messages }) => messages.map(({ message }) => message))).toEqual([]);
  });

  it('names a condition that fails, with its reason and since when, and forgets it when it is well again', async () => {
    probed = async () => ({ ok: false, detail: 'the wrong <key>' });
    const broken = await page();
    expect(broken).toContain('Not ready: 1 of');
    const since =
      /breakable<\/th><td><span class="state">failed<\/span><\/td><td>the wrong &lt;key&gt;<\/td><td>([^<]+)</.exec(
        broken,
      )?.[1];
    expect(Date.parse(since ?? '')).toBeLessThanOrEqual(Date.now());
    expect(await page()).toContain(`<td>${since}</td>`);
    probed = async () => ({ ok: true, warning: 'ends in 3 days' });
    expect(await page()).toContain('Ready, with 1 warning.');
    probed = async () => ({ ok: true });
    expect(await page()).toContain('All is well.');
  });

  it('shows a part that cannot be read with the reason, and its text as text', async () => {
    section = async () => ({ columns: ['a', 'b'], rows: [['<script>', '"&']] });
    expect(await page()).toContain('<th scope="row">&lt;script&gt;</th><td>&quot;&amp;</td>');
    section = async () => {
      throw new Error('it is away');
    };
    expect(await page()).toContain('Not known now: it is away');
  });

  it('shows no secret of the configuration', async () => {
    const password = new URL(database.url).password;
    const text = await page();
    expect(text).not.toContain('postgres://');
    if (password !== '') expect(text).not.toContain(password);
  });
});

describe('real conditions', () => {
  it('of a service with sources, deliveries and a database that goes away', async () => {
    const own = await createDatabase();
    const real = await startServer({
      env: {
        ...{ AREAS: 'raadsfeed', RAADSFEED_ROL: 'aggregator', AGGREGATOR_ALLOW_PRIVATE: 'true' },
        ...{ DATABASE_CONNECT_TIMEOUT_MS: '1000' },
      },
      databaseUrl: own.url,
    });
    try {
      const read = async (): Promise<string> => await (await fetch(`${real.managementUrl}/`)).text();
      const well = await read();
      for (const title of [
        'Council feed',
        'Organisations of the feed',
        'Sources',
        'Statements that have been running',
      ]) {
        expect(well).toContain(`<h2>${title}`);
      }
      expect(well).not.toContain('Not known now');
      await own.drop();
      const started = performance.now();
      await vi.waitFor(async () => {
        const text = await read();
        expect(text).toContain('Not ready');
        expect(text).toMatch(/database<\/th><td><span class="state">failed<\/span><\/td><td>[^<]+/);
        expect(text).toContain('Not known now');
      }, PATIENT);
      expect(performance.now() - started).toBeLessThan(10_000);
    } finally {
      await real.stop();
    }
  });
});

const executable = findChromium();

describe.runIf(executable !== undefined)(inChromium(executable), () => {
  it('has no finding of axe, at 320 pixels either', async () => {
    const browser = await launchChromium(executable ?? '');
    try {
      const view = await browser.newPage({ bypassCSP: true, viewport: { width: 320, height: 800 } });
      await view.goto(`${server.managementUrl}/`);
      await view.evaluate(readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
      const findings = await view.evaluate(`axe.run().then(({ violations }) => violations.map(({ id }) => id))`);
      expect(findings).toEqual([]);
      const widths = await view.evaluate('[document.documentElement.scrollWidth, innerWidth]');
      expect(widths).toEqual([320, 320]);
      const shot = process.env.OPERATOR_SCREENSHOT;
      if (shot !== undefined) await view.screenshot({ path: shot, fullPage: true });
      await view.close();
    } finally {
      await browser.close();
    }
  });
});
