/** The descriptions of the interfaces as pages, in a real Chromium: without script, on a phone, and with assistive technology. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findChromium, inChromium } from '../../../scripts/chromium.ts';
import { isRecord } from '../../../src/lib/json/json-value.ts';
import { openSupplier, type Supplier } from '../../gegevens/support/supplier.ts';
import { axeFindings, sharedChromium } from '../../support/chromium.ts';
import { htmlFaults } from '../../support/html.ts';

const executable = findChromium();
const MOUNTS = ['/shv/v1', '/vs/v1', '/verwerkingenlog/v1', '/ori/v1', '/ldv/v1', '/proof/v1'];
const PHONE = { width: 320, height: 740 };

/** The contents of a page, read in one go because each call to a browser is expensive. */
interface Shown {
  readonly heading: string;
  readonly text: string;
  readonly ids: readonly string[];
  /** Texts of the third-level headings, by id. */
  readonly headings: Readonly<Record<string, string>>;
  /** Targets of the links within the page, with the `#`. */
  readonly targets: readonly string[];
}
const SHOWN = `((all) => ({
  heading: document.querySelector('h1').textContent,
  text: document.querySelector('main').textContent,
  ids: all('[id]').map(({ id }) => id),
  headings: Object.fromEntries(all('h3').map(({ id, textContent }) => [id, textContent])),
  targets: all('a[href^="#"]').map((link) => link.getAttribute('href')),
}))((selector) => [...document.querySelectorAll(selector)])`;

describe.runIf(executable !== undefined)(inChromium(executable), () => {
  let directory: string;
  let supplier: Supplier;
  /** Without script, and with it. */
  let still: Page;
  let scripted: Page;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'koppelvlak-api-page-'));
    writeFileSync(join(directory, 'witnesses'), 'quorum none\n');
    supplier = await openSupplier({
      env: {
        AREAS: 'shv,vs,verwerkingenlog,raadsfeed',
        VERWERKINGENLOG_KEY: `een:${Buffer.alloc(32, 1).toString('base64')}`,
        PROOF_KEY: Buffer.alloc(32, 9).toString('base64'),
        PROOF_STATE: join(directory, 'state.json'),
        PROOF_WITNESSES: join(directory, 'witnesses'),
        PAGES_LINKS: 'contact=https://gemeente.example/contact',
      },
    });
    const browser = await sharedChromium();
    still = await browser.newPage({ viewport: PHONE, javaScriptEnabled: false });
    scripted = await browser.newPage({ viewport: PHONE });
  });
  afterAll(async () => {
    for (const page of [still, scripted]) await page?.context().close();
    await supplier?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it.each(MOUNTS)('has every operation, schema and sentence of the contract, without script: %s', async (mount) => {
    await still.goto(`${supplier.server.url}${mount}/docs`);
    const shown = await still.evaluate<Shown>(SHOWN);
    const contract: unknown = await (await fetch(`${supplier.server.url}${mount}/openapi.json`)).json();
    const { paths, components, info } = Object(contract);
    expect(shown.heading).toBe(`${info.title} ${info.version}`);
    const squeezed = shown.text.replaceAll(/\s+/g, ' ');
    const countOf = (id: string): number => shown.ids.filter((one) => one === id).length;
    const said: string[] = [];
    for (const [path, item] of Object.entries(Object(paths)))
      for (const [method, operation] of Object.entries(Object(item)))
        if (isRecord(operation) && operation.operationId !== undefined) {
          expect(shown.headings[String(operation.operationId)]).toContain(`${method.toUpperCase()} ${path}`);
          said.push(String(operation.summary), String(operation.description ?? ''));
        }
    for (const [name, schema] of Object.entries(Object(components.schemas))) {
      const anchor = `schema-${name.replaceAll('.', '-')}`;
      expect([shown.headings[anchor], countOf(anchor)], name).toEqual([expect.any(String), 1]);
      said.push(String(Object(schema).description ?? ''));
    }
    // As rendered: without Markdown syntax.
    for (const sentence of said.flatMap((one) => one.split(/\n\n|\n- |\n\|.*/)))
      expect(squeezed).toContain(
        sentence
          .replaceAll(/[`]|\*\*|^- /g, '')
          .replaceAll(/\s+/g, ' ')
          .trim(),
      );
    // Every link within the page has a target.
    expect(shown.targets.length).toBeGreaterThan(2);
    for (const target of new Set(shown.targets)) expect(countOf(target.slice(1)), target).toBe(1);
  });

  it.each([...MOUNTS.map((mount) => `${mount}/docs`), '/'])(
    'is accessible in light and dark colours, valid, and no wider than a phone: %s',
    async (path) => {
      const page = scripted;
      const answer = await page.goto(supplier.server.url + path);
      expect(await axeFindings(page, ['light', 'dark'])).toEqual([]);
      const sideways: unknown = await page.evaluate(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect(sideways).toBe(0);
      expect(await htmlFaults((await answer?.text()) ?? '')).toEqual([]);
      expect(await page.getByRole('contentinfo').getByRole('link').allTextContents()).toEqual(['Contact']);
    },
  );

  it('links to Swagger UI, which calls the interface itself, and only with safe methods', async () => {
    const page = scripted;
    await page.goto(`${supplier.server.url}/ori/v1/docs`);
    await page.getByRole('link', { name: 'Uitproberen met Swagger UI' }).click();
    await page.waitForURL(/\/ori\/v1\/docs\/swagger/);
    await page.locator('#operations-feed-getServicedocument .opblock-summary-control').click();
    await page.getByRole('button', { name: 'Try it out' }).click();
    await page.getByRole('button', { name: 'Execute' }).click();
    await expect
      .poll(() => page.locator('.live-responses-table .response .response-col_status').first().textContent())
      .toMatch(/^200/);
    await page.goto(`${supplier.server.url}/ldv/v1/docs/swagger`);
    await page.locator('.opblock-post .opblock-summary-control').first().click();
    await page.locator('.opblock-post .opblock-body').first().waitFor();
    expect(await page.getByRole('button', { name: 'Try it out' }).count()).toBe(0);
  });
});
