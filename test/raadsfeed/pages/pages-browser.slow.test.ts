/**
 * The pages in a real Chromium: accessibility (axe-core), keyboard only, 320 pixels, without script. Without Chromium, the title says so.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findChromium, inChromium } from '../../../scripts/chromium.ts';
import { axeFindings, sharedChromium } from '../../support/chromium.ts';
import { agendapunt, document, removal, vergadering } from '../support.ts';
import { behindItsSource, type PagesServer, realMeeting, startPages } from './pages-fixture.ts';

const executable = findChromium();
/** Every page, in every state. */
const PATHS = [
  '',
  '/gm0363',
  '/gm0363?gremium=4972',
  '/gm9901?maand=2026-05',
  '/gm9901?maand=2020-01',
  '/gm9902',
  '/gm0363/vergaderingen/meeting-458902',
  '/gm9901/vergaderingen/boom',
  '/gm9901/vergaderingen/leeg',
  '/gm0363/informatieobjecten/document-6160186',
  '/gm9901/informatieobjecten/kaal',
  '/zoeken?organisatie=gm0363&soort=informatieobjecten',
  '/zoeken',
  '/zoeken?q=brief',
  '/zoeken?q=nietsditvindt',
  '/zoeken?soort=iets',
  '/gm9901/informatieobjecten/weg',
  '/gm9901/agendapunten/ingetrokken',
  '/gm9901/bestaat/niet',
];
/** Pages whose layout differs on a wide screen in more than the columns. */
const WIDE = ['/gm9901?maand=2026-05', '/zoeken?q=brief'];

describe.runIf(executable !== undefined)(inChromium(executable), () => {
  let pages: PagesServer;
  let browser: Browser;
  /** Faults that a script or the policy reported on the open page. */
  let faults: string[] = [];
  let page: Page;
  beforeAll(async () => {
    const theme = join(await mkdtemp(join(tmpdir(), 'koppelvlak-theme-')), 'theme.css');
    await writeFile(theme, ':root { --utrecht-page-header-background-color: #660000; }');
    pages = await startPages({ PAGES_THEME_CSS: theme, RAADSFEED_ROL: 'aggregator' });
    await rm(dirname(theme), { recursive: true });
    browser = await sharedChromium();
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
      vergadering('leeg'),
      document('kaal', { bestandsurl: undefined, titel: '<b>Kaal</b>' }),
      document('weg'),
      agendapunt('ingetrokken', of),
      vergadering('achter', {}, { gemeente: 'gm9902', naam: 'Gemeente <i>Achter</i>' }),
    ]);
    await pages.publish([removal('redact', 'Informatieobject', 'weg'), removal('delete', 'Agendapunt', 'ingetrokken')]);
    await behindItsSource(pages);
    const context = await browser.newContext({ viewport: { width: 320, height: 900 } });
    // A busy machine is no failure.
    context.setDefaultTimeout(120_000);
    page = await context.newPage();
    watch(page);
  });
  afterAll(async () => {
    await page?.context().close();
    await pages?.stop();
  });

  function watch(one: Page): void {
    one.on('pageerror', (error) => faults.push(error.message));
    one.on('console', (message) => {
      // The browser itself reports a 404.
      if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) faults.push(message.text());
    });
  }

  /** Opens a page in a new context. */
  async function open(context: BrowserContext, path: string): Promise<Page> {
    const opened = await context.newPage();
    faults = [];
    watch(opened);
    await opened.goto(`${pages.server.url}/raad${path}`);
    return opened;
  }

  it.each(PATHS)('is accessible, and runs nothing that it should not: %s', async (path) => {
    faults = [];
    await page.goto(`${pages.server.url}/raad${path}`);
    for (const width of WIDE.includes(path) ? [1280, 320] : [320]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await axeFindings(page), `${path} ${width}`).toEqual([]);
    }
    // 1.4.10: nothing scrolls sideways at 320 pixels, which equals 400 % zoom.
    const sideways: unknown = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    expect(sideways).toBe(0);
    expect(faults).toEqual([]);
    expect(await page.title()).not.toBe('1');
    expect(await page.locator('main :is(b, i, img, script)').count(), 'hostile text as markup').toBe(
      await page.locator('main .kv-date b').count(),
    );
  });

  it('works without script, by keyboard only: to the content, a search, its first result', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await open(context, '');
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
    // 2.4.7: the focus is visible.
    const outline: unknown = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle');
    expect(outline).toBe('solid');
    await page.keyboard.press('Enter');
    await page.waitForURL(/informatieobjecten/);
    expect(await page.locator('h1').textContent()).toContain('Uitslagenlijst');
    expect(faults).toEqual([]);
    await context.close();
  });

  it('prints without its menus', async () => {
    await page.goto(`${pages.server.url}/raad/gm0363/vergaderingen/meeting-458902`);
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('header').isVisible()).toBe(false);
    expect(await page.locator('h1').isVisible()).toBe(true);
    await page.emulateMedia({ media: null });
  });

  it("prefers an organisation's theme to ours", async () => {
    await page.goto(`${pages.server.url}/raad`);
    const colour: unknown = await page.evaluate(`getComputedStyle(document.querySelector('header')).backgroundColor`);
    expect(colour).toBe('rgb(102, 0, 0)');
  });
});
