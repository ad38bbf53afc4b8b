/**
 * Typical queries and their required results: names, forms of words, ends of compounds, organisations and bodies, days, `OR`, `-` and
 * quotes.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { agendapunt, document, vergadering } from '../support.ts';
import { type PagesServer, startPages } from './pages-fixture.ts';

const UTRECHT = { gemeente: 'gm0344', naam: 'Gemeente Utrecht' };
const DEN_BOSCH = { gemeente: 'gm0796', naam: "Gemeente 's-Hertogenbosch" };
const SUDWEST = { gemeente: 'gm1900', naam: 'Gemeente Súdwest-Fryslân' };

const body = (gremiumnaam: string) => ({ gremiumidentificatie: gremiumnaam.toLowerCase(), gremiumnaam });
const of = (vergaderingen: string) => ({ vergaderingen: [{ bronidentificatie: vergaderingen }] });

const DATA = [
  vergadering(
    'raad-utrecht',
    { naam: 'Raadsvergadering', aanvang: '2026-03-12T19:30:00Z', georganiseerddoorgremium: body('Gemeenteraad') },
    UTRECHT,
  ),
  vergadering(
    'ruimte-utrecht',
    {
      naam: 'Beeldvorming',
      aanvang: '2025-11-04T19:00:00Z',
      georganiseerddoorgremium: body('Commissie Stad en Ruimte'),
    },
    UTRECHT,
  ),
  vergadering('raad-bosch', { naam: 'Raad', aanvang: '2026-03-12T18:00:00Z' }, DEN_BOSCH),
  vergadering('raad-fryslan', { naam: 'Riedsgearkomste', aanvang: '2024-02-29T18:00:00Z' }, SUDWEST),
  agendapunt(
    'biltstraat',
    { agendapuntnaam: 'Herinrichting Biltstraat', vergadering: { bronidentificatie: 'raad-utrecht' } },
    UTRECHT,
  ),
  document('kap', { titel: 'Kap van drie bomen', omschrijving: 'De boom staat aan het Wilhelminapark.' }, UTRECHT),
  document('woning', { titel: 'Een woning aan de Oude Gracht', ...of('ruimte-utrecht') }, UTRECHT),
  document('woningbouw', { titel: 'Woningbouwprogramma', omschrijving: 'Bouwen in de wijken.' }, UTRECHT),
  document('begroting', { titel: 'Programmabegroting 2026' }, DEN_BOSCH),
  document(
    'begroot',
    { titel: 'Begroting en meerjarenraming', omschrijving: 'Vastgesteld op 14 november 2025.' },
    UTRECHT,
  ),
  document('wijzigingen', { titel: 'Eerste begrotingswijzigingen' }, DEN_BOSCH),
  document('jeugd', { titel: 'Jeugdhulpverlening in de regio', auteur: 'A. Yılmaz' }, DEN_BOSCH),
  document('lening', { titel: 'Hypotheeklening starters', auteur: 'K. Sørensen' }, UTRECHT),
  document('brief', { titel: 'Brieven over de huizen aan de haven', auteur: 'Mw. Łukasz-Müller' }, UTRECHT),
  document('brief-2', { titel: 'Brief over het huis', auteur: 'Dhr. Großmann' }, SUDWEST),
  document('cafe', { titel: 'Cafés en terrassen: exploitatie', omschrijving: 'Foto’s van de coöperatie.' }, SUDWEST),
  document('naam', { titel: "Motie d'Ancona c.s.", auteur: 'Çelik, Ærø en Đorđević' }, UTRECHT),
  document('dossier', { titel: 'Raadsbesluit RB2026-0417', datumingediend: '2026-05-01' }, SUDWEST),
  document('afspraak', { titel: 'Verslag van 3-2-2026', datumingediend: '2026-02-20' }, DEN_BOSCH),
  document('verkeer', { titel: 'Verkeersveiligheid rond scholen', omschrijving: 'Fietspaden en zebrapaden.' }, UTRECHT),
  document('verordening', { titel: 'Afvalstoffenverordening', omschrijving: 'Wijziging van de heffing.' }, SUDWEST),
  document('kade', { titel: 'Kade langs de Vecht', omschrijving: 'Wandelen op de kade.' }, UTRECHT),
  document(
    'vragen-1',
    { titel: 'Parkeren in de binnenstad', informatieobjecttype: 'Schriftelijke vragen', datumingediend: '2023-01-10' },
    UTRECHT,
  ),
  document('vragen-2', { titel: 'Raadsvragen over de markt', datumingediend: '2024-01-10' }, UTRECHT),
  document('kader', { titel: 'Kaderbrief', datumingediend: '2026-06-01' }, UTRECHT),
];

let pages: PagesServer;
beforeAll(async () => {
  pages = await startPages();
  await pages.publishAndIndex(DATA);
});
afterAll(() => pages.stop());

async function found(q: string, also = ''): Promise<string[]> {
  const { status, text } = await pages.get(`/zoeken.csv?q=${encodeURIComponent(q)}${also}`);
  expect(status).toBe(200);
  return text
    .split('\r\n')
    .slice(1, -1)
    .map((line) => line.split(';').at(-2) ?? '');
}

/** A query, and its required results. */
const QUERIES: readonly (readonly [q: string, ...ids: string[]])[] = [
  // Names, with letters as people type them.
  ['Yılmaz', 'jeugd'],
  ['Yilmaz', 'jeugd'],
  ['yilm', 'jeugd'],
  ['Sorensen', 'lening'],
  ['SØRENSEN', 'lening'],
  ['lukasz muller', 'brief'],
  ['Łukasz-Müller', 'brief'],
  ['grossmann', 'brief-2'],
  ['Großmann', 'brief-2'],
  ['celik', 'naam'],
  ['aero dordevic', 'naam'],
  ["d'Ancona", 'naam'],
  ['dancona', 'naam'],
  ['ancona', 'naam'],
  ['cafe', 'cafe'],
  ['cooperatie', 'cafe'],
  ['fotos', 'cafe'],
  ["foto's", 'cafe'],
  ['foto', 'cafe'],
  // Forms of a word.
  ['kappen', 'kap'],
  ['kap', 'kap'],
  ['boom', 'kap'],
  ['bomen', 'kap'],
  ['woningen', 'woning', 'woningbouw'],
  ['woning', 'woning', 'woningbouw'],
  ['begrotingen', 'begroot', 'begroting', 'wijzigingen'],
  ['begroting', 'begroot', 'begroting', 'wijzigingen'],
  ['brieven', 'brief', 'brief-2', 'kader'],
  ['brief', 'brief', 'brief-2', 'kader'],
  ['huis', 'brief', 'brief-2'],
  ['huizen', 'brief', 'brief-2'],
  ['school', 'verkeer'],
  ['fietspad', 'verkeer'],
  ['wijk', 'woningbouw'],
  // Beginnings, and ends of compounds.
  ['jeugdhulp', 'jeugd'],
  ['hulpverlening', 'jeugd'],
  ['wijziging', 'verordening', 'wijzigingen'],
  ['wijzigingen', 'verordening', 'wijzigingen'],
  ['verordeningen', 'verordening'],
  ['lening', 'jeugd', 'lening'],
  ['leningen', 'jeugd', 'lening'],
  ['veiligheid', 'verkeer'],
  ['paden', 'verkeer'],
  // Names of organisation and body.
  ['Utrecht Biltstraat', 'biltstraat'],
  ['gemeenteraad biltstraat', 'biltstraat'],
  ['gemeente utrecht biltstraat', 'biltstraat'],
  ['commissie stad en ruimte gracht', 'woning'],
  ["'s-Hertogenbosch jeugdhulpverlening", 'jeugd'],
  ['sudwest verordening', 'verordening'],
  ['gm0796 begroting', 'begroting', 'wijzigingen'],
  // Days.
  ['12 maart 2026', 'biltstraat', 'raad-bosch', 'raad-utrecht'],
  ['12-03-2026', 'biltstraat', 'raad-bosch', 'raad-utrecht'],
  ['donderdag 12 mrt. 2026 utrecht', 'biltstraat', 'raad-utrecht'],
  ['2026-03-12 raadsvergadering', 'raad-utrecht'],
  ['november 2025', 'begroot', 'ruimte-utrecht'],
  ['14 november', 'begroot'],
  ['3 februari 2026', 'afspraak'],
  ['29/2/2024', 'raad-fryslan'],
  ['29.2.2024', 'raad-fryslan'],
  // Numbers, quotes, `OR` and `-`.
  ['RB2026-0417', 'dossier'],
  ['"oude gracht"', 'woning'],
  ['"gracht oude"'],
  ['“over het huis”', 'brief-2'],
  ['kap OR terrassen', 'cafe', 'kap'],
  ['biltstraat of hypotheeklening OR kap', 'kap'],
  ['begroting -programmabegroting', 'begroot', 'wijzigingen'],
  ['brief -"over het huis"', 'brief', 'kader'],
  ['brief -gm1900', 'brief', 'kader'],
  ['de motie van', 'naam'],
  ['utrecht -biltstraat beeldvorming', 'ruimte-utrecht'],
];

it.each(QUERIES)('finds %j', async (q, ...ids) => {
  expect((await found(q)).toSorted()).toEqual(ids);
});

it('has the sixty required queries', () => {
  expect(QUERIES.length).toBeGreaterThanOrEqual(60);
});

it('puts exact matches first, and prefix matches last', async () => {
  expect(await found('kade')).toEqual(['kade', 'kader']);
  expect(await found('kade', '&sorteer=datum')).toEqual(['kader', 'kade']);
  expect(await found('wijziging')).toEqual(['verordening', 'wijzigingen']);
});

it('sorts by day, newest or oldest first, and omits the past', async () => {
  const ids = ['afspraak', 'raad-bosch'];
  expect(await found('gm0796', '&sorteer=datum')).toEqual([...ids.toReversed(), 'jeugd', 'wijzigingen', 'begroting']);
  expect(await found('gm0796', '&sorteer=oudste')).toEqual(['begroting', 'wijzigingen', 'jeugd', ...ids]);
  const { text } = await pages.get('/zoeken?q=gm0796&komend=ja');
  expect(text).toContain('<input id="komend" name="komend" type="checkbox" value="ja" checked>');
});

it('highlights the words in whatever form they are found', async () => {
  for (const [q, marked] of [
    ['brief', 'Brieven'],
    ['hulpverlening', 'Jeugdhulpverlening'],
    ['cafe', 'Cafés'],
    ['dancona', 'd&#39;Ancona'],
  ] as const)
    expect((await pages.get(`/zoeken?q=${q}`)).text).toContain(`<mark class="utrecht-mark">${marked}</mark>`);
});

it.each([
  ['jeugdhulpverlenng', 'jeugdhulpverlenng', 'jeugdhulpverlening'],
  ['bilstraat herinrichting', 'bilstraat', 'biltstraat'],
  ['Hertogenbos', 'Hertogenbos', 'hertogenbosch'],
])('names the unknown word in %j, and the nearest spelling', async (q, word, nearest) => {
  const { status, text } = await pages.get(`/zoeken?q=${encodeURIComponent(q)}`);
  expect(status).toBe(200);
  expect(text).toContain(`“${word}” komt nergens voor.`);
  expect(text).toContain(`>${nearest}</a>?`);
  const href = /Bedoelde u <a [^>]*href="\/raad\/zoeken\?q=([^"]*)"/.exec(text)?.[1] ?? '';
  expect(decodeURIComponent(href.replaceAll('+', ' '))).toBe(q.replace(word, nearest));
});

it('says that words that are never together each occur', async () => {
  const { text } = await pages.get('/zoeken?q=kade+jeugdhulp+-gracht');
  expect(text).toContain('Gezocht is naar “kade”, “jeugdhulp”');
  expect(text).toContain('Elk woord komt voor, maar niet samen');
});

/** Words for a type of resource: the results, in this order. */
it.each([
  ['vergadering', 'raad-bosch', 'raad-utrecht', 'ruimte-utrecht', 'raad-fryslan'],
  ['Vergaderingen', 'raad-bosch', 'raad-utrecht', 'ruimte-utrecht', 'raad-fryslan'],
  ['vergadering utrecht', 'raad-utrecht', 'ruimte-utrecht'],
  ['vergadering 12 maart 2026', 'raad-bosch', 'raad-utrecht'],
  ['agendapunten', 'biltstraat'],
  ['motie', 'naam'],
  ['raadsvraag', 'vragen-2', 'vragen-1'],
  ['raadsvragen utrecht', 'vragen-2', 'vragen-1'],
])('%s finds that type, the newest first', async (q, ...ids) => {
  const hits = await found(q);
  expect(hits.map((id) => ids.indexOf(id))).not.toContain(-1);
  // Two meetings on one day come in either order.
  const day = (id: string): string => (id.startsWith('raad-') && id !== 'raad-fryslan' ? 'raad' : id);
  expect(hits.map(day)).toEqual(ids.map(day));
});

it('says which type it took a word for, and searches for the word itself on request', async () => {
  const { text } = await pages.get('/zoeken?q=vergadering');
  expect(text).toContain('>4 resultaten</h2>');
  expect(text).toContain('U ziet alleen vergaderingen.');
  expect(text).toContain('href="/raad/zoeken?q=%22vergadering%22">Zoek naar het woord “vergadering” zelf</a>');
  expect(await found('"vergadering"')).toEqual([]);
  const beside = (await pages.get('/zoeken?q=vergadering+utrecht')).text;
  expect(beside).toContain(
    'href="/raad/zoeken?q=%22vergadering%22+utrecht">Zoek naar het woord “vergadering” zelf</a>',
  );
  // Beside other words it is an ordinary word, and so it is when another type was chosen.
  expect(await found('vergadering begroting')).toEqual([]);
  expect(await found('vergadering', '&soort=informatieobjecten')).toEqual([]);
  expect(await found('vergadering', '&soort=vergaderingen')).toHaveLength(4);
  expect((await pages.get('/zoeken?q=agendapunt&organisatie=gm0796')).text).toContain('Haal een filter weg.');
});
