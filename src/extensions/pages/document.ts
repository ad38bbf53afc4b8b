/** The page of a document. */

import type { JsonObject } from '../../lib/json/json-value.ts';
import { type Html, html, safeUrl, shorten } from '../../plugins/template.ts';
import type { Resource } from '../../raadsfeed/domain/resource.ts';
import type { FeedOrganisation } from '../../raadsfeed/store/state.ts';
import { day } from '../shared/html/format.ts';
import { facts, heading, link, type Page, paragraph } from '../shared/html/page.ts';
import { categoryNumber, categoryTerm } from '../shared/woo-value-lists.ts';
import { HOME, jsonAddress, organisationPath, type PagesContext, pagePath } from './context.ts';
import { type HistoryEntry, historyList } from './history.ts';
import { boundedList, fileFacts, itemList, momentIn, textIn } from './rows.ts';
import { listLinked } from './search/lists.ts';
import { resultPath, searchPath } from './search.ts';

const REFERENCES = 100;

/** @param data the document as the feed has it */
export async function documentPage(
  context: PagesContext,
  organisation: FeedOrganisation,
  resource: Resource,
  data: JsonObject,
  history: readonly HistoryEntry[],
): Promise<Page> {
  const { pool, baseUrl } = context;
  const { organisatiecode, bronidentificatie } = resource;
  const self = { organisatiecode, resourceType: 'Informatieobject', bronidentificaties: [bronidentificatie] } as const;
  const [referred, referring] = await Promise.all([
    listLinked(pool, 'from', self, REFERENCES),
    listLinked(pool, 'to', self, REFERENCES),
  ]);
  const title = textIn(data, 'titel') ?? 'Document';
  const meetings = referred.filter(({ resourceType }) => resourceType === 'Vergadering');
  const items = referred.filter(({ resourceType }) => resourceType === 'Agendapunt');
  const related = [...referred, ...referring].filter(({ resourceType }) => resourceType === 'Informatieobject');
  const roles = new Map(related.map(({ bronidentificatie, rol }) => [bronidentificatie, rol === '' ? undefined : rol]));
  const description = textIn(data, 'omschrijving');
  const file = safeUrl(textIn(data, 'bestandsurl'));
  const address = `${baseUrl()}${pagePath('Informatieobject', resource)}`;
  return {
    title,
    description: description ?? `Document van ${organisation.naam}: ${shorten(title, 100)}.`,
    canonical: address,
    json: jsonAddress(context, 'Informatieobject', resource),
    structuredData: digitalDocument(organisation, data, address),
    path: [
      { href: HOME, text: 'Begin' },
      { href: organisationPath(organisatiecode), text: organisation.naam },
      { href: searchPath({ organisatie: organisatiecode, soort: 'informatieobjecten' }), text: 'Documenten' },
    ],
    body: [
      heading(1, shorten(title, 300)),
      description !== undefined && html`<p class="kv-lead kv-pre">${shorten(description, 4000)}</p>`,
      file === undefined
        ? paragraph('Bij dit document is geen bestand gepubliceerd.')
        : html`<p><a class="utrecht-button utrecht-button--primary-action kv-button" href="${file}" rel="noreferrer">Open het bestand (${fileFacts(data)})</a></p>`,
      documentFacts(organisation, data),
      heading(2, 'Waar besproken'),
      meetings.length + items.length === 0 && paragraph('Bij dit document is geen vergadering bekend.'),
      meetings.length > 0 && itemList(meetings),
      items.length > 0 &&
        boundedList(
          items.map(
            (item) =>
              html`<li>Agendapunt: ${item.vergadering === null ? shorten(item.titel, 160) : link(resultPath(item), shorten(item.titel, 160))}${item.gremiumnaam !== null && html`<p class="kv-list__line">${shorten(item.gremiumnaam, 100)}${item.datum !== null && `, ${day(item.datum)}`}</p>`}</li>`,
          ),
        ),
      related.length > 0 && [
        heading(2, 'Hoort bij'),
        itemList(related, { beside: (item) => roles.get(item.bronidentificatie) }),
      ],
      heading(2, 'Geschiedenis'),
      historyList(history),
    ],
  };
}

function documentFacts({ organisatiecode, naam }: FeedOrganisation, data: JsonObject): Html {
  const short = (name: string): string => shorten(textIn(data, name) ?? '', 300);
  const [submitted, created] = ['datumingediend', 'creatiedatum'].map((name) => momentIn(data, name));
  const source = safeUrl(textIn(data, 'webpaginalink'));
  const category = short('wooinformatiecategorie');
  const number = categoryNumber(category);
  return facts([
    ['Soort', short('informatieobjecttype')],
    ['Ingediend', submitted !== undefined && day(submitted)],
    ['Gemaakt', created !== undefined && day(created)],
    ['Auteur', short('auteur')],
    ['Organisatie', link(organisationPath(organisatiecode), shorten(naam, 200))],
    ['Afkomstig van', short('bronorganisatie')],
    ['Bestand', fileFacts(data)],
    ['Controlegetal', short('checksum') !== '' && html`<span class="kv-code">${short('checksum')}</span>`],
    ['Taal', short('taal')],
    ['Categorie (Woo)', (number === undefined ? undefined : categoryTerm(number)?.label) ?? category],
    ['Bij de bron', source !== undefined && link(source, 'Bekijk dit document op de site van de bron')],
  ]);
}

/** @see https://schema.org/DigitalDocument */
function digitalDocument({ naam }: FeedOrganisation, data: JsonObject, url: string): object {
  const text = (name: string, length = 300): string | undefined =>
    textIn(data, name) === undefined ? undefined : shorten(textIn(data, name) ?? '', length);
  const file = safeUrl(textIn(data, 'bestandsurl'));
  return {
    '@context': 'https://schema.org',
    '@type': 'DigitalDocument',
    name: text('titel') ?? 'Document',
    url,
    datePublished: text('datumingediend'),
    dateCreated: text('creatiedatum'),
    description: text('omschrijving', 1000),
    inLanguage: text('taal'),
    encodingFormat: text('formaat'),
    publisher: { '@type': 'GovernmentOrganization', name: shorten(naam, 300) },
    associatedMedia: file === undefined ? undefined : { '@type': 'MediaObject', contentUrl: file },
  };
}
