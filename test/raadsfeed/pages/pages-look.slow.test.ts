/** The look of the pages, in a real Chromium: today first, an index that stays in view, targets of links, whole words, dark colours. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findChromium, inChromium } from '../../../scripts/chromium.ts';
import { axeFindings, sharedChromium } from '../../support/chromium.ts';
import { agendapunt, document, removal, vergadering } from '../support.ts';
import { type PagesServer, startPages } from './pages-fixture.ts';

const executable = findChromium();
const PAGES_LINKS = ['toegankelijkheid', 'privacy', 'contact', 'griffie']
  .map((name) => `${name}=https://gemeente.example/${name}`)
  .join(',');
const PHONE = { width: 390, height: 844 };
const PATHS = [
  '',
  '/gm9901',
  '/gm9901/gremia',
  '/organisaties',
  '/gm9901/vergaderingen/groot',
  '/gm9901/vergaderingen/groot?deel=2',
  '/gm9901/agendapunten/p-7',
  '/gm9901/vergaderingen/groot/tekst',
  '/gm9901/informatieobjecten/stuk-3-1',
  '/gm9901/informatieobjecten/stuk-3-1/geschiedenis',
  '/zoeken?q=bestemmingsplan',
  '/zoeken?q=nietsditvindt',
  '/zoeken?soort=iets',
  '/gm9901/informatieobjecten/weg',
];

describe.runIf(executable !== undefined)(inChromium(executable), () => {
  let pages: PagesServer;
  let browser: Browser;
  /** A separate page for each test would cost as much as the test. */
  let shared: Page;
  beforeAll(async () => {
    pages = await startPages({ PAGES_LINKS }, { now: () => new Date('2026-03-10T19:00:00Z') });
    browser = await sharedChromium();
    const context = await browser.newContext();
    // A busy machine is no failure.
    context.setDefaultTimeout(120_000);
    shared = await context.newPage();
    const of = { vergadering: { bronidentificatie: 'groot' } };
    const raad = (naam: string) => ({ georganiseerddoorgremium: { gremiumidentificatie: naam, gremiumnaam: naam } });
    await pages.publishAndIndex([
      // It has begun already.
      vergadering('groot', {
        naam: 'Gemeenteraad',
        aanvang: '2026-03-10T18:30:00Z',
        vergaderstatus: 'Gepland',
        vergadertoelichting: 'Toelichting. '.repeat(400),
        ...raad('Gemeenteraad'),
      }),
      vergadering('gisteren', {
        naam: 'Raadscommissie Samenleving',
        aanvang: '2026-03-09T18:30:00Z',
        vergaderstatus: 'Afgerond',
        ...raad('Samenleving'),
      }),
      vergadering('straks', {
        naam: 'Commissie Samenlevingsvraagstukken',
        aanvang: '2026-03-17T18:30:00Z',
        vergaderstatus: 'Gepland',
        ...raad('Samenleving'),
      }),
      vergadering('vorig', { naam: 'Vorige vergadering', aanvang: '2026-02-09T18:30:00Z', vergaderstatus: 'Gepland' }),
      vergadering('af', {
        naam: 'Bestuursvergadering',
        aanvang: '2026-03-18T18:30:00Z',
        vergaderstatus: 'Geannuleerd',
      }),
      ...Array.from({ length: 60 }, (_, i) =>
        agendapunt(`p-${i}`, {
          ...of,
          agendapuntnaam: `Bestemmingsplan deelgebied ${i}`,
          volgnummer: String(i + 1),
          omschrijving: 'Een toelichting op dit punt. '.repeat(8),
          indicatiebesloten: i === 4,
          indicatiebehandeld: i === 5,
          indicatiehamerstuk: i === 6,
        }),
      ),
      ...Array.from({ length: 60 }, (_, i) =>
        [1, 2, 3, 4].map((n) =>
          document(`stuk-${i}-${n}`, {
            titel: `Raadsvoorstel bestemmingsplan deelgebied ${i}, stuk ${n}`,
            agendapunten: [{ bronidentificatie: `p-${i}` }],
            bestandsurl: `https://raad.example/${i}-${n}.pdf`,
            formaat: 'application/pdf',
            omvang: 1_200_000,
          }),
        ),
      ).flat(),
      document('weg'),
    ]);
    await pages.publishAndIndex([removal('redact', 'Informatieobject', 'weg')]);
  });
  afterAll(async () => {
    await shared?.context().close();
    await pages?.stop();
  });

  interface View {
    readonly viewport?: { readonly width: number; readonly height: number };
    readonly colorScheme?: 'dark' | 'light';
  }

  async function open(path: string, { viewport = PHONE, colorScheme = 'light' }: View = {}): Promise<Page> {
    await shared.setViewportSize(viewport);
    await shared.emulateMedia({ colorScheme });
    await shared.goto(`${pages.server.url}/raad${path}`);
    return shared;
  }

  it('shows today first on the front page, then what follows; the past is folded', async () => {
    const page = await open('');
    const headings = await page.locator('main h2, main summary').allTextContents();
    expect(headings.slice(0, 3)).toEqual(['Vandaag', 'Komende vergaderingen', 'Laatste vergaderingen']);
    expect(await page.locator('main h2:has-text("Vandaag") + ul a').allTextContents()).toEqual(['Gemeenteraad']);
    const past = page.getByRole('link', { name: 'Raadscommissie Samenleving' });
    expect(await past.isVisible()).toBe(false);
    await page.getByText('Laatste vergaderingen').click();
    expect(await past.isVisible()).toBe(true);
    // A meaningless status is hidden; a meaningful one is shown.
    const badges = await page.locator('main .kv-event .utrecht-status-badge').allTextContents();
    expect(badges.toSorted()).toEqual(['Gaat niet door', 'Gepland']);
  });

  it('begins the month with today, and folds the past', async () => {
    const page = await open('/gm9901');
    const rows = await page.locator('.kv-list .kv-event .kv-list__title').allTextContents();
    expect(rows.slice(0, 2)).toEqual(['Gemeenteraad', 'Commissie Samenlevingsvraagstukken']);
    expect(await page.getByRole('link', { name: 'Raadscommissie Samenleving' }).last().isVisible()).toBe(false);
    await page.getByText('Eerder deze maand').click();
    expect(await page.getByRole('link', { name: 'Raadscommissie Samenleving' }).last().isVisible()).toBe(true);
  });

  it('keeps an index of the items in view on a phone, and leads to each of 60 items, which is in view and marked', async () => {
    const context = await browser.newContext({ viewport: PHONE, javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${pages.server.url}/raad/gm9901/vergaderingen/groot`);
    const index = page.locator('.kv-index summary');
    expect(await page.locator('.kv-index li').count()).toBe(60);
    for (const number of [3, 20, 41, 60]) {
      await index.click();
      await page
        .locator('.kv-index li a')
        .nth(number - 1)
        .click();
      const item = page.locator('.kv-agenda li:target > .kv-item');
      await item.waitFor();
      expect(await item.locator('.kv-item__number').textContent()).toBe(String(number));
      // Whether the index was left open, or the item is on another part: both are in view, without overlap.
      const [bar, box] = [await page.locator('.kv-index').boundingBox(), await item.boundingBox()];
      expect(bar?.y, String(number)).toBeGreaterThanOrEqual(-1);
      expect(bar?.y, String(number)).toBeLessThan(PHONE.height / 2);
      expect(box?.y, String(number)).toBeGreaterThanOrEqual((bar?.y ?? 0) + (bar?.height ?? 0) - 1);
      expect(box?.y, String(number)).toBeLessThan(PHONE.height);
      if (await page.locator('.kv-index[open]').count()) await index.click();
    }
    await context.close();
  });

  it('marks the target of a link, with more than a colour', async () => {
    const page = await open('/zoeken?q=deelgebied+41&soort=agendapunten');
    await page.locator('.kv-list__title a', { hasText: 'deelgebied 41' }).first().click();
    await page.waitForURL(/agendapunten\/p-41$/);
    expect(await page.locator('h1').textContent()).toBe('Bestemmingsplan deelgebied 41');
    expect(await page.locator('#documenten + ul li').count()).toBe(4);
    await page.getByText('Toon dit punt in de agenda').click();
    await page.waitForURL(/#punt-p-41$/);
    const look = async (selector: string): Promise<unknown> =>
      await page.evaluate(
        `(({ outlineStyle, backgroundColor }) => [outlineStyle, backgroundColor])(getComputedStyle(document.querySelector('${selector}')))`,
      );
    expect(await look('#punt-p-41 > .kv-item')).toEqual(['solid', 'rgb(255, 244, 214)']);
    expect(await look('#punt-p-40 > .kv-item')).toEqual(['none', 'rgba(0, 0, 0, 0)']);
  });

  it('has the search box beside its label', async () => {
    for (const viewport of [PHONE, { width: 1440, height: 900 }]) {
      const page = await open('/zoeken?q=bestemmingsplan', { viewport });
      const box = await page.locator('#komend').boundingBox();
      const words = await page.locator('label[for="komend"]').boundingBox();
      expect(box?.width).toBe(24);
      expect(words?.x).toBe((box?.x ?? 0) + 24 + 8);
      expect(Math.abs((words?.y ?? 0) - (box?.y ?? 0))).toBeLessThan(24);
    }
  });

  it('has the file beside each title of a document', async () => {
    for (const [path, row] of [
      ['', '.kv-columns .kv-list li'],
      ['/gm9901/vergaderingen/groot', '.kv-docs li'],
      ['/gm9901/agendapunten/p-7', '#documenten + ul li'],
      ['/zoeken?soort=informatieobjecten', 'ol.kv-list li'],
    ] as const) {
      const page = await open(path);
      const file = page.locator(row, { has: page.locator('a[href^="https://raad.example/"]') }).first();
      const links = await file.locator('a').evaluateAll((all) => all.map((one) => String(one.getAttribute('href'))));
      expect(links, path).toEqual([
        expect.stringContaining('/informatieobjecten/stuk-'),
        expect.stringMatching(/^https:\/\/raad\.example\/.*\.pdf$/),
      ]);
      expect(await file.locator('a').nth(1).textContent()).toMatch(/^PDF, 1,2\u00a0MB$/);
    }
  });

  it.each([900, 1024, 1280, 1440])(
    'hyphenates calendar words only between their parts, at %d pixels',
    async (width) => {
      const page = await open('/gm9901', { viewport: { width, height: 900 } });
      const broken: unknown = await page.evaluate(`[...document.querySelectorAll('.kv-calendar li a')].flatMap((link) =>
      [...link.textContent.matchAll(/[^\\s\\u00ad]+/g)].filter(({ 0: word, index }) => {
        // The hyphen of a part before it is in the first rectangle of the next part.
        const lineOf = (at) => {
          const range = document.createRange();
          range.setStart(link.firstChild, at);
          range.setEnd(link.firstChild, at + 1);
          return Math.round([...range.getClientRects()].at(-1).top);
        };
        return lineOf(index) !== lineOf(index + word.length - 1);
      }).map(([word]) => word))`);
      expect(broken).toEqual([]);
      expect(await page.locator('.kv-calendar li a').count()).toBe(4);
      expect(await page.locator('.kv-calendar [aria-current="date"] .kv-calendar__day').textContent()).toBe(
        '10 vandaag',
      );
    },
  );

  it.each(PATHS)('is accessible in dark colours, which it uses when preferred: %s', async (path) => {
    const page = await open(path, { colorScheme: 'dark' });
    const colour: unknown = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(colour).toBe('rgb(18, 26, 34)');
    await page.evaluate(`document.querySelectorAll('details').forEach((one) => { one.open = true; })`);
    expect(await axeFindings(page, ['light', 'dark'])).toEqual([]);
    const sideways: unknown = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    expect(sideways).toBe(0);
  });

  it.each(['', '/gm9901/agendapunten/p-7', '/gm9901/informatieobjecten/weg', '/zoeken?soort=iets'])(
    'has the responsible organisation and the interfaces at the foot of every page: %s',
    async (path) => {
      const page = await open(path);
      const footer = page.getByRole('contentinfo');
      expect(await footer.getByRole('link').allTextContents()).toEqual([
        ...['Toegankelijkheid', 'Privacy', 'Contact', 'Griffie'],
        'Dezelfde gegevens voor programma’s',
        'Beschrijving voor programmeurs',
        'Organisaties als CSV',
      ]);
      const duties = footer.getByRole('navigation', { name: 'Over deze pagina’s' }).getByRole('link');
      for (const link of await duties.all()) {
        expect(await link.isVisible()).toBe(true);
        expect(await link.getAttribute('href')).toMatch(/^https:\/\/gemeente\.example\/\w+$/);
      }
    },
  );

  it('redirects a browser from the address of the service to the pages', async () => {
    const page = await open('');
    await page.goto(pages.server.url);
    expect(await page.getByRole('contentinfo').getByRole('link').allTextContents()).toContain('Toegankelijkheid');
    await page.getByRole('link', { name: 'Raadsinformatie' }).click();
    await page.waitForURL(/\/raad$/);
    expect(await page.locator('h1').textContent()).toBe('Raadsinformatie');
  });
});
