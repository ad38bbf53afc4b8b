/** The page of a search: results with the words marked, filters with their counts, and every search under an address of its own. */
import { transaction, withTimeBudget } from '../../database/transaction.ts';
import { count, day } from '../../html/format.ts';
import { badge, heading, link, type Page, paragraph } from '../../html/page.ts';
import { COLLECTIONS, normaliseOrganisatiecode, RESOURCE_TYPES, type ResourceType } from '../../lib/feed/resource.ts';
import { Problem } from '../../lib/problem.ts';
import { type Html, type HtmlValue, html, shorten, trusted } from '../../lib/template.ts';
import { dayAfter, dutchDay, isDay, midnight } from '../../lib/time.ts';
import { platformProblems } from '../../plugins/problems.ts';
import { raadsfeedProblems } from '../problems.ts';
import { type FeedOrganisation, readOrganisations } from '../store/state.ts';
import { byName, HOME, type PagesContext, pagePath, trail, typeOf, withQuery } from './context.ts';
import { fileLink, joined, TYPE_NAMES, textIn } from './rows.ts';
import { type Facet, type SearchResult, type SearchSort, search } from './search/find.ts';
import type { Item } from './search/lists.ts';
import { type KindQuery, MOST_TERMS, QUERY_LENGTH, readKind, readQuery } from './search/query.ts';
import { findMissing, type Marks, markWords, readWords } from './search/words.ts';

const SEARCH_MS = 3000;
/** The planner has no statistics of words: it would scan the table, compile short queries, and sort on disk. */
const PLANNING = `select set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true), set_config('work_mem', '16MB', true)`;
const RESULTS_PAGE = 20;
const LAST_PAGE = 100;
const PATH = `${HOME}/zoeken`;

const SORTS = ['datum', 'oudste', 'nieuwste', 'relevantie'] as const satisfies readonly SearchSort[];

type SearchAddress = ReturnType<typeof readSearchAddress>;

const isDayOfMeetings = (text: string): boolean => /^(19|20|21)/.test(text) && isDay(text);
const isPage = (text: string): boolean => /^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= LAST_PAGE;

/** The first of a repeated parameter counts. @throws {Problem} 400 */
export function readSearchAddress(query: Readonly<Record<string, unknown>>) {
  const read = (name: string, isRight = (_text: string): boolean => true): string | undefined => {
    const value = [query[name]].flat()[0];
    const text = typeof value === 'string' ? value.trim() : '';
    if (text === '') return undefined;
    if (text.length <= QUERY_LENGTH && isRight(text)) return text;
    const detail = `De waarde van “${name}” in het adres klopt niet, of is langer dan ${QUERY_LENGTH} tekens.`;
    throw new Problem(platformProblems.invalidRequest, { detail });
  };
  const organisatie = read('organisatie', (text) => normaliseOrganisatiecode(text) !== undefined);
  return {
    q: read('q'),
    organisatie: organisatie && normaliseOrganisatiecode(organisatie),
    gremium: read('gremium'),
    soort: read('soort', (text) => typeOf(text) !== undefined),
    van: read('van', isDayOfMeetings),
    tot: read('tot', isDayOfMeetings),
    komend: read('komend') === 'ja' ? ('ja' as const) : undefined,
    sorteer: SORTS.find((sort) => sort === read('sorteer')),
    pagina: Number(read('pagina', isPage) ?? 1),
  };
}

/** The address of a search, or of its CSV or Atom. @param voor where a part of the Atom feed begins */
export function searchPath(
  address: Partial<SearchAddress>,
  change: Partial<SearchAddress> = {},
  suffix = '',
  voor?: number,
): string {
  const { pagina, ...rest } = { ...address, pagina: 1, ...change };
  return withQuery(`${PATH}${suffix}`, { ...rest, pagina: pagina === 1 ? undefined : pagina, voor });
}

/** Whether the query has words, beside one for a kind. */
const hasWords = ({ q }: SearchAddress, kind: KindQuery | undefined): boolean =>
  q !== undefined && (kind === undefined || kind.query !== undefined);

/** Without words, the newest items in the feed come first, meetings by date; of coming items the soonest. */
function sortOf(address: SearchAddress, kind: KindQuery | undefined): (typeof SORTS)[number] {
  const { q, soort, komend, sorteer } = address;
  if (sorteer !== undefined && (sorteer !== 'relevantie' || hasWords(address, kind))) return sorteer;
  if (kind !== undefined) return komend === undefined ? 'datum' : 'oudste';
  if (q !== undefined) return 'relevantie';
  if (komend !== undefined) return 'oudste';
  return soort === COLLECTIONS.Vergadering ? 'datum' : 'nieuwste';
}

type Found = Awaited<ReturnType<typeof runSearch>>;

const NOTHING = {
  items: [],
  total: 0,
  isMore: false,
  organisations: [],
  types: [],
  bodies: [],
  words: undefined,
  kind: undefined,
  missing: [],
};

/**
 * Runs a search within its time; without `words` the query has none, or is only a word for a kind of item.
 * @param follow for a feed reader: newest in the feed first, so that later changes move nothing; only items before `voor`
 * @throws {Problem} when it takes longer
 */
export async function runSearch(
  { pool, clock }: PagesContext,
  address: SearchAddress,
  organisations: readonly FeedOrganisation[],
  part: { readonly offset: number; readonly limit: number },
  follow?: { readonly voor: number | undefined },
) {
  const { q, organisatie, gremium, soort, van, tot, komend } = address;
  const typed = q === undefined ? undefined : readQuery(q);
  // The query has no searchable word; returning every item would be wrong.
  if (q !== undefined && typed === undefined) return NOTHING;
  const kind = typed && readKind(typed, organisations, typeOf(soort));
  const query = kind === undefined ? typed : kind.query;
  const days = [van, komend && dutchDay(clock.now())].filter((date) => date !== undefined).toSorted();
  const from = days.at(-1);
  const request = {
    organisatiecode: organisatie,
    gremium,
    resourceType: kind?.type ?? typeOf(soort),
    ...part,
    from: from === undefined ? undefined : midnight(from),
    to: tot === undefined ? undefined : midnight(dayAfter(tot)),
    ...(follow === undefined ? { sort: sortOf(address, kind) } : ({ sort: 'nieuwste', before: follow.voor } as const)),
  } as const;
  try {
    return await transaction(
      pool,
      async (client) => {
        const db = withTimeBudget(client, SEARCH_MS);
        await db.query(PLANNING);
        const words = query && (await readWords(db, query, organisations));
        if (query !== undefined && words === undefined) return NOTHING;
        const result = await search(db, { ...request, words });
        const missing = words && result.total === 0 ? await findMissing(db, words, organisations) : [];
        return { ...result, words, kind, missing };
      },
      { readOnly: true },
    );
  } catch (error) {
    // 57014: the time limit was reached.
    if (error instanceof Error && 'code' in error && error.code === '57014')
      throw new Problem(raadsfeedProblems.searchTooSlow);
    throw error;
  }
}

function textsOf({ titel, summary }: Item): [string, string] {
  return [shorten(titel, 200), shorten(textIn(summary, 'omschrijving') ?? '', 280)];
}

export async function searchPage(context: PagesContext, address: SearchAddress): Promise<Page> {
  const { pagina, q } = address;
  const organisations = await readOrganisations(context.pool);
  const part = { offset: (pagina - 1) * RESULTS_PAGE, limit: RESULTS_PAGE };
  const result = await runSearch(context, address, organisations, part);
  const { items, total, isMore, words, kind } = result;
  const hasNext = isMore || total > pagina * RESULTS_PAGE;
  const marks = words && (await markWords(context.pool, words, items.flatMap(textsOf)));
  const names = new Map(organisations.map(({ organisatiecode, naam }) => [organisatiecode, naam]));
  const title = q === undefined ? 'Zoeken' : `Zoeken naar ${q}`;
  const hits = items.map((item, i) => resultRow(item, marks?.slice(2 * i, 2 * i + 2) ?? [], names));
  return {
    title: pagina === 1 ? title : `${title}, pagina ${pagina}`,
    description: 'Zoek in vergaderingen, agendapunten en documenten van de raad.',
    canonical: `${context.baseUrl()}${searchPath(address, { pagina })}`,
    json: `${context.apiUrl()}/`,
    alternates: [{ href: searchPath(address, {}, '.atom'), type: 'application/atom+xml', title }],
    path: trail(),
    body: [
      heading(1, 'Zoeken'),
      form(address, organisations),
      html`<div class="kv-columns kv-columns--filter"><div>
${heading(2, found(result, address))}
${isMore && paragraph(`Er zijn meer resultaten. De aantallen bij de filters zijn van ${count(total)} resultaten.`)}
${total > 1 && sortLinks(address, kind)}
${kind?.type !== undefined && kindNote(address, kind.type, kind.word)}
${q !== undefined && readQuery(q)?.isCut === true && paragraph(`U typte meer dan ${MOST_TERMS} woorden; er is gezocht naar de eerste ${MOST_TERMS}.`)}
${total === 0 && nothingFound(address, result)}
${hits.length > 0 && html`<ol class="kv-list">${hits}</ol>`}
${total > 0 && hits.length === 0 && paragraph('Op deze pagina staan geen resultaten meer.')}
${hasNext && pagina === LAST_PAGE && paragraph('U kunt niet verder bladeren. Kies een filter of een periode, typ meer woorden of download de resultaten als CSV.')}
${pager(pagina, hasNext && pagina < LAST_PAGE, (page) => searchPath(address, { pagina: page }))}
${total > 0 && html`<ul class="kv-links"><li>${link(searchPath(address, {}, '.csv'), 'Resultaten als CSV')}</li><li>${link(searchPath(address, {}, '.atom'), 'Nieuwe resultaten volgen (Atom)')}</li></ul>`}
</div><div>${facets(address, result, names)}</div></div>`,
    ],
  };
}

/** Says that the word was read as a kind, with a link that searches for the word itself. */
function kindNote(address: SearchAddress, type: ResourceType, word: string): Html {
  const typed = (address.q ?? '').split(/(\s+)/);
  const q = typed.map((part) => (part === word ? `"${word}"` : part)).join('');
  return paragraph([
    `U ziet alleen ${PLURALS[type].toLowerCase()}. `,
    link(searchPath(address, { q }), `Zoek naar het woord “${shorten(word, 80)}” zelf`),
  ]);
}

/** How the query was read, which words have no hit, and the nearest spelling. */
function nothingFound(address: SearchAddress, { words, missing, kind }: Found): HtmlValue {
  const { q } = address;
  if (q === undefined || (kind !== undefined && words === undefined)) return paragraph('Haal een filter weg.');
  if (words === undefined)
    return paragraph('Typ minstens één woord zonder - ervoor. Met - voor een woord sluit u dat woord uit.');
  const quoted = (text: string): string => `“${shorten(text, 80)}”`;
  const hints = missing.map(({ text, nearest }) => {
    const instead = nearest !== undefined && link(searchPath(address, { q: q.replace(text, nearest) }), nearest);
    return html`<li>${quoted(text)} komt nergens voor.${instead && html` Bedoelde u ${instead}?`}</li>`;
  });
  return [
    paragraph(`Gezocht is naar ${words.terms.map(({ text }) => quoted(text)).join(', ')}.`),
    hints.length > 0
      ? html`<ul class="kv-links">${hints}</ul>`
      : paragraph(
          'Elk woord komt voor, maar niet samen binnen deze filters. Probeer minder woorden, zet OR tussen woorden of haal een filter weg.',
        ),
  ];
}

function found({ total, isMore }: SearchResult, address: SearchAddress): string {
  if (isMore) return `Minstens ${count(total)} resultaten`;
  if (total === 0 && searchPath(address) === PATH) return 'Er is nog niets gepubliceerd';
  return total === 1 ? '1 resultaat' : `${count(total)} resultaten`;
}

const PLURALS: Readonly<Record<ResourceType, string>> = {
  Vergadering: 'Vergaderingen',
  Agendapunt: 'Agendapunten',
  Informatieobject: 'Documenten',
};

export function searchForm(hidden: Readonly<Record<string, string | undefined>> = {}): Html {
  return html`<form class="kv-search" action="${PATH}" method="get" role="search">
${wordsField('Zoek in vergaderingen, agendapunten en documenten', '')}
${Object.entries(hidden).map(([name, value]) => hiddenField(name, value))}
${SUBMIT}
</form>`;
}

const INPUT = trusted('class="utrecht-textbox utrecht-textbox--html-input"');
const SUBMIT = trusted('<button class="utrecht-button utrecht-button--primary-action" type="submit">Zoeken</button>');

const wordsField = (label: string, value: string | undefined): Html =>
  html`<div class="kv-search__words"><label for="q">${label}</label>
<input ${INPUT} id="q" name="q" type="search" maxlength="${QUERY_LENGTH}" value="${value}" autocomplete="off"></div>`;

const hiddenField = (name: string, value: string | undefined): HtmlValue =>
  value !== undefined && html`<input type="hidden" name="${name}" value="${value}">`;

type Options = readonly (readonly [value: string, text: string])[];

function form(address: SearchAddress, organisations: readonly FeedOrganisation[]): Html {
  const select = (name: 'organisatie' | 'soort', label: string, options: Options): Html => {
    const isChosen = (value: string): boolean => value === (address[name] ?? '');
    return html`<div><label for="${name}">${label}</label><select class="utrecht-select utrecht-select--html-select" id="${name}" name="${name}">${options.map(([value, text]) => html`<option value="${value}"${isChosen(value) && html` selected`}>${shorten(text, 80)}</option>`)}</select></div>`;
  };
  const date = (name: 'van' | 'tot', label: string): Html =>
    html`<div><label for="${name}">${label}</label><input ${INPUT} id="${name}" name="${name}" type="date" value="${address[name]}"></div>`;
  const named = byName(organisations).map(({ organisatiecode, naam }) => [organisatiecode, naam] as const);
  const types = RESOURCE_TYPES.map((type) => [COLLECTIONS[type], PLURALS[type]] as const);
  return html`<form action="${PATH}" method="get" role="search">
<div class="kv-search kv-search--filters">${wordsField('Woorden, namen of een zin tussen aanhalingstekens', address.q)}
${select('organisatie', 'Organisatie', [['', 'Alle'], ...named.slice(0, 400)])}
${select('soort', 'Soort', [['', 'Alles'], ...types])}
${date('van', 'Vanaf')}
${date('tot', 'Tot en met')}
<div class="kv-search__check"><input id="komend" name="komend" type="checkbox" value="ja"${address.komend !== undefined && html` checked`}> <label for="komend">Alleen wat nog komt</label></div>
${hiddenField('gremium', address.gremium)}
${hiddenField('sorteer', address.sorteer)}
${SUBMIT}</div>
</form>`;
}

function facets(address: SearchAddress, result: SearchResult, names: ReadonlyMap<string, string>): HtmlValue {
  const types = RESOURCE_TYPES.flatMap((type) => {
    const facet = result.types.find(({ value }) => value === type);
    return facet === undefined ? [] : [{ ...facet, value: COLLECTIONS[type], label: PLURALS[type] }];
  });
  const organisations = result.organisations.map((facet) => ({
    ...facet,
    label: names.get(facet.value) ?? facet.value,
  }));
  const group = (title: string, list: readonly Facet[], name: 'soort' | 'organisatie' | 'gremium'): HtmlValue => {
    const rows = list.map(({ value, label: whole, count: number }) => {
      const label = shorten(whole, 60);
      return address[name] === value
        ? html`<li><strong>${label}</strong> ${link(searchPath(address, { [name]: undefined }), html`Haal weg<span class="kv-hidden">: ${label}</span>`)}</li>`
        : html`<li>${link(searchPath(address, { [name]: value }), label)} <span class="kv-quiet">${count(number)}</span></li>`;
    });
    return rows.length > 0 && [heading(2, title), html`<ul class="kv-facets">${rows}</ul>`];
  };
  return [
    group('Soort', types, 'soort'),
    group('Organisatie', organisations, 'organisatie'),
    group('Raad en commissies', result.bodies, 'gremium'),
    (address.van ?? address.tot ?? address.komend) !== undefined &&
      paragraph(
        link(searchPath(address, { van: undefined, tot: undefined, komend: undefined }), 'Haal de periode weg'),
      ),
  ];
}

function sortLinks(address: SearchAddress, kind: KindQuery | undefined): Html {
  const chosen = sortOf(address, kind);
  const choice = (sort: (typeof SORTS)[number], text: string): Html =>
    html`<li>${sort === chosen ? html`<strong>${text}</strong>` : link(searchPath(address, { sorteer: sort }), text)}</li>`;
  return html`<ul class="kv-links">${hasWords(address, kind) && choice('relevantie', 'Beste resultaat eerst')}${choice('nieuwste', 'Nieuw binnengekomen eerst')}${choice('datum', 'Nieuwste datum eerst')}${choice('oudste', 'Oudste datum eerst')}</ul>`;
}

function pager(number: number, hasNext: boolean, at: (page: number) => string): HtmlValue {
  if (number === 1 && !hasNext) return undefined;
  return html`<nav class="utrecht-pagination kv-pager" aria-label="Pagina’s">${number > 1 && link(at(number - 1), 'Vorige pagina')}<span>Pagina ${number}</span>${hasNext && link(at(number + 1), 'Volgende pagina')}</nav>`;
}

function resultRow(item: Item, [inTitle, inText]: readonly Marks[], names: ReadonlyMap<string, string>): Html {
  const { datum, gremiumnaam, organisatiecode, resourceType } = item;
  const [title, text] = textsOf(item);
  const line = [
    datum !== null && html`<time datetime="${dutchDay(datum)}">${day(datum)}</time>`,
    gremiumnaam !== null && shorten(gremiumnaam, 80),
    shorten(names.get(organisatiecode) ?? organisatiecode, 80),
  ];
  return html`<li>${badge(TYPE_NAMES[resourceType])} <span class="kv-list__title">${link(pagePath(item), marked(title, inTitle))}</span>${resourceType === 'Informatieobject' && html` <span class="kv-small">${fileLink(item.summary)}</span>`}
<p class="kv-list__line">${joined(line)}</p>${text !== '' && html`<p class="kv-list__text">${marked(text, inText)}</p>`}</li>`;
}

function marked(text: string, ranges: Marks = []): HtmlValue {
  const pieces: HtmlValue[] = [];
  let at = 0;
  for (const [from, to] of ranges) {
    pieces.push(text.slice(at, from), html`<mark class="utrecht-mark">${text.slice(from, to)}</mark>`);
    at = to;
  }
  return [...pieces, text.slice(at)];
}
