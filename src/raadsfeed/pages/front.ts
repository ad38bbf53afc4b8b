/** The front page: today's and coming meetings, new documents, organisations, and search. */
import { count, day } from '../../html/format.ts';
import { badge, heading, link, type Page, paragraph } from '../../html/page.ts';
import { type Html, html, shorten } from '../../lib/template.ts';
import { dayAfter, dutchDay, midnight } from '../../lib/time.ts';
import { type FeedOrganisation, readOrganisations } from '../store/state.ts';
import { byName, fromPath, HOME, isStale, organisationPath, type PagesContext, trail } from './context.ts';
import { itemList, readWindow, windowList } from './rows.ts';
import { type Item, listItems } from './search/lists.ts';
import { searchForm, searchPath } from './search.ts';

const SHOWN = 8;
const TODAY = 50;
const CARDS = 40;
const LIST_BYTES = 14_000;

export const ORGANISATIONS = `${HOME}/organisaties`;

export async function frontPage(context: PagesContext): Promise<Page> {
  const { pool, clock, baseUrl, apiUrl } = context;
  const now = clock.now();
  const date = dutchDay(now);
  const [today, tomorrow] = [midnight(date), midnight(dayAfter(date))];
  const meetings = { resourceType: 'Vergadering' } as const;
  const [organisations, current, coming, past, documents] = await Promise.all([
    readOrganisations(pool),
    listItems(pool, { ...meetings, from: today, to: tomorrow, order: 'oldest', limit: TODAY + 1 }),
    listItems(pool, { ...meetings, from: tomorrow, order: 'oldest', limit: SHOWN + 1 }),
    listItems(pool, { ...meetings, to: today, limit: SHOWN + 1 }),
    listItems(pool, { resourceType: 'Informatieobject', order: 'stored', limit: SHOWN + 1 }),
  ]);
  const names = new Map(organisations.map(({ organisatiecode, naam }) => [organisatiecode, naam]));
  const beside = ({ organisatiecode }: Item): string | undefined =>
    organisations.length > 1 ? names.get(organisatiecode) : undefined;
  const list = (text: string, address: Parameters<typeof searchPath>[0]) => ({
    now,
    beside,
    most: SHOWN,
    bytes: LIST_BYTES,
    all: { href: searchPath(address), text },
  });
  const held = { soort: 'vergaderingen' };
  const cards = byName(organisations)
    .slice(0, CARDS)
    .map((one) => organisationLine(one, now));
  return {
    title: 'Raadsinformatie',
    description: 'Vergaderingen, agenda’s en documenten van de raad: bekijken, zoeken en downloaden.',
    canonical: `${baseUrl()}${HOME}`,
    json: `${apiUrl()}/`,
    body: [
      heading(1, 'Raadsinformatie'),
      html`<p class="kv-lead">Bekijk wat de raad en de commissies bespreken. U vindt hier vergaderingen, agenda’s en documenten.</p>`,
      searchForm(),
      html`<div class="kv-columns"><div>
${heading(2, 'Vandaag')}
${itemList(current, { ...list('Alle vergaderingen van vandaag', { ...held, van: date, tot: date }), most: TODAY, empty: 'Vandaag zijn er geen vergaderingen.' })}
${heading(2, 'Komende vergaderingen')}
${itemList(coming, { ...list('Alle komende vergaderingen', { ...held, van: dutchDay(tomorrow) }), empty: 'Er zijn nog geen vergaderingen bekend.' })}
<details class="kv-fold"${current.length + coming.length === 0 && html` open`}><summary>Laatste vergaderingen</summary>
${itemList(past, { ...list('Alle eerdere vergaderingen', { ...held, tot: dutchDay(new Date(today.getTime() - 1)) }), empty: 'Er zijn nog geen vergaderingen geweest.' })}
</details>
</div><div>
${heading(2, 'Nieuwe documenten')}
${itemList(documents, { ...list('Alle documenten', { soort: 'informatieobjecten' }), empty: 'Er zijn nog geen documenten.' })}
</div></div>`,
      heading(2, 'Organisaties', 'organisaties'),
      organisations.length === 0
        ? paragraph('Er is nog niets gepubliceerd.')
        : html`<ul class="kv-cards">${cards}</ul><ul class="kv-links">${organisations.length > CARDS && html`<li>${link(ORGANISATIONS, `Alle ${count(organisations.length)} organisaties`)}</li>`}<li>${link(`${ORGANISATIONS}.csv`, 'Organisaties als CSV')}</li></ul>`,
    ],
  };
}

function organisationLine(one: FeedOrganisation, now: Date): Html {
  return html`<li><span class="kv-list__title">${link(organisationPath(one.organisatiecode), shorten(one.naam, 100))}</span>
<p class="kv-list__line">${one.laatstBijgewerkt === null ? 'Nog niet bijgewerkt' : `Bijgewerkt op ${day(one.laatstBijgewerkt)}`} ${isStale(one, now) && badge('Loopt achter', 'warning')}</p></li>`;
}

export async function organisationsPage(context: PagesContext, from: number): Promise<Page> {
  const { pool, clock, baseUrl, apiUrl } = context;
  const organisations = byName(await readOrganisations(pool));
  const at = (vanaf: number): string => fromPath(ORGANISATIONS, vanaf);
  const found = await readWindow(
    from,
    async ({ offset, limit }) => organisations.slice(offset, offset + limit),
    (one) => organisationLine(one, clock.now()),
  );
  return {
    title: 'Organisaties',
    description: 'Alle organisaties met raadsinformatie, op naam.',
    canonical: `${baseUrl()}${at(from)}`,
    json: `${apiUrl()}/`,
    path: trail(),
    body: [heading(1, 'Organisaties'), windowList(found, 'Er is nog niets gepubliceerd.', at)],
  };
}
