/**
 * People's tasks, done as they do them, in a real Chromium: a citizen with a street, a journalist, a council member on a phone, a clerk.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findChromium, inChromium } from '../../../scripts/chromium.ts';
import { sharedChromium } from '../../support/chromium.ts';
import { agendapunt, document, removal, vergadering } from '../support.ts';
import { type PagesServer, startPages } from './pages-fixture.ts';

const executable = findChromium();
const PHONE = { width: 360, height: 740 };
const PDF = 'https://raad.example/bestand/';
/** The rest of a council's publications. */
const OTHER = ['Begroting', 'Verkeersbesluit', 'Jeugdhulp'];

describe.runIf(executable !== undefined)(inChromium(executable), () => {
  let now = new Date('2023-03-01T09:00:00Z');
  let pages: PagesServer;
  let browser: Browser;
  beforeAll(async () => {
    pages = await startPages({}, { now: () => now });
    browser = await sharedChromium();
  });
  afterAll(async () => {
    await pages?.stop();
  });

  async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext(options);
    // The files are at the supplier, which no test contacts.
    await context.route(`${PDF}**`, (route) => route.fulfill({ contentType: 'text/plain', body: 'Het bestand' }));
    const page = await context.newPage();
    await page.goto(`${pages.server.url}/raad${path}`);
    return page;
  }

  const paper = (id: string, titel: string, more: object = {}): object =>
    document(id, { titel, bestandsurl: `${PDF}${id}.pdf`, formaat: 'application/pdf', ...more });

  /** A feed, with its entries as a feed reader reads them. */
  async function readFeed(page: Page, address: string): Promise<{ ids: string[]; next: string | undefined }> {
    const answer = await fetch(address);
    expect(answer.status, address).toBe(200);
    const read = `((xml) => {
      const feed = new DOMParser().parseFromString(xml, 'application/xml');
      const next = feed.querySelector('feed > link[rel=next]');
      return [[...feed.querySelectorAll('entry > id')].map((id) => id.textContent), next?.getAttribute('href') ?? ''];
    })(${JSON.stringify(await answer.text())})`;
    const [ids, next]: [string[], string] = await page.evaluate(read);
    return { ids, next: next === '' ? undefined : next };
  }

  it('shows a journalist who follows one dossier every document of three years, including one of today with an old date', async () => {
    const known = new Set<string>();
    const published: string[] = [];
    await pages.publishAndIndex([vergadering('begin', { aanvang: '2023-03-01T18:00:00Z' })]);
    const page = await open('/zoeken?q=Stationsgebied&soort=informatieobjecten');
    const address = await page.locator('head link[type="application/atom+xml"]').getAttribute('href');
    const feed = new URL(address ?? '', pages.server.url).href;
    /** From the newest on, until an entry that was read before. */
    const follow = async (): Promise<number> => {
      let parts = 0;
      for (let next: string | undefined = feed; next !== undefined; parts += 1) {
        const found = await readFeed(page, next);
        next = found.ids.some((id) => known.has(id)) ? undefined : found.next;
        for (const id of found.ids) known.add(id);
      }
      return parts;
    };
    const heard = (): string[] => [...known].map((id) => id.replace(/^.*:/, '')).toSorted();

    for (let month = 0; month < 36; month += 1) {
      now = new Date(Date.UTC(2023, 2 + month, 2, 9));
      const ids = [0, 1, 2, 3].map((i) => `station-${month}-${i}`);
      // Suppliers give dates in any order, including future ones.
      const dates = ['2019-05-01', now.toISOString().slice(0, 10), '1999-12-31', '2027-01-01'];
      await pages.publishAndIndex([
        ...ids.map((id, i) => paper(id, `Stationsgebied, stuk ${id}`, { datumingediend: dates[i] })),
        ...OTHER.map((titel, i) => paper(`ander-${month}-${i}`, titel)),
        // An old one is corrected: nothing new.
        ...(month === 0
          ? []
          : [paper('station-0-0', 'Stationsgebied, stuk station-0-0', { auteur: `Versie ${month}` })]),
      ]);
      published.push(...ids);
      // After half a year away, it is more than one part of the feed.
      if (month % 18 === 17) expect(await follow()).toBeGreaterThan(1);
    }
    expect(heard()).toEqual(published.toSorted());

    now = new Date('2026-03-10T09:00:00Z');
    await pages.publishAndIndex([
      paper('station-laat', 'Stationsgebied, oude brief', { datumingediend: '2021-06-01' }),
    ]);
    expect((await readFeed(page, feed)).ids[0]).toMatch(/:station-laat$/);
    await follow();
    expect(heard()).toEqual([...published, 'station-laat'].toSorted());
    await page.goto(`${pages.server.url}/raad`);
    const first = page.locator('main h2:has-text("Nieuwe documenten") + ul li').first();
    expect(await first.textContent()).toMatch(/oude brief.*1 juni 2021/s);
    await page.context().close();
  });

  it('leads a citizen from the front page to the item about the street, and to its document', async () => {
    now = new Date('2026-03-10T09:00:00Z');
    await pages.publishAndIndex([
      vergadering('wonen', { naam: 'Commissie Wonen', aanvang: '2026-03-17T18:30:00Z' }),
      agendapunt('laan', { agendapuntnaam: 'Herinrichting Lindelaan', vergadering: { bronidentificatie: 'wonen' } }),
      agendapunt('rest', { agendapuntnaam: 'Rondvraag', vergadering: { bronidentificatie: 'wonen' } }),
      paper('laan-plan', 'Ontwerp met parkeerplaatsen', { agendapunten: [{ bronidentificatie: 'laan' }] }),
    ]);
    const page = await open('', { javaScriptEnabled: false });
    await page.getByRole('searchbox').fill('lindelaan');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Herinrichting Lindelaan' }).click();
    expect(await page.locator('h1').textContent()).toBe('Herinrichting Lindelaan');
    expect(await page.locator('main').textContent()).toMatch(/Commissie Wonen.*17 maart 2026/s);
    await page.getByRole('link', { name: 'Ontwerp met parkeerplaatsen' }).click();
    await page.getByRole('link', { name: /^Open het bestand/ }).click();
    await page.waitForURL(`${PDF}laan-plan.pdf`);
    expect(await page.locator('body').textContent()).toBe('Het bestand');
    await page.context().close();
  });

  it('leads a council member on a phone by the index to the document of item 47 of 60, and back again', async () => {
    const items = Array.from({ length: 60 }, (_, i) => i + 1);
    await pages.publishAndIndex([
      vergadering('raad', { naam: 'Gemeenteraad', aanvang: '2026-03-10T18:30:00Z' }),
      ...items.flatMap((number) => [
        agendapunt(`r-${number}`, {
          agendapuntnaam: `Raadsvoorstel ${number}`,
          volgnummer: String(number),
          vergadering: { bronidentificatie: 'raad' },
          omschrijving: 'Het college stelt voor. '.repeat(15),
        }),
        ...[1, 2, 3].map((n) =>
          paper(`r-${number}-${n}`, `Bijlage ${n} bij voorstel ${number}`, {
            agendapunten: [{ bronidentificatie: `r-${number}` }],
          }),
        ),
      ]),
    ]);
    const page = await open('', { viewport: PHONE, hasTouch: true, isMobile: true, javaScriptEnabled: false });
    await page.getByRole('link', { name: 'Gemeenteraad' }).tap();
    await page.locator('.kv-index summary').tap();
    await page.locator('.kv-index li a', { hasText: 'Raadsvoorstel 47' }).tap();
    const item = page.locator('#punt-r-47 > .kv-item');
    const isInView = async (): Promise<void> => {
      // A browser going back restores the scroll position some time after loading.
      await expect
        .poll(async () => {
          const { y = -1 } = (await item.boundingBox()) ?? {};
          return y >= 0 && y < PHONE.height;
        })
        .toBe(true);
    };
    await isInView();
    await item.getByRole('link', { name: 'Bijlage 2 bij voorstel 47' }).tap();
    expect(await page.locator('h1').textContent()).toBe('Bijlage 2 bij voorstel 47');
    // Back with the browser, and by the links of the page.
    await page.goBack();
    await isInView();
    await page.goForward();
    await page.getByRole('link', { name: 'Raadsvoorstel 47' }).tap();
    await page.getByRole('link', { name: 'Toon dit punt in de agenda' }).tap();
    await isInView();
    await page.context().close();
  });

  it.each(['delete', 'redact'] as const)('withdraws within a second what a clerk withdraws: %s', async (op) => {
    const id = `weg-${op}`;
    await pages.publishAndIndex([paper(id, `Kwitantie ${op}geheim`)]);
    const lists = [
      `/zoeken?q=${op}geheim`,
      `/zoeken.atom?q=${op}geheim`,
      `/zoeken.csv?q=${op}geheim`,
      '',
      '/zoeken?soort=informatieobjecten',
      '/gm9901/documenten.atom',
      '/gm9901/informatieobjecten.csv',
    ];
    const page = await open(`/gm9901/informatieobjecten/${id}`);
    expect(await page.locator('h1').textContent()).toBe(`Kwitantie ${op}geheim`);
    for (const path of lists) expect((await pages.get(path)).text, path).toContain(id);
    await pages.publish([removal(op, 'Informatieobject', id)]);
    const stillThere = async (): Promise<string[]> => {
      const texts = await Promise.all(lists.map(async (path) => [path, (await pages.get(path)).text] as const));
      return texts.filter(([, text]) => text.includes(id) || text.includes('Kwitantie')).map(([path]) => path);
    };
    // Everything requested after a second.
    await sleep(1000);
    expect(await stillThere()).toEqual([]);
    const answer = await page.reload();
    expect(answer?.status()).toBe(410);
    expect(await page.locator('h1').textContent()).toBe('Dit document is verwijderd');
    const reason = op === 'delete' ? 'ingetrokken' : 'er stonden persoonsgegevens in';
    expect(await page.locator('dl').textContent()).toContain(reason);
    expect(await page.content()).not.toContain('Kwitantie');
    await page.context().close();
  });
});
