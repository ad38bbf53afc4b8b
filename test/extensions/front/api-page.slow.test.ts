/** The descriptions of the interfaces as pages, in a real Chromium: without script, on a telephone, for who uses assistive technology. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HtmlValidate } from 'html-validate';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findChromium, inChromium, launchChromium } from '../../../scripts/chromium.ts';
import { isRecord } from '../../../src/lib/json/json-value.ts';
import { openSupplier, type Supplier } from '../../gegevens/support/supplier.ts';

const executable = findChromium();
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const MOUNTS = [
  '/shv/v1',
  '/vs/v1',
  '/verwerkingenlog/v1',
  '/ori/v1',
  '/ldv/v1',
  '/ldv/v1/data-processing-operations',
  '/proof/v1',
];
const PHONE = { width: 320, height: 740 };

describe.runIf(executable !== undefined)(inChromium(executable), () => {
  let directory: string;
  let supplier: Supplier;
  let browser: Browser;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'koppelvlak-api-page-'));
    writeFileSync(join(directory, 'witnesses'), 'quorum none\n');
    supplier = await openSupplier({
      env: {
        ...{ AREAS: 'shv,vs,verwerkingenlog,raadsfeed', LDV_READ: 'true' },
        VERWERKINGENLOG_KEY: `een:${Buffer.alloc(32, 1).toString('base64')}`,
        ...{ PROOF_KEY: Buffer.alloc(32, 9).toString('base64'), PROOF_STATE: join(directory, 'state.json') },
        ...{ PROOF_WITNESSES: join(directory, 'witnesses') },
        PAGES_LINKS: 'contact=https://gemeente.example/contact',
      },
    });
    browser = await launchChromium(executable ?? '');
  });
  afterAll(async () => {
    await browser?.close();
    await supplier?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  async function open(path: string, javaScriptEnabled = false): Promise<Page> {
    const context = await browser.newContext({ viewport: PHONE, javaScriptEnabled });
    const page = await context.newPage();
    await page.goto(supplier.server.url + path);
    return page;
  }

  it.each(MOUNTS)('has every operation, schema and sentence of the contract, without script: %s', async (mount) => {
    const page = await open(`${mount}/docs`);
    const contract: unknown = await (await fetch(`${supplier.server.url}${mount}/openapi.json`)).json();
    const { paths, components, info } = Object(contract);
    const text = await page.locator('main').textContent();
    expect(await page.locator('h1').textContent()).toBe(`${info.title} ${info.version}`);
    const squeezed = (text ?? '').replaceAll(/\s+/g, ' ');
    const said: string[] = [];
    for (const [path, item] of Object.entries(Object(paths)))
      for (const [method, operation] of Object.entries(Object(item)))
        if (isRecord(operation) && operation.operationId !== undefined) {
          expect(await page.locator(`h3[id="${operation.operationId}"]`).textContent()).toContain(
            `${method.toUpperCase()} ${path}`,
          );
          said.push(String(operation.summary), String(operation.description ?? ''));
        }
    for (const [name, schema] of Object.entries(Object(components.schemas))) {
      expect(await page.locator(`h3[id="schema-${name}"]`).count(), name).toBe(1);
      said.push(String(Object(schema).description ?? ''));
    }
    // As it reads: without the marks of Markdown.
    for (const sentence of said.flatMap((one) => one.split(/\n\n|\n- |\n\|.*/)))
      expect(squeezed).toContain(
        sentence
          .replaceAll(/[`]|\*\*|^- /g, '')
          .replaceAll(/\s+/g, ' ')
          .trim(),
      );
    // Every link within the page leads somewhere.
    const targets = await page
      .locator('a[href^="#"]')
      .evaluateAll((links) => links.map((link) => String(link.getAttribute('href'))));
    expect(targets.length).toBeGreaterThan(2);
    for (const target of new Set(targets))
      expect(await page.locator(`[id="${target.slice(1)}"]`).count(), target).toBe(1);
    await page.context().close();
  });

  it.each([...MOUNTS.map((mount) => `${mount}/docs`), '/'])(
    'is accessible in light and dark colours, valid, and no wider than a telephone: %s',
    async (path) => {
      const page = await open(path, true);
      await page.evaluate(AXE);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        const found: unknown = await page.evaluate(
          `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], resultTypes: ['violations'] })
            .then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes.map(({ html }) => html).join(' ').slice(0, 400)))`,
        );
        expect(found, colorScheme).toEqual([]);
      }
      const sideways: unknown = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect(sideways).toBe(0);
      const answer = await fetch(supplier.server.url + path, { headers: { accept: 'text/html' } });
      const { results } = await new HtmlValidate({
        extends: ['html-validate:recommended', 'html-validate:a11y'],
        rules: { 'no-trailing-whitespace': 'off', 'long-title': 'off', 'no-inline-style': 'off' },
      }).validateString(await answer.text());
      expect(results.flatMap(({ messages }) => messages.map(({ ruleId, message }) => `${ruleId} ${message}`))).toEqual(
        [],
      );
      expect(await page.getByRole('contentinfo').getByRole('link').allTextContents()).toEqual(['Contact']);
      await page.context().close();
    },
  );

  it('leads to Swagger UI, which asks the interface itself, and only what changes nothing', async () => {
    const page = await open('/ori/v1/docs', true);
    await page.getByRole('link', { name: 'Uitproberen met Swagger UI' }).click();
    await page.waitForURL(/\/ori\/v1\/docs\/swagger/);
    await page.locator('#operations-feed-getServicedocument .opblock-summary-control').click();
    await page.getByRole('button', { name: 'Try it out' }).click();
    await page.getByRole('button', { name: 'Execute' }).click();
    await expect
      .poll(() => page.locator('.live-responses-table .response .response-col_status').first().textContent())
      .toMatch(/^200/);
    await page.goto(`${supplier.server.url}/verwerkingenlog/v1/docs/swagger`);
    await page.locator('.opblock-post .opblock-summary-control').first().click();
    await page.locator('.opblock-post .opblock-body').first().waitFor();
    expect(await page.getByRole('button', { name: 'Try it out' }).count()).toBe(0);
    await page.context().close();
  });
});
