/** The pages in a real Chromium: accessibility (axe-core), keyboard alone, 320 pixels, without script. Where there is no Chromium, the title says so. */

import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findChromium, inChromium, launchChromium } from '../../scripts/chromium.ts';
import { isRecord } from '../../src/kernel/json-value.ts';
import { type PagesServer, realMeeting, startPages } from './pages-fixture.ts';
import { agendapunt, document, removal, vergadering } from './support.ts';

const executable = findChromium();
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PATHS = [
  '',
  '/gm0363',
  '/gm9901?maand=2026-05',
  '/gm0363/vergaderingen/meeting-458902',
  '/gm9901/vergaderingen/boom',
  '/gm0363/informatieobjecten/document-6160186',
  '/gm0363/informatieobjecten',
  '/zoeken?q=brief',
  '/zoeken?q=nietsditvindt',
  '/zoeken?soort=iets',
  '/gm9901/informatieobjecten/weg',
  '/gm9901/bestaat/niet',
];

describe.runIf(executable !== undefined)(inChromium(executable), () => {
  let pages: PagesServer;
  let browser: Browser;
  beforeAll(async () => {
    const theme = join(await mkdtemp(join(tmpdir(), 'koppelvlak-theme-')), 'theme.css');
    await writeFile(theme, ':root { --utrecht-page-header-background-color: #660000; }');
    pages = await startPages({ PAGES_THEME_CSS: theme });
    await rm(dirname(theme), { recursive: true });
    browser = await launchChromium(executable ?? '');
    const of = { vergadering: { bronidentificatie: 'boom' } };
    await pages.publishAndIndex([
      ...realMeeting(),
      vergadering('boom', {
        naam: 'Raad <img src=x onerror="document.title=1">',
        aanvang: '2026-05-05T18:00:00Z',
        vergaderstatus: 'Geannuleerd',
        locatie: 'EenHeelLangWoord'.repeat(12),
      }),
      agendapunt('b-1', {
        ...of,
        agendapuntnaam: 'Opening',
        volgnummer: '1',
        indicatiebehandeld: true,
        omschrijving: 'Tekst',
      }),
      agendapunt('b-1a', {
        ...of,
        agendapuntnaam: 'Geheim',
        volgnummer: '1a',
        indicatiebesloten: true,
        hoofdagendapunt: { bronidentificatie: 'b-1' },
      }),
      document('weg'),
    ]);
    await pages.publish([removal('redact', 'Informatieobject', 'weg')]);
  });
  afterAll(async () => {
    await browser?.close();
    await pages?.stop();
  });

  /** Opens a page and notes what goes wrong in it: errors of scripts, and what the policy refuses. */
  async function open(context: BrowserContext, path: string): Promise<{ page: Page; faults: string[] }> {
    const page = await context.newPage();
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => {
      // The browser itself reports the status of a page that is not there.
      if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) faults.push(message.text());
    });
    await page.goto(`${pages.server.url}/raad${path}`);
    return { page, faults };
  }

  it.each(PATHS)('is accessible, and runs nothing that it should not: %s', async (path) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    const { page, faults } = await open(context, path);
    for (const width of path.includes('maand') || path.includes('zoeken?q=brief') ? [1280, 320] : [320]) {
      await page.setViewportSize({ width, height: 900 });
      await page.evaluate(AXE);
      const found: unknown = await page.evaluate(
        `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })`,
      );
      const violations = isRecord(found) && Array.isArray(found.violations) ? found.violations.filter(isRecord) : [{}];
      expect(
        violations.map(({ id, nodes }) => `${path} ${width}: ${String(id)} ${JSON.stringify(nodes).slice(0, 400)}`),
      ).toEqual([]);
    }
    // 1.4.10: nothing scrolls sideways at 320 pixels, which is also 400 % zoom.
    const sideways: unknown = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    expect(sideways).toBe(0);
    expect(faults).toEqual([]);
    expect(await page.title()).not.toBe('1');
    await context.close();
  });

  it('works without script, by keyboard alone: to the content, a search, its first result', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const { page, faults } = await open(context, '');
    await page.keyboard.press('Tab');
    await expect.poll(() => page.locator(':focus').textContent()).toBe('Naar de inhoud');
    expect((await page.locator(':focus').boundingBox())?.y).toBeGreaterThanOrEqual(0);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').getAttribute('name')).toBe('q');
    await page.keyboard.type('uitslagenlijst');
    await page.keyboard.press('Enter');
    await page.waitForURL(/zoeken\?q=uitslagenlijst/);
    const first = page.locator('.kv-list a').first();
    expect(await first.innerHTML()).toContain('<mark');
    let reached = false;
    for (let i = 0; i < 40 && !reached; i += 1) {
      await page.keyboard.press('Tab');
      reached = (await page.locator('.kv-list a:focus').count()) > 0;
    }
    expect(reached).toBe(true);
    // 2.4.7: where the focus is can be seen.
    const outline: unknown = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle');
    expect(outline).toBe('solid');
    await page.keyboard.press('Enter');
    await page.waitForURL(/informatieobjecten/);
    expect(await page.locator('h1').textContent()).toContain('Uitslagenlijst');
    expect(faults).toEqual([]);
    await context.close();
  });

  it('prints without its menus', async () => {
    const context = await browser.newContext();
    const { page } = await open(context, '/gm0363/vergaderingen/meeting-458902');
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('header').isVisible()).toBe(false);
    expect(await page.locator('h1').isVisible()).toBe(true);
    await context.close();
  });

  it('takes the theme of an organisation over ours', async () => {
    const context = await browser.newContext();
    const { page } = await open(context, '');
    const colour: unknown = await page.evaluate(`getComputedStyle(document.querySelector('header')).backgroundColor`);
    expect(colour).toBe('rgb(102, 0, 0)');
    await context.close();
  });
});
