/** The page of a search: results with the words marked, filters with their counts, and every search under an address of its own. */

import { transaction } from '../../database/transaction.ts';
import { normaliseOrganisatiecode } from '../../lib/feed-client/organisatiecode.ts';
import { Problem } from '../../lib/problem.ts';
import { count, day, isoDay } from '../../plugins/html/format.ts';
import { badge, heading, link, type Page, paragraph } from '../../plugins/html/page.ts';
import { type Html, type HtmlValue, html, shorten } from '../../plugins/html/template.ts';
import { platformProblems } from '../../plugins/problems.ts';
import { COLLECTIONS, type ResourceType } from '../../raadsfeed/domain/resource.ts';
import { raadsfeedProblems } from '../../raadsfeed/problems.ts';
import { type FeedOrganisation, readOrganisations } from '../../raadsfeed/store/state.ts';
import { anchorOf } from './agenda.ts';
import { HOME, type PagesContext, pagePath, withQuery } from './context.ts';
import { pager } from './document.ts';
import { joined, TYPE_NAMES, textIn } from './rows.ts';
import { type Facet, type Item, MOST_FOUND, type SearchResult, search } from './search/find.ts';
import { fold, QUERY_LENGTH, readQuery, type SearchQuery } from './search/fold.ts';
import { type Marks, markWords } from './search/marks.ts';

/** Milliseconds that a search may take. */
const SEARCH_MS = 3000;
export const RESULTS_PAGE = 20;
const PATH = `${HOME}/zoeken`;

/** A search as its address says it. */
export interface SearchAddress {
  readonly q: string;
  readonly organisatie: string | undefined;
  readonly gremium: string | undefined;
  readonly soort: string | undefined;
  readonly van: string | undefined;
  readonly tot: string | undefined;
  readonly sorteer: 'relevantie' | 'datum';
  readonly pagina: number;
}

const DAY = /^(19|20|21)\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;

/** Reads the query of the address; a parameter that is given twice counts once. @throws {Problem} 400 with what is wrong */
export function readSearchAddress(query: Readonly<Record<string, unknown>>): SearchAddress {
  const text = (name: string): string | undefined => {
    const value = [query[name]].flat()[0];
    return typeof value !== 'string' || value.trim() === '' ? undefined : value.trim();
  };
  const q = text('q') ?? '';
  if (q.length > QUERY_LENGTH) throw wrong(`Zoek met ten hoogste ${QUERY_LENGTH} tekens.`);
  const organisatie = text('organisatie');
  const code = organisatie === undefined ? undefined : normaliseOrganisatiecode(organisatie);
  if (organisatie !== undefined && code === undefined) throw wrong('Deze organisatie is niet bekend.');
  const soort = text('soort');
  if (soort !== undefined && typeOf(soort) === undefined) throw wrong('Deze soort is niet bekend.');
  const [van, tot] = [text('van'), text('tot')];
  for (const date of [van, tot]) {
    if (date !== undefined && (!DAY.test(date) || new Date(date).toISOString().slice(0, 10) !== date))
      throw wrong('Schrijf een datum als 2026-01-31.');
  }
  const pagina = Number(text('pagina') ?? 1);
  if (!Number.isInteger(pagina) || pagina < 1 || pagina > MOST_FOUND / RESULTS_PAGE)
    throw wrong('Deze pagina is er niet.');
  const gremium = text('gremium');
  if ((gremium?.length ?? 0) > 200) throw wrong('Deze commissie is niet bekend.');
  return {
    q,
    organisatie: code,
    gremium,
    soort,
    van,
    tot,
    sorteer: text('sorteer') === 'datum' ? 'datum' : 'relevantie',
    pagina,
  };
}

function wrong(detail: string): Problem {
  return new Problem(platformProblems.invalidRequest, { detail });
}

function typeOf(soort: string | undefined): ResourceType | undefined {
  if (soort === 'vergaderingen') return 'Vergadering';
  if (soort === 'agendapunten') return 'Agendapunt';
  return soort === 'informatieobjecten' ? 'Informatieobject' : undefined;
}

/** The address of a search, or of its CSV or Atom. */
export function searchPath(address: SearchAddress, change: Partial<SearchAddress> = {}, suffix = ''): string {
  const { sorteer, pagina, ...rest } = { ...address, pagina: 1, ...change };
  return withQuery(`${PATH}${suffix}`, {
    ...rest,
    sorteer: sorteer === 'datum' ? sorteer : undefined,
    pagina: pagina === 1 ? undefined : pagina,
  });
}

const NOTHING: SearchResult = { items: [], total: 0, organisations: [], types: [], bodies: [] };

/** Runs a search within its time. @throws {Problem} when it takes longer */
export async function runSearch(
  { pool }: PagesContext,
  address: SearchAddress,
  page: { readonly offset: number; readonly limit: number; readonly marks: boolean },
): Promise<{
  readonly result: SearchResult;
  readonly marks: readonly Marks[];
  readonly query: SearchQuery | undefined;
}> {
  const query = readQuery(address.q);
  // Typed, but no word to find: everything would be the wrong answer.
  if (address.q !== '' && query === undefined) return { result: NOTHING, query, marks: [] };
  const { organisatie: organisatiecode, gremium, soort, van: from, tot: to, sorteer: sort } = address;
  const request = { organisatiecode, gremium, resourceType: typeOf(soort), from, to, query, sort, ...page };
  try {
    return await transaction(
      pool,
      async (db) => {
        const result = await search(db, request);
        const texts = page.marks && query !== undefined ? result.items.flatMap(textsOf).map(fold) : [];
        return { result, query, marks: query === undefined ? [] : await markWords(db, query, texts) };
      },
      { readOnly: true, statementTimeoutMs: SEARCH_MS },
    );
  } catch (error) {
    // 57014: the statement was ended by its time-out.
    if (error instanceof Error && 'code' in error && error.code === '57014')
      throw new Problem(raadsfeedProblems.searchTooSlow);
    throw error;
  }
}

/** The texts of a result that words are marked in: its title and what it says. */
function textsOf({ titel, kort }: Item): [string, string] {
  return [shorten(titel, 200), shorten(textIn(kort, 'omschrijving') ?? '', 280)];
}

export async function searchPage(context: PagesContext, address: SearchAddress): Promise<Page> {
  const { pagina, q } = address;
  const page = { offset: (pagina - 1) * RESULTS_PAGE, limit: RESULTS_PAGE, marks: true };
  const [{ result, marks }, organisations] = await Promise.all([
    runSearch(context, address, page),
    readOrganisations(context.pool),
  ]);
  const names = new Map(organisations.map(({ organisatiecode, naam }) => [organisatiecode, naam]));
  const isSearch =
    q !== '' || ['organisatie', 'gremium', 'soort', 'van', 'tot'].some((name) => Object(address)[name] !== undefined);
  const title = q === '' ? 'Zoeken' : `Zoeken naar ${q}`;
  const hits = result.items.map((item, i) => resultRow(item, marks[2 * i] ?? [], marks[2 * i + 1] ?? [], names));
  return {
    title: pagina === 1 ? title : `${title}, pagina ${pagina}`,
    description: 'Zoek in vergaderingen, agendapunten en documenten van de raad.',
    canonical: `${context.baseUrl()}${searchPath(address, { pagina })}`,
    json: `${context.apiUrl()}/`,
    alternates: [{ href: searchPath(address, {}, '.atom'), type: 'application/atom+xml', title }],
    path: [{ href: HOME, text: 'Begin' }],
    body: [
      heading(1, 'Zoeken'),
      form(address, organisations),
      html`<div class="kv-columns kv-columns--filter"><div>
${heading(2, found(result.total, isSearch))}
${result.total > MOST_FOUND && paragraph(`U ziet de ${count(MOST_FOUND)} nieuwste, en de aantallen hiernaast gaan daarover. Wat ouder is, vindt u met meer woorden, een filter of een periode.`)}
${sortLinks(address, result.total)}
${result.total === 0 && paragraph('Probeer andere of minder woorden, of haal een filter weg. Zet woorden tussen aanhalingstekens om ze samen te zoeken.')}
${hits.length > 0 && html`<ol class="kv-list">${hits}</ol>`}
${result.total > 0 && hits.length === 0 && paragraph('Op deze pagina staan geen resultaten meer.')}
${pager(pagina, result.total > pagina * RESULTS_PAGE && pagina < MOST_FOUND / RESULTS_PAGE, (page) => searchPath(address, { pagina: page }))}
${result.total > 0 && html`<ul class="kv-links"><li>${link(searchPath(address, {}, '.csv'), 'Resultaten als CSV')}</li><li>${link(searchPath(address, {}, '.atom'), 'Nieuwe resultaten volgen (Atom)')}</li></ul>`}
</div><div>${facets(address, result, names)}</div></div>`,
    ],
  };
}

function found(total: number, isSearch: boolean): string {
  if (total > MOST_FOUND) return `Meer dan ${count(MOST_FOUND)} resultaten`;
  if (!isSearch) return total === 0 ? 'Er is nog niets gepubliceerd' : `Alles, nieuwste eerst (${count(total)})`;
  return total === 1 ? '1 resultaat' : `${count(total)} resultaten`;
}

function form(address: SearchAddress, organisations: readonly FeedOrganisation[]): Html {
  const option = (value: string, text: string, chosen: string | undefined): Html =>
    html`<option value="${value}"${value === (chosen ?? '') && html` selected`}>${shorten(text, 80)}</option>`;
  return html`<form action="${PATH}" method="get" role="search">
<div class="kv-search kv-search--filters"><div class="kv-search__words"><label for="q">Woorden, namen of een zin tussen aanhalingstekens</label>
<input class="utrecht-textbox utrecht-textbox--html-input" id="q" name="q" type="search" maxlength="${QUERY_LENGTH}" value="${address.q}" autocomplete="off"></div>
<div><label for="organisatie">Organisatie</label><select class="utrecht-select utrecht-select--html-select" id="organisatie" name="organisatie">${option('', 'Alle', address.organisatie)}${organisations.slice(0, 400).map(({ organisatiecode, naam }) => option(organisatiecode, naam, address.organisatie))}</select></div>
<div><label for="soort">Soort</label><select class="utrecht-select utrecht-select--html-select" id="soort" name="soort">${option('', 'Alles', address.soort)}${Object.entries(COLLECTIONS).map(([type, name]) => option(name, TYPE_PLURALS[type] ?? name, address.soort))}</select></div>
<div><label for="van">Vanaf</label><input class="utrecht-textbox utrecht-textbox--html-input" id="van" name="van" type="date" value="${address.van ?? ''}"></div>
<div><label for="tot">Tot en met</label><input class="utrecht-textbox utrecht-textbox--html-input" id="tot" name="tot" type="date" value="${address.tot ?? ''}"></div>
${address.gremium !== undefined && html`<input type="hidden" name="gremium" value="${address.gremium}">`}
${address.sorteer === 'datum' && html`<input type="hidden" name="sorteer" value="datum">`}
<button class="utrecht-button utrecht-button--primary-action" type="submit">Zoeken</button></div>
</form>`;
}

const TYPE_PLURALS: Readonly<Record<string, string>> = {
  Vergadering: 'Vergaderingen',
  Agendapunt: 'Agendapunten',
  Informatieobject: 'Documenten',
};

function facets(
  address: SearchAddress,
  { types, organisations, bodies }: SearchResult,
  names: ReadonlyMap<string, string>,
): HtmlValue {
  const group = (
    title: string,
    list: readonly Facet[],
    name: 'soort' | 'organisatie' | 'gremium',
    label: (facet: Facet) => string,
    value: (facet: Facet) => string,
  ): HtmlValue => {
    if (list.length === 0) return undefined;
    const rows = list.map((facet) =>
      address[name] === value(facet)
        ? html`<li><strong>${label(facet)}</strong> ${link(searchPath(address, { [name]: undefined }), html`Haal weg<span class="kv-hidden">: ${label(facet)}</span>`)}</li>`
        : html`<li>${link(searchPath(address, { [name]: value(facet) }), label(facet))} <span class="kv-quiet">${count(facet.count)}</span></li>`,
    );
    return [heading(2, title), html`<ul class="kv-facets">${rows}</ul>`];
  };
  return [
    group(
      'Soort',
      types,
      'soort',
      ({ value }) => TYPE_PLURALS[value] ?? value,
      ({ value }) => collectionOf(value),
    ),
    group(
      'Organisatie',
      organisations,
      'organisatie',
      ({ value }) => shorten(names.get(value) ?? value, 60),
      ({ value }) => value,
    ),
    group(
      'Raad en commissies',
      bodies,
      'gremium',
      ({ label }) => shorten(label, 60),
      ({ value }) => value,
    ),
    (address.van !== undefined || address.tot !== undefined) &&
      paragraph(link(searchPath(address, { van: undefined, tot: undefined }), 'Haal de periode weg')),
  ];
}

function collectionOf(type: string): string {
  return Object.entries(COLLECTIONS).find(([name]) => name === type)?.[1] ?? '';
}

function sortLinks(address: SearchAddress, total: number): HtmlValue {
  if (total < 2 || address.q === '') return undefined;
  const choices = [
    { sorteer: 'relevantie', text: 'Beste resultaat eerst' },
    { sorteer: 'datum', text: 'Nieuwste eerst' },
  ] as const;
  return html`<ul class="kv-links">${choices.map(({ sorteer, text }) => html`<li>${sorteer === address.sorteer ? html`<strong>${text}</strong>` : link(searchPath(address, { sorteer }), text)}</li>`)}</ul>`;
}

/** The page of a result: an item is on the page of its meeting. */
export function resultPath(item: Item): string {
  const { resourceType, vergadering, organisatiecode } = item;
  if (resourceType !== 'Agendapunt' || vergadering === null) return pagePath(resourceType, item);
  return `${pagePath('Vergadering', { organisatiecode, bronidentificatie: vergadering })}#${anchorOf(item)}`;
}

function resultRow(item: Item, inTitle: Marks, inText: Marks, names: ReadonlyMap<string, string>): Html {
  const { datum, gremiumnaam, organisatiecode, resourceType } = item;
  const [title, text] = textsOf(item);
  const line = [
    datum !== null && html`<time datetime="${isoDay(datum)}">${day(datum)}</time>`,
    gremiumnaam !== null && shorten(gremiumnaam, 80),
    shorten(names.get(organisatiecode) ?? organisatiecode, 80),
  ];
  return html`<li>${badge(TYPE_NAMES[resourceType])} <span class="kv-list__title">${link(resultPath(item), marked(title, inTitle))}</span>
<p class="kv-list__line">${joined(line)}</p>${text !== '' && html`<p class="kv-list__text">${marked(text, inText)}</p>`}</li>`;
}

/** Text with its words marked; the pieces are escaped one by one. */
function marked(text: string, ranges: Marks): HtmlValue {
  const pieces: HtmlValue[] = [];
  let at = 0;
  for (const [from, to] of ranges) {
    pieces.push(text.slice(at, from), html`<mark class="utrecht-mark">${text.slice(from, to)}</mark>`);
    at = to;
  }
  return [...pieces, text.slice(at)];
}
