/**
 * Takes screenshots of every page in every state, at three widths and on paper, and writes docs/screenshots.md: `npm
 * run screenshots`. The data are the demo's, one real meeting, and states that no example has: a cancelled meeting, a
 * source that lags behind.
 */
import { cp, mkdir, mkdtempDisposable, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Cookie } from 'playwright-core';
import { openDatabase } from '../src/database/open-database.ts';
import { createDemoClient } from '../src/demo/demo-client.ts';
import type { Demo } from '../src/demo/demo-part.ts';
import { loadExampleData, publish } from '../src/demo/example-data.ts';
import { startDemo } from '../src/demo/start-demo.ts';
import { followFeed } from '../src/raadsfeed/follow-index.ts';
import { PAGES_INDEX } from '../src/raadsfeed/pages/search/follow-feed.ts';
import { findChromium, launchChromium } from './chromium.ts';
import { tableOf } from './generated-part.ts';

const ROOT = join(import.meta.dirname, '..');
const OUTPUT = join(ROOT, 'docs/screenshots');
const MEETING = join(ROOT, 'test/fixtures/raadsfeed/vergadering-2018-02-08.ndjson');
const WIDTHS = [320, 768, 1440];
/** Pictures are cut at this height (pixels). */
const LONGEST = 2400;
const QUALITY = 55;

/** A state of a page: its description and its address. */
type State = readonly [name: string, what: string, path: string];

/** In the order of the document. */
const STATES = {
  rootOfHost: [
    ['adres', "The service's landing page", '/'],
    ['beschrijving', 'A contract for programmers', '/ori/v1/docs'],
  ],
  empty: [['begin-leeg', 'Front page, before anything was published', '/raad']],
  council: [
    ['begin', 'Front page', '/raad'],
    ['organisatie', 'Organisation with its calendar', '/raad/gm0363'],
    ['organisatie-commissie', 'One committee', '/raad/gm0363?gremium=4972'],
    ['organisatie-leeg', 'A month without meetings', '/raad/gm9901?maand=2020-01'],
    ['organisatie-achter', 'A source that is behind and cannot be read', '/raad/gm9902'],
    ['vergadering', 'Meeting with many items (real data)', '/raad/gm0363/vergaderingen/meeting-458902'],
    ['vergadering-kort', 'Meeting with few items', '/raad/gm9901/vergaderingen/raad-2'],
    [
      'vergadering-gaat-niet-door',
      'Cancelled meeting; one closed item, one sub-item',
      '/raad/gm9902/vergaderingen/afgelast',
    ],
    ['vergadering-zonder-agenda', 'Meeting without an agenda', '/raad/gm9902/vergaderingen/leeg'],
    ['agendapunt', 'Agenda item', '/raad/gm0363/agendapunten/agendapunt-3842864'],
    ['document', 'Document', '/raad/gm0363/informatieobjecten/document-6160186'],
    ['document-zonder-bestand', 'Document without a file', '/raad/gm9902/informatieobjecten/kaal'],
    ['zoeken-leeg', 'Search without words', '/raad/zoeken'],
    ['zoeken', 'Search', '/raad/zoeken?q=brief+wethouder'],
    ['zoeken-niets', 'Search that finds nothing', '/raad/zoeken?q=nietsditvindt'],
    ['zoeken-fout', 'Search with an error', '/raad/zoeken?soort=iets'],
    ['ingetrokken', 'Withdrawn', '/raad/gm9901/agendapunten/raad-2-agendapunt-3'],
    ['verwijderd', 'Redacted: personal data', '/raad/ws9901/informatieobjecten/bestuur-1-document-2'],
    ['niet-gevonden', 'Not there', '/raad/gm9901/vergaderingen/bestaat-niet'],
  ],
  /** For readers whose browser asks for dark colours. */
  dark: [
    ['begin-donker', 'Front page, in dark colours', '/raad'],
    ['vergadering-donker', 'Meeting, in dark colours', '/raad/gm0363/vergaderingen/meeting-458902'],
  ],
  beforeLogin: [
    ['inzage', 'Inspection: front', '/inzage'],
    ['inzage-inloggen', 'The stand-in for the national login', '/inzage/inloggen'],
    ['inzage-mislukt', 'Login that failed', '/inzage/terug'],
  ],
  overview: [
    ['inzage-overzicht', 'How my data was processed', '/inzage/overzicht'],
    ['inzage-niets', 'Nothing in this period', '/inzage/overzicht?van=2020-01-01&tot=2020-01-02'],
    ['inzage-fout', 'Invalid input', '/inzage/overzicht?van=x'],
  ],
  ended: [
    ['inzage-verlopen', 'Expired session', '/inzage/overzicht'],
    ['inzage-uitgelogd', 'Logged out', '/inzage/uitgelogd'],
  ],
  operator: [['beheer', "The operator's page", '/']],
  broken: [['beheer-storing', "The operator's page, with faults", '/']],
} as const satisfies Record<string, readonly State[]>;
/** As printed on A4. */
const PRINTED: readonly State[] = [
  ['druk-vergadering', 'meeting', '/raad/gm0363/vergaderingen/meeting-458902'],
  ['druk-inzage', 'how my data was processed', '/inzage/overzicht?alles=ja'],
];

/** States that no example has. */
function oddities(): object[] {
  const organisatie = { gemeente: 'gm9902', naam: 'Gemeente Waterrijk' };
  const upsert = (resourceType: string, bronidentificatie: string, more: object) => ({
    op: 'upsert',
    resourceType,
    data: { bronidentificatie, dossiertype: resourceType.toLowerCase(), organisatie, ...more },
  });
  const of = { vergadering: { bronidentificatie: 'afgelast' } };
  return [
    upsert('Vergadering', 'afgelast', {
      naam: 'Commissie Ruimte',
      geplandeaanvang: '2026-03-19T18:30:00Z',
      vergaderstatus: 'Geannuleerd',
      locatie: 'Raadzaal',
      vergadertoelichting: 'De stukken worden in april behandeld.',
    }),
    upsert('Agendapunt', 'a-1', { ...of, agendapuntnaam: 'Opening en mededelingen', volgnummer: '1' }),
    upsert('Agendapunt', 'a-1a', {
      ...of,
      agendapuntnaam: 'Mededelingen van het college',
      volgnummer: '1a',
      hoofdagendapunt: { bronidentificatie: 'a-1' },
    }),
    upsert('Agendapunt', 'a-2', { ...of, agendapuntnaam: 'Grondzaken', volgnummer: '2', indicatiebesloten: true }),
    upsert('Vergadering', 'leeg', { naam: 'Werkbezoek aan de haven', geplandedatum: '2026-03-26' }),
    upsert('Informatieobject', 'kaal', {
      titel: 'Brief van een bewoner over het Havenkwartier',
      wooinformatiecategorie: 'c_db4862c3',
      datumingediend: '2026-03-20',
      webpaginalink: 'https://gm9902.example/brieven/1',
    }),
  ];
}

const BEHIND = `
  with source as (
    insert into aggregator.sources (address, kind, paused, organisatiecodes, caught_up_at, failures, failure_message, failing_since)
    values ('notubiz:9902', 'leveranciers-api', true, '{gm9902}', now() - interval '3 days', 4,
      'the supplier answers 503', now() - interval '2 days') returning id),
  bound as (
    insert into aggregator.source_organisations (organisatiecode, source_id, name) select 'gm9902', id, 'Gemeente Waterrijk' from source),
  measured as (
    insert into aggregator.coverage (source_id, month, shown, held)
    select id, '2026-03', 412, 405 from source)
  update raadsfeed.organisaties set herkomst_soort = 'leveranciers-api', laatst_bijgewerkt = now() - interval '3 days'
   where organisatiecode = 'gm9902'`;

/** A failed retention run, and a database migrated by a newer program. */
const TROUBLE = `
  insert into verwerkingenlog.prune_runs (started_at, login, ended_at, fault) values (now(), session_user, now(), 'the disk is full');
  insert into koppelvlak.migrations (name, run_on) values ('9999-later', now())`;

/** At every width, with these cookies set each time, because a page may clear them. */
async function takeAll(base: string, states: readonly State[], cookies: Cookie[] = []): Promise<void> {
  for (const width of WIDTHS) {
    await tab.setViewportSize({ width, height: 900 });
    await tab.context().addCookies(cookies);
    for (const [name, , path] of states) {
      await tab.goto(base + path);
      const height = Number(await tab.evaluate('document.documentElement.scrollHeight'));
      const session = await tab.context().newCDPSession(tab);
      const { data } = await session.send('Page.captureScreenshot', {
        format: 'webp',
        quality: QUALITY,
        captureBeyondViewport: true,
        clip: { x: 0, y: 0, width, height: Math.min(height, LONGEST), scale: 1 },
      });
      await session.detach();
      await writeFile(join(made, `${name}-${width}.webp`), Buffer.from(data, 'base64'));
    }
  }
}

function document(): string {
  const picture = (name: string, width: number): string =>
    `[![${name}](screenshots/${name}-${width}.webp)](screenshots/${name}-${width}.webp)`;
  const states: readonly State[] = Object.values(STATES).flat();
  const rows = states.map(([name, what]) => [what, ...WIDTHS.map((width) => picture(name, width))]);
  const printed = PRINTED.map(([name, what]) => `[${what}](screenshots/${name}.pdf)`);
  return `# Screenshots of the pages

Taken by \`npm run screenshots\`.
Long pages are cut.

${tableOf(['state', ...WIDTHS.map(String)], rows)}

Printed: ${printed.join(', ')}.
`;
}

/** Publishes all the council information that the pictures show. */
async function publishAll({ config, log, file, home: directory }: Demo): Promise<void> {
  const { pool, close } = await openDatabase({ config, log, purpose: 'command' });
  try {
    const { signal } = new AbortController();
    await loadExampleData({ config, pool, signal, client: createDemoClient(file), file, directory });
    const meeting = (await readFile(MEETING, 'utf8')).trim().split('\n');
    await publish(file, [...meeting.map((line) => JSON.parse(line)), ...oddities()]);
    while ((await followFeed(pool, PAGES_INDEX)) !== 'done');
  } finally {
    await close();
  }
}

const executable = findChromium();
if (executable === undefined) throw new Error('there is no Chromium on PATH');
await using closing = new AsyncDisposableStack();
const { path: home } = closing.use(await mkdtempDisposable(join(tmpdir(), 'koppelvlak-screenshots-')));
/** Replaces the old pictures when all have been taken. */
const made = join(home, 'pictures');
await mkdir(made);
const demo = await startDemo({
  KOPPELVLAK_HOME: home,
  PORT: '0',
  MANAGEMENT_PORT: '0',
  LOG_LEVEL: 'error',
  RAADSFEED_ROL: 'aggregator',
  PAGES_LINKS: ['toegankelijkheid', 'privacy', 'contact', 'griffie']
    .map((name) => `${name}=https://gemeente.example/${name}`)
    .join(','),
});
closing.defer(demo.stop);
const { baseUrl: base, managementUrl, databaseUrl } = demo.file;
const owner = new pg.Client(databaseUrl);
await owner.connect();
closing.defer(() => owner.end());
const browser = await launchChromium(executable);
closing.defer(() => browser.close());
const tab = await browser.newPage({ locale: 'nl-NL' });
await takeAll(base, STATES.empty);
await publishAll(demo);
await takeAll(managementUrl, STATES.operator);
await owner.query(BEHIND);
await takeAll(base, [...STATES.rootOfHost, ...STATES.council, ...STATES.beforeLogin]);
await tab.emulateMedia({ colorScheme: 'dark' });
await takeAll(base, STATES.dark);
await tab.emulateMedia({ colorScheme: 'light' });
await tab.goto(`${base}/inzage/inloggen`);
await tab.getByText('E. de Eerste').click();
await tab.waitForURL(/overzicht/);
await takeAll(base, STATES.overview);
for (const [name, , path] of PRINTED) {
  await tab.goto(base + path);
  await tab.pdf({ path: join(made, `${name}.pdf`), format: 'A4' });
}
// The session of another service, which cannot be read here.
const spoilt = (await tab.context().cookies()).map((cookie) => ({
  ...cookie,
  value: `${cookie.value.slice(0, -8)}AAAAAAAA`,
}));
await takeAll(base, STATES.ended, spoilt);
await owner.query(TROUBLE);
await takeAll(managementUrl, STATES.broken);
await rm(OUTPUT, { recursive: true, force: true });
await cp(made, OUTPUT, { recursive: true });
await writeFile(join(ROOT, 'docs/screenshots.md'), document());
