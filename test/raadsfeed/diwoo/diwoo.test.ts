/** The offer to the national index, over HTTP: each organisation in these tests has its own municipality. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { transaction } from '../../../src/database/transaction.ts';
import { systemClock } from '../../../src/lib/time.ts';
import { MAX_ENTRY_BYTES, renderDocument, SITEMAP_PLACES } from '../../../src/raadsfeed/diwoo/sitemaps.ts';
import { prepareChange } from '../../../src/raadsfeed/domain/change.ts';
import { createPublisher } from '../../../src/raadsfeed/writer/publisher.ts';
import { callProgram } from '../../support/program.ts';
import { agendapunt, document, type FeedServer, PATIENT, removal, startFeed } from '../support.ts';
import { faultsOf, file, listed, type Reader, readerOf, withFile } from './support.ts';

const INDEX = 'sitemapindex-diwoo-infocat008.xml';
const sitemap = (code: string, page = 1, categorie = '008'): string =>
  `sitemap-diwoo-infocat${categorie}-${code}-${page}.xml`;

let feed: FeedServer;
let reader: Reader;
let municipality = 0;

beforeAll(async () => {
  feed = await startFeed({ RAADSFEED_DIWOO: 'true' });
  reader = readerOf(feed);
});
afterAll(() => feed.stop());

/** An organisation that no other test uses. */
function organisation(): { code: string; organisatie: object } {
  municipality += 1;
  const code = `gm${String(municipality).padStart(4, '0')}`;
  return { code, organisatie: { gemeente: code, naam: `Gemeente ${municipality}` } };
}

const gone = (op: 'delete' | 'redact', type: string, code: string, id: string): object =>
  removal(op, type, id, { resource: { organisatiecode: code, bronidentificatie: id } });

const offers = (code: string, names: readonly string[]): Promise<void> =>
  vi.waitFor(async () => expect(await reader.locs(code)).toEqual(names.map(file)), PATIENT);

/** Publishes records that another feed may contain but our own contract refuses. */
async function publishOdd(data: object): Promise<void> {
  const change = prepareChange({ op: 'upsert', resourceType: 'Informatieobject', data: { ...data } } as Parameters<
    typeof prepareChange
  >[0]);
  await createPublisher({ pool: feed.pool, clock: systemClock }).publish([change]);
}

const command = (words: readonly string[], base = 'https://raad.voorbeeldstad.example') =>
  callProgram(['diwoo', ...words], { DATABASE_URL: feed.databaseUrl, PUBLIC_BASE_URL: base });

describe('a document with a file', () => {
  it('is offered with the metadata of DiWoo, and the answers are valid', async () => {
    const { code, organisatie } = organisation();
    const [recorded] = await feed.publish([
      withFile('nota', { creatiedatum: '2025-12-24', titel: 'Nota & <bijlage>' }, organisatie),
      withFile(
        'lijst',
        { formaat: 'application/x-onbekend', bestandsurl: 'https://bestanden.example/lijst.XLSX?a=1&b=2#top' },
        organisatie,
      ),
    ]);
    expect(recorded).toHaveProperty('recorded');
    const xml = await vi.waitFor(async () => {
      const text = await reader.text(sitemap(code));
      expect(listed(text)).toHaveLength(2);
      return text;
    }, PATIENT);
    expect(await faultsOf(xml)).toEqual([]);
    expect(await faultsOf(await reader.text(INDEX))).toEqual([]);
    expect(xml).toContain(
      `<diwoo:publisher resource="https://identifier.overheid.nl/tooi/id/gemeente/${code}">Gemeente`,
    );
    expect(xml).toContain('<diwoo:officieleTitel>Nota &amp; &lt;bijlage&gt;</diwoo:officieleTitel>');
    expect(xml).toContain('kern/c_db4862c3">vergaderstukken decentrale overheden</diwoo:informatiecategorie>');
    expect(xml).toContain('<diwoo:creatiedatum>2025-12-24</diwoo:creatiedatum>');
    expect(xml).toContain('<diwoo:creatiedatum>2026-01-08</diwoo:creatiedatum>');
    expect(xml).toContain(
      '<diwoo:format resource="http://publications.europa.eu/resource/authority/file-type/PDF">PDF<',
    );
    expect(xml).toContain('file-type/XLSX">XLSX<');
    expect(xml).toContain('kern/c_dfcee535">ontvangst</diwoo:soortHandeling><diwoo:atTime>2026-01-08T00:00:00<');
    expect(xml).toContain('<loc>https://bestanden.example/lijst.XLSX?a=1&amp;b=2</loc>');
  });

  it('of a province and a water board is published by them', async () => {
    await feed.publish([
      withFile('pv', {}, { provincie: 'pv27', naam: 'Provincie' }),
      withFile('ws', {}, { waterschap: 'ws0155', naam: 'Waterschap' }),
    ]);
    await offers('pv27', ['pv']);
    await offers('ws0155', ['ws']);
    expect(await reader.text(sitemap('pv27'))).toContain('/tooi/id/provincie/pv27"');
    expect(await reader.text(sitemap('ws0155'))).toContain('/tooi/id/waterschap/ws0155"');
  });

  it('is listed in the sitemaps of its own category', async () => {
    const { code, organisatie } = organisation();
    await feed.publish([withFile('advies', { wooinformatiecategorie: 'c_99a836c7' }, organisatie)]);
    await vi.waitFor(async () => expect(await reader.text(sitemap(code, 1, '010'))).toContain(file('advies')), PATIENT);
    expect(await reader.text('sitemapindex-diwoo-infocat010.xml')).toContain(sitemap(code, 1, '010'));
    expect(await reader.locs(code)).toEqual([]);
    const robots = await (await fetch(`${feed.server.url}/robots.txt`)).text();
    expect(robots).toContain(`Sitemap: ${feed.server.url}/woo/sitemapindex-diwoo-infocat008.xml\n`);
    expect(robots).toContain(`Sitemap: ${feed.server.url}/woo/sitemapindex-diwoo-infocat010.xml\n`);
    expect(robots).not.toContain('infocat011');
  });
});

describe('a changed document', () => {
  it('keeps its position and updates lastmod', async () => {
    const { code, organisatie } = organisation();
    await feed.publish([withFile('c-1', {}, organisatie), withFile('c-2', {}, organisatie)]);
    await offers(code, ['c-1', 'c-2']);
    const before = listed(await reader.text(sitemap(code)));
    await feed.publish([withFile('c-1', { titel: 'Gewijzigd' }, organisatie)]);
    const after = await vi.waitFor(async () => {
      const xml = await reader.text(sitemap(code));
      expect(xml).toContain('Gewijzigd');
      return listed(xml);
    }, PATIENT);
    expect(after.map(({ loc }) => loc)).toEqual(before.map(({ loc }) => loc));
    expect(after[1]).toEqual(before[1]);
    const [first] = after;
    expect(Date.parse(first?.lastmod ?? '')).toBeGreaterThan(Date.parse(before[0]?.lastmod ?? ''));
    const inIndex = listed(await reader.text(INDEX)).find(({ loc }) => loc.endsWith(sitemap(code)));
    expect(inIndex?.lastmod).toBe(first?.lastmod);
  });

  it('is a new document when its address changes', async () => {
    const { code, organisatie } = organisation();
    await feed.publish([withFile('n-1', {}, organisatie), withFile('n-2', {}, organisatie)]);
    await offers(code, ['n-1', 'n-2']);
    await feed.publish([withFile('n-1', { bestandsurl: file('n-1b') }, organisatie)]);
    await offers(code, ['n-2', 'n-1b']);
  });

  it('disappears with its redaction or removal, and omitted ones stay omitted', async () => {
    const { code, organisatie } = organisation();
    await feed.publish([
      withFile('r-1', { titel: 'Geheime titel' }, organisatie),
      withFile('r-2', {}, organisatie),
      withFile('r-3', {}, organisatie),
    ]);
    await offers(code, ['r-1', 'r-2', 'r-3']);
    await feed.publish([
      gone('redact', 'Informatieobject', code, 'r-1'),
      gone('delete', 'Informatieobject', code, 'r-2'),
    ]);
    const started = performance.now();
    await offers(code, ['r-3']);
    expect(performance.now() - started).toBeLessThan(5000);
    expect(await reader.text(sitemap(code))).not.toContain('Geheime');
    await feed.publish([gone('delete', 'Informatieobject', code, 'r-3')]);
    // A sitemap without documents would be invalid.
    await vi.waitFor(async () => expect((await reader.get(sitemap(code))).status).toBe(404), PATIENT);
    await vi.waitFor(async () => expect(await reader.text(INDEX)).not.toContain(sitemap(code)), PATIENT);
  });

  it('disappears with the commit of its redaction, even while the index cannot follow', async () => {
    const { code, organisatie } = organisation();
    await feed.publish([withFile('open', {}, organisatie), withFile('persoon', {}, organisatie)]);
    await offers(code, ['open', 'persoon']);
    await transaction(feed.pool, async (db) => {
      await db.query('select from diwoo.position for update');
      await feed.publish([gone('redact', 'Informatieobject', code, 'persoon')]);
      await offers(code, ['open']);
    });
  });

  it('swaps positions when two documents swap addresses', async () => {
    const { code, organisatie } = organisation();
    await feed.publish([withFile('w-1', {}, organisatie), withFile('w-2', {}, organisatie)]);
    await offers(code, ['w-1', 'w-2']);
    await feed.publish([
      withFile('w-1', { bestandsurl: file('w-2'), titel: 'Eerste' }, organisatie),
      withFile('w-2', { bestandsurl: file('w-1'), titel: 'Tweede' }, organisatie),
    ]);
    await vi.waitFor(async () => expect(await reader.text(sitemap(code))).toContain('Tweede'), PATIENT);
    expect((await reader.locs(code)).sort()).toEqual([file('w-1'), file('w-2')]);
  });

  it('is read again only when it changed: 304, and the compressed answer is equal', async () => {
    const { code, organisatie } = organisation();
    const lines = Array.from({ length: 20 }, (_, i) => withFile(`e-${i}`, {}, organisatie));
    await feed.publish(lines);
    await vi.waitFor(async () => expect(await reader.locs(code)).toHaveLength(20), PATIENT);
    const first = await reader.get(sitemap(code), { 'accept-encoding': 'gzip' });
    expect(first.headers.get('content-encoding')).toBe('gzip');
    expect(first.headers.get('content-type')).toBe('application/xml; charset=utf-8');
    expect(first.headers.get('cache-control')).toBe('public, max-age=60');
    const etag = first.headers.get('etag') ?? '';
    expect(await first.text()).toBe(await reader.text(sitemap(code)));
    expect((await reader.get(sitemap(code), { 'if-none-match': etag })).status).toBe(304);
    await feed.publish([withFile('e-3', { titel: 'Anders' }, organisatie)]);
    await vi.waitFor(async () => {
      expect((await reader.get(sitemap(code), { 'if-none-match': etag })).status).toBe(200);
    }, PATIENT);
  });
});

describe('a closed agenda item', () => {
  const on = (id: string, items: readonly string[], organisatie: object): object =>
    withFile(id, { agendapunten: items.map((bronidentificatie) => ({ bronidentificatie })) }, organisatie);

  it('omits a closed document that is on no other item', async () => {
    const { code, organisatie } = organisation();
    await feed.publish([
      agendapunt('dicht', { indicatiebesloten: true }, organisatie),
      agendapunt('open', {}, organisatie),
      agendapunt('onder', { hoofdagendapunt: { bronidentificatie: 'dicht' } }, organisatie),
      on('a-dicht', ['dicht'], organisatie),
      on('a-onder', ['onder'], organisatie),
      on('a-beide', ['dicht', 'open'], organisatie),
    ]);
    await offers(code, ['a-beide']);
    const [, before] = [0, listed(await reader.text(sitemap(code)))];
    await feed.publish([agendapunt('dicht', { indicatiebesloten: false }, organisatie)]);
    await offers(code, ['a-beide', 'a-dicht', 'a-onder']);
    const after = listed(await reader.text(sitemap(code)));
    expect(after[0]).toEqual(before[0]);
    // Offered since the item was opened.
    expect(Date.parse(after[1]?.lastmod ?? '')).toBeGreaterThan(Date.parse(before[0]?.lastmod ?? ''));
    await feed.publish([
      agendapunt('open', { indicatiebesloten: true }, organisatie),
      agendapunt('dicht', { indicatiebesloten: true }, organisatie),
    ]);
    await vi.waitFor(async () => expect((await reader.get(sitemap(code))).status).toBe(404), PATIENT);
  });

  it('that is its own ancestor does not cause an endless search', async () => {
    const { code, organisatie } = organisation();
    await feed.publish([
      agendapunt('kring-a', { hoofdagendapunt: { bronidentificatie: 'kring-b' } }, organisatie),
      agendapunt('kring-b', { hoofdagendapunt: { bronidentificatie: 'kring-a' } }, organisatie),
      on('kring', ['kring-a'], organisatie),
    ]);
    await offers(code, ['kring']);
  });
});

describe('omitted documents', () => {
  it('are counted by reason', async () => {
    const { code, organisatie } = organisation();
    await feed.publish([
      document('l-zonder', {}, organisatie),
      withFile('l-http', { bestandsurl: 'http://bestanden.example/a.pdf' }, organisatie),
      withFile('l-wachtwoord', { bestandsurl: 'https://u:geheim@bestanden.example/a.pdf' }, organisatie),
      withFile('l-lang', { bestandsurl: `https://bestanden.example/${'x'.repeat(2100)}` }, organisatie),
      withFile('l-eerst', { bestandsurl: file('dubbel') }, organisatie),
      withFile('l-dubbel', { bestandsurl: file('dubbel') }, organisatie),
      agendapunt('l-punt', { indicatiebesloten: true }, organisatie),
      withFile('l-besloten', { agendapunten: [{ bronidentificatie: 'l-punt' }] }, organisatie),
      withFile('l-weg', {}, organisatie),
      withFile('l-geheim', {}, organisatie),
    ]);
    const odd = {
      dossiertype: 'informatieobject',
      organisatie,
      webpaginalink: 'https://raad.example/1',
      titel: 'Vreemd',
    };
    await publishOdd({
      ...odd,
      bronidentificatie: 'l-categorie',
      bestandsurl: file('l-c'),
      wooinformatiecategorie: 'c_00000000',
      datumingediend: '2026-01-01',
    });
    await publishOdd({
      ...odd,
      bronidentificatie: 'l-datum',
      bestandsurl: file('l-d'),
      wooinformatiecategorie: 'c_db4862c3',
      datumingediend: '2026-02-30',
    });
    await feed.publish([
      gone('delete', 'Informatieobject', code, 'l-weg'),
      gone('redact', 'Informatieobject', code, 'l-geheim'),
    ]);
    await offers(code, ['dubbel']);
    await vi.waitFor(async () => {
      const { rows: mine } = await feed.pool.query<{ exclusion: string; bronidentificatie: string }>(
        'select exclusion, bronidentificatie from diwoo.documents where exclusion is not null and organisatiecode = $1 order by 1, 2',
        [code],
      );
      expect(mine.map(({ exclusion, bronidentificatie }) => `${exclusion} ${bronidentificatie}`)).toEqual([
        'bad-address l-lang',
        'bad-address l-wachtwoord',
        'closed-items-only l-besloten',
        'no-date l-datum',
        'no-file l-zonder',
        'not-https l-http',
        'same-address l-dubbel',
        'unknown-category l-categorie',
      ]);
    }, PATIENT);
    const { status, stdout } = await command(['report', '--json']);
    expect(status).toBe(0);
    const { leftOut } = JSON.parse(stdout);
    const counts = new Map(leftOut.map((one: { reason: string; documents: number }) => [one.reason, one.documents]));
    expect(counts.get('redacted')).toBeGreaterThanOrEqual(1);
    expect(counts.get('removed')).toBeGreaterThanOrEqual(1);
    const words = await command(['report']);
    expect(words.stdout).toMatch(/no-file +\d+ +no bestandsurl/);
    // The second one takes over.
    await feed.publish([gone('delete', 'Informatieobject', code, 'l-eerst')]);
    await vi.waitFor(async () => expect(await reader.locs(code)).toEqual([file('dubbel')]), PATIENT);
  });

  it('need a line for the host of their files', async () => {
    const { organisatie, code } = organisation();
    await feed.publish([withFile('host', {}, organisatie)]);
    await offers(code, ['host']);
    for (const own of ['https://raad.voorbeeldstad.example', 'http://127.0.0.1:8080']) {
      const { stdout } = await command(['robots'], own);
      expect(stdout).toContain(
        `# ${own}/robots.txt (files offered on this host: 0)\nSitemap: ${own}/woo/sitemapindex-`,
      );
      expect(stdout).toMatch(
        /# https:..bestanden.example.robots.txt \(files offered on this host: \d+\)\nSitemap: http/,
      );
    }
  });
});

describe('hostile text', () => {
  const HOSTILE = `]]><script>alert(1)</script>&amp;"'\u0000\u0001\u001b\u007f\u0085\u202e\ufffe\uffff\ud800 eind`;

  it('in every member stays text, and the answer stays valid', async () => {
    municipality += 1;
    const code = `gm${String(municipality).padStart(4, '0')}`;
    const members = [
      'titel',
      'omschrijving',
      'auteur',
      'creatiedatum',
      'formaat',
      'taal',
      'bronorganisatie',
      'informatieobjecttype',
    ];
    await publishOdd({
      ...{
        bronidentificatie: `vreemd <&"'>`,
        dossiertype: 'informatieobject',
        organisatie: { gemeente: code, naam: HOSTILE.toWellFormed() },
      },
      ...Object.fromEntries(members.map((name) => [name, HOSTILE.toWellFormed()])),
      ...{
        webpaginalink: 'https://raad.example/1',
        wooinformatiecategorie: 'c_db4862c3',
        datumingediend: '2026-01-01',
      },
      bestandsurl: `https://bestanden.example/"<é>&'].pdf?q=]]>%`,
    });
    const xml = await vi.waitFor(async () => {
      const text = await reader.text(sitemap(code));
      expect(text).toContain('eind');
      return text;
    }, PATIENT);
    expect(await faultsOf(xml)).toEqual([]);
    expect(xml).not.toContain('<script>');
    expect(xml).toContain('<loc>https://bestanden.example/%22%3C%C3%A9%3E&amp;&#39;%5D.pdf?q=%5D%5D%3E%25</loc>');
  });

  it('makes no sitemap larger than 50 MB', () => {
    const entry = renderDocument({
      ...{
        organisatiecode: 'gm9901',
        categorie: 18,
        modified: new Date(),
        creatiedatum: '2026-01-01',
        submittedOn: '2026-01-01',
        formaat: 'HTML',
      },
      ...{ loc: `https://x.example/${'a'.repeat(2030)}`, titel: '"'.repeat(500), naam: '"'.repeat(200) },
    });
    expect(Buffer.byteLength(entry)).toBeLessThan(MAX_ENTRY_BYTES);
    expect(MAX_ENTRY_BYTES * SITEMAP_PLACES).toBeLessThan(52_428_800);
  });

  it('in an address finds nothing', async () => {
    for (const name of [
      'sitemap-diwoo-infocat008-gm9901-0.xml',
      'sitemapindex-diwoo-infocat8.xml',
      '..%2f..%2fetc',
      'x'.repeat(3000),
    ]) {
      expect((await reader.get(name)).status).toBe(404);
    }
  });
});

describe('otherwise', () => {
  it('a service without DiWoo has neither', async () => {
    const plain = await feed.another({ RAADSFEED_DIWOO: 'false' });
    expect((await fetch(`${plain.server.url}/robots.txt`)).status).toBe(404);
    expect((await fetch(`${plain.server.url}/woo/${INDEX}`)).status).toBe(404);
  });
});
