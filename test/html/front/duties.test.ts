/** A public body's duties on its pages: who is responsible for them, its own look, and a landing page at the root of the host. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPage } from '../../raadsfeed/pages/crawl.ts';
import { type PagesServer, startPages } from '../../raadsfeed/pages/pages-fixture.ts';
import { document, removal } from '../../raadsfeed/support.ts';
import { htmlFaults } from '../../support/html.ts';
import { startServer } from '../../support/server.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const LINKS = {
  toegankelijkheid: ['Toegankelijkheid', 'https://gemeente.example/toegankelijkheid'],
  privacy: ['Privacy', 'https://gemeente.example/privacy'],
  contact: ['Contact', 'https://gemeente.example/contact'],
  griffie: ['Griffie', 'mailto:griffie@gemeente.example'],
} as const;
const PAGES_LINKS = Object.entries(LINKS)
  .map(([name, [, address]]) => `${name}=${address}`)
  .join(',');

let folder: string;
let pages: PagesServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'koppelvlak-brand-'));
  await writeFile(join(folder, 'theme.css'), ':root {}');
  await writeFile(join(folder, 'logo.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  await writeFile(join(folder, 'favicon.png'), PNG);
  pages = await startPages({
    PAGES_LINKS,
    PAGES_THEME_CSS: join(folder, 'theme.css'),
    ORGANISATION_NAME: 'Gemeente Voorbeeldstad',
    RAADSFEED_DIWOO: 'true',
    RAADSFEED_ROL: 'aggregator',
  });
  await pages.publishAndIndex([
    document('stuk', { bestandsurl: 'https://raad.example/stuk.pdf' }),
    document('weg'),
    document('fout'),
    document('elders', {}, { gemeente: 'gm9902', naam: 'Gemeente Elders' }),
  ]);
});
afterAll(async () => {
  await pages?.stop();
  await rm(folder, { recursive: true });
});

async function get(path: string, accept?: string): Promise<{ status: number; headers: Headers; text: string }> {
  const answer = await fetch(pages.server.url + path, accept === undefined ? {} : { headers: { accept } });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

describe('every page', () => {
  it.each(['/raad', '/raad/gm9901', '/raad/zoeken?q=x', '/raad/gm9901/informatieobjecten/niets', '/', '/ori/v1/docs'])(
    'links to the accessibility statement, privacy, contact and the clerk: %s',
    async (path) => {
      const { text } = await get(path, BROWSER);
      const footer = /<footer[\s\S]*<\/footer>/.exec(text)?.[0] ?? '';
      for (const [name, address] of Object.values(LINKS))
        expect(footer).toMatch(new RegExp(`href="${address}">${name}<`));
      expect(footer).not.toContain('Functionaris');
    },
  );

  it('has the logo and the icon of the organisation, stored beside its style sheet', async () => {
    for (const path of ['/raad', '/']) {
      const { text } = await get(path, BROWSER);
      const logo = /<img [^>]*src="([^"]+)"/.exec(text)?.[1] ?? '';
      const icon = /<link rel="icon" type="image\/png" href="([^"]+)">/.exec(text)?.[1] ?? '';
      const [logoAnswer, iconAnswer] = [await get(logo), await get(icon)];
      expect([logoAnswer.status, logoAnswer.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
      expect([iconAnswer.status, iconAnswer.headers.get('content-type')]).toEqual([200, 'image/png']);
      expect(iconAnswer.headers.get('cache-control')).toContain('immutable');
      // A script in an image does not run.
      expect(logoAnswer.headers.get('content-security-policy')).toContain("default-src 'none'");
    }
    expect((await get('/raad')).text).toContain('alt="Gemeente Voorbeeldstad"');
    expect((await get('/favicon.ico')).headers.get('content-type')).toBe('image/png');
  });
});

describe('the root of the host', () => {
  it('shows a browser the available parts', async () => {
    const { status, headers, text } = await get('/', BROWSER);
    expect([status, headers.get('content-type'), headers.get('vary')]).toEqual([
      200,
      'text/html; charset=utf-8',
      'Accept',
    ]);
    expect(text).toMatch(/<h1 [^>]*>Gemeente Voorbeeldstad<\/h1>/);
    const addresses = [...(/<main [\s\S]*<\/main>/.exec(text)?.[0] ?? '').matchAll(/href="(\/[^"]+)"/g)].map(
      ([, address = '']) => address,
    );
    expect(addresses).toEqual(['/raad', '/ori/v1/docs']);
    for (const address of addresses) expect((await get(address, BROWSER)).status).toBe(200);
    expect(await htmlFaults(text)).toEqual([]);
  });

  it('has the style of the other pages, and their policy', async () => {
    const { headers, text } = await get('/', BROWSER);
    const styleOf = (page: string): string => /<link rel="stylesheet" href="([^"]+)">/.exec(page)?.[1] ?? '';
    const [own, other] = await Promise.all(
      [styleOf(text), styleOf((await get('/raad', BROWSER)).text)].map((path) => get(path)),
    );
    expect(own?.headers.get('content-type')).toBe('text/css; charset=utf-8');
    expect(own?.text).toBe(other?.text);
    expect(own?.text.length).toBeGreaterThan(10_000);
    expect(headers.get('content-security-policy')).toContain("style-src 'self'");
  });

  it.each([undefined, '*/*', 'application/json', 'application/problem+json', 'application/json, text/html;q=0.5', 'x'])(
    'still answers a program with JSON: Accept %s',
    async (accept) => {
      const { status, headers, text } = await get('/', accept);
      expect([status, headers.get('content-type')]).toEqual([404, 'application/problem+json; charset=utf-8']);
      expect(JSON.parse(text)).toMatchObject({ status: 404 });
    },
  );

  it('names the site maps of the pages and of DiWoo in one robots.txt', async () => {
    const { server } = pages;
    await expect
      .poll(async () => (await get('/robots.txt')).text.split('\n'))
      .toEqual([
        ...['User-agent: *', 'Allow: /', ''],
        `Sitemap: ${server.url}/woo/sitemapindex-diwoo-infocat008.xml`,
        `Sitemap: ${server.url}/raad/sitemap.xml`,
        '',
      ]);
    for (const [, address = ''] of (await get('/robots.txt')).text.matchAll(/^Sitemap: (.*)$/gm))
      expect((await fetch(address)).status).toBe(200);
  });
});

it('says that the file of a withdrawn document is kept by the supplier', async () => {
  await pages.publish([
    removal('redact', 'Informatieobject', 'weg'),
    removal('delete', 'Informatieobject', 'fout'),
    removal('redact', 'Informatieobject', 'elders', {
      resource: { organisatiecode: 'gm9902', bronidentificatie: 'elders' },
    }),
  ]);
  const source = `update raadsfeed.organisaties set herkomst_soort = 'leveranciers-api' where organisatiecode = 'gm9902'`;
  await pages.pool.query(source);
  const told = 'Alleen de leverancier kan het weghalen.';
  expect((await pages.get('/gm9902/informatieobjecten/elders')).text).toContain(told);
  for (const id of ['weg', 'fout'])
    expect((await pages.get(`/gm9901/informatieobjecten/${id}`)).text).not.toContain(told);
});

it('is a page without images and links if an organisation has configured none, with a default icon', async () => {
  const plain = await startPages();
  const text = await readPage(plain, '');
  expect(text).not.toMatch(/<img|Over deze pagina’s|Toegankelijkheid/);
  const icon = /<link rel="icon" type="image\/svg\+xml" href="([^"]+)">/.exec(text)?.[1] ?? '';
  expect((await fetch(plain.server.url + icon)).headers.get('content-type')).toBe('image/svg+xml');
  await plain.stop();
});

describe('at start-up in production', () => {
  const env = { AREAS: 'raadsfeed', NODE_ENV: 'production', PUBLIC_BASE_URL: 'https://raad.gemeente.example' };
  const told = /no `toegankelijkheid`/;
  it.each([
    ['reports a missing accessibility statement', { RAADSFEED_PAGES: 'true' }, 1],
    ['reports nothing when it exists', { RAADSFEED_PAGES: 'true', PAGES_LINKS }, 0],
    ['reports nothing without pages for people', {}, 0],
  ])('%s', async (_, more, times) => {
    const server = await startServer({ env: { ...env, ...more } });
    expect(server.logged.filter(({ msg, level }) => level === 40 && told.test(String(msg)))).toHaveLength(times);
    await server.stop();
  });
});
