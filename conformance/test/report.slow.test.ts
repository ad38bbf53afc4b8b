/** The report of a run in Chromium and on paper, with failures of every kind. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findChromium, inChromium } from '../../scripts/chromium.ts';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { sharedChromium } from '../../test/support/chromium.ts';
import { htmlFaults } from '../../test/support/html.ts';
import { type ExampleSupplier, startExampleSupplier } from './example-supplier.ts';
import { callConformance } from './program.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const AXE_RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const executable = findChromium();

describe.skipIf(executable === undefined)(`the report of a run, ${inChromium(executable)}`, () => {
  let supplier: ExampleSupplier;
  let page: Page;
  let path: string;
  beforeAll(async () => {
    supplier = await startExampleSupplier();
    const { requester, supplier: other } = supplier.authority;
    // The wrong roots: the answer's chain leads elsewhere.
    const words = ['--key', requester.key, '--chain', requester.chain, '--trust', other.certificate];
    await callConformance(
      ['gegevens', supplier.url('shv'), '--variant', 'shv', ...words, '--token-file', supplier.tokenFile].concat([
        '--only',
        'A-JWS',
        'A-ACC',
        'A-REQ-12',
        '--rate',
        '100',
        '--report',
        'verslag',
      ]),
      {},
      { cwd: supplier.dir },
    );
    path = join(supplier.dir, 'verslag/report.html');
    page = await (await sharedChromium()).newPage();
    await page.goto(pathToFileURL(path).href);
  });
  afterAll(async () => {
    await page?.context().close();
    await supplier?.close();
  });

  it('has failures, skipped cases and observations, and is valid HTML', async () => {
    const text = readFileSync(path, 'utf8');
    expect(text).toContain('A-JWS-20, must: The chain leads to a trusted root certificate');
    expect(text).toContain('skipped');
    expect(await htmlFaults(text)).toEqual([]);
  });

  it('has no axe finding, even with everything opened, and does not scroll sideways at 320 pixels', async () => {
    await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
    // The page's own policy blocks scripts, so axe runs beside the page.
    await page.evaluate(AXE);
    const found: unknown = await page.evaluate(`axe.run({ runOnly: ${JSON.stringify(AXE_RULES)} })`);
    const violations = isRecord(found) && Array.isArray(found.violations) ? found.violations.filter(isRecord) : [{}];
    expect(violations.map(({ id, nodes }) => `${String(id)} ${JSON.stringify(nodes).slice(0, 400)}`)).toEqual([]);
    await page.setViewportSize({ width: 320, height: 800 });
    const sideways = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await page.evaluate(sideways)).toBe(0);
  });

  it('prints sections that are folded on a screen', async () => {
    await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = false");
    await page.emulateMedia({ media: 'print' });
    const shown =
      "[...document.querySelectorAll('details pre')].every((one) => one.getBoundingClientRect().height > 0)";
    expect(await page.evaluate(shown)).toBe(true);
    expect((await page.pdf({ format: 'A4' })).length).toBeGreaterThan(10_000);
  });
});
