/** The front page: organisations, the meetings that come and those that were, and search. */

import { html, shorten } from '../../plugins/template.ts';
import { readOrganisations } from '../../raadsfeed/store/state.ts';
import { day } from '../shared/html/format.ts';
import { badge, heading, link, type Page, paragraph } from '../shared/html/page.ts';
import { HOME, isStale, organisationPath, type PagesContext } from './context.ts';
import { itemList } from './rows.ts';
import { type Item, listItems } from './search/lists.ts';
import { searchForm } from './search.ts';

const SHOWN = 8;

export async function frontPage(context: PagesContext): Promise<Page> {
  const { pool, clock, baseUrl, apiUrl } = context;
  const now = clock.now();
  const [organisations, coming, past, documents] = await Promise.all([
    readOrganisations(pool),
    listItems(pool, { resourceType: 'Vergadering', from: now, order: 'oldest', limit: SHOWN }),
    listItems(pool, { resourceType: 'Vergadering', to: now, limit: SHOWN }),
    listItems(pool, { resourceType: 'Informatieobject', limit: SHOWN }),
  ]);
  const names = new Map(organisations.map(({ organisatiecode, naam }) => [organisatiecode, naam]));
  const beside = ({ organisatiecode }: Item): string | undefined =>
    organisations.length > 1 ? names.get(organisatiecode) : undefined;
  const cards = organisations.map(
    (
      one,
    ) => html`<li><span class="kv-list__title">${link(organisationPath(one.organisatiecode), shorten(one.naam, 100))}</span>
<p class="kv-list__line">${one.laatstBijgewerkt === null ? 'Nog niet bijgewerkt' : `Bijgewerkt op ${day(one.laatstBijgewerkt)}`} ${isStale(one, now) && badge('Loopt achter', 'warning')}</p></li>`,
  );
  return {
    title: 'Raadsinformatie',
    description: 'Vergaderingen, agenda’s en documenten van de raad: bekijken, zoeken en meenemen.',
    canonical: `${baseUrl()}${HOME}`,
    json: `${apiUrl()}/`,
    body: [
      heading(1, 'Raadsinformatie'),
      html`<p class="kv-lead">Bekijk wat de raad en de commissies bespreken. U vindt hier vergaderingen, agenda’s en documenten.</p>`,
      searchForm(),
      html`<div class="kv-columns"><div>
${heading(2, 'Vergaderingen die komen')}
${itemList(coming, { empty: 'Er zijn nog geen vergaderingen bekend.', beside })}
${heading(2, 'Laatste vergaderingen')}
${itemList(past, { empty: 'Er zijn nog geen vergaderingen geweest.', beside })}
</div><div>
${heading(2, 'Nieuwe documenten')}
${itemList(documents, { empty: 'Er zijn nog geen documenten.', beside })}
</div></div>`,
      heading(2, 'Organisaties'),
      organisations.length === 0
        ? paragraph('Er is nog niets gepubliceerd.')
        : html`<ul class="kv-cards">${cards.slice(0, 200)}</ul><ul class="kv-links"><li>${link(`${HOME}/organisaties.csv`, 'Organisaties als CSV')}</li></ul>`,
    ],
  };
}
