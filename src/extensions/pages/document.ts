/** The page of a document, and the list of an organisation's documents. */

import type { JsonObject } from '../../lib/json/json-value.ts';
import { categoryNumber, categoryTerm } from '../../lib/woo-value-lists.ts';
import { day, fileSize } from '../../plugins/html/format.ts';
import { facts, heading, link, type Page, paragraph } from '../../plugins/html/page.ts';
import { html, safeUrl, shorten } from '../../plugins/html/template.ts';
import type { Resource } from '../../raadsfeed/domain/resource.ts';
import type { FeedOrganisation } from '../../raadsfeed/store/state.ts';
import { anchorOf } from './agenda.ts';
import { HOME, jsonAddress, organisationPath, type PagesContext, pagePath, withQuery } from './context.ts';
import { historyList } from './history.ts';
import { boundedList, documentRow, formatName, meetingRow, momentIn, textIn } from './rows.ts';
import { readHistory } from './search/history.ts';
import { listDocuments, listReferred, listReferring } from './search/lists.ts';

const REFERENCES = 100;

/** A category of the Woo in words, where it is one of the value list. */
function categoryName(value: string): string {
  const number = categoryNumber(value);
  return (number === undefined ? undefined : categoryTerm(number)?.label) ?? value;
}

/** @param data the document as the feed has it */
export async function documentPage(
  context: PagesContext,
  organisation: FeedOrganisation,
  resource: Resource,
  data: JsonObject,
): Promise<Page> {
  const { pool, baseUrl } = context;
  const { organisatiecode, bronidentificatie } = resource;
  const [referred, referring, history] = await Promise.all([
    listReferred(pool, { organisatiecode, resourceType: 'Informatieobject', bronidentificatie }, REFERENCES),
    listReferring(
      pool,
      { organisatiecode, resourceType: 'Informatieobject', bronidentificaties: [bronidentificatie] },
      'Informatieobject',
      REFERENCES,
    ),
    readHistory(pool, 'Informatieobject', resource),
  ]);
  const title = textIn(data, 'titel') ?? 'Document';
  const meetings = referred.filter(({ resourceType }) => resourceType === 'Vergadering');
  const items = referred.filter(({ resourceType }) => resourceType === 'Agendapunt');
  const related = [...referred.filter(({ resourceType }) => resourceType === 'Informatieobject'), ...referring];
  const description = textIn(data, 'omschrijving');
  return {
    title,
    description: description ?? `Document van ${organisation.naam}: ${shorten(title, 100)}.`,
    canonical: `${baseUrl()}${pagePath('Informatieobject', resource)}`,
    json: jsonAddress(context, 'Informatieobject', resource),
    structuredData: digitalDocument(context, organisation, resource, data),
    path: [
      { href: HOME, text: 'Begin' },
      { href: organisationPath(organisatiecode), text: organisation.naam },
      { href: `${organisationPath(organisatiecode)}/informatieobjecten`, text: 'Documenten' },
    ],
    body: [
      heading(1, shorten(title, 300)),
      description !== undefined && html`<p class="kv-lead kv-pre">${shorten(description, 4000)}</p>`,
      fileButton(data),
      documentFacts(organisation, data),
      heading(2, 'Waar besproken'),
      meetings.length === 0 && items.length === 0 && paragraph('Bij dit document is geen vergadering bekend.'),
      meetings.length > 0 &&
        boundedList(
          meetings.map((item) => meetingRow(item, undefined)),
          20_000,
          '',
        ),
      items.length > 0 &&
        boundedList(
          items.map(
            (item) =>
              html`<li>Agendapunt: ${item.vergadering === null ? shorten(item.titel, 160) : link(`${pagePath('Vergadering', { organisatiecode: item.organisatiecode, bronidentificatie: item.vergadering })}#${anchorOf(item)}`, shorten(item.titel, 160))}${item.gremiumnaam !== null && html`<p class="kv-list__line">${shorten(item.gremiumnaam, 100)}${item.datum !== null && `, ${day(item.datum)}`}</p>`}</li>`,
          ),
          20_000,
          '',
        ),
      related.length > 0 && [
        heading(2, 'Hoort bij'),
        boundedList(
          related.map((item) => documentRow(item, item.rol === '' ? undefined : item.rol)),
          20_000,
          '',
        ),
      ],
      heading(2, 'Geschiedenis'),
      historyList(history),
    ],
  };
}

function fileButton(data: JsonObject): ReturnType<typeof html> {
  const file = safeUrl(textIn(data, 'bestandsurl'));
  if (file === undefined) return paragraph('Bij dit document is geen bestand gepubliceerd.');
  const { omvang } = data;
  const size = typeof omvang === 'number' && omvang >= 0 ? `, ${fileSize(omvang)}` : '';
  return html`<p><a class="utrecht-button utrecht-button--primary-action kv-button" href="${file}" rel="noreferrer">Open het bestand (${formatName(textIn(data, 'formaat'))}${size})</a></p>`;
}

function documentFacts({ organisatiecode, naam }: FeedOrganisation, data: JsonObject): ReturnType<typeof html> {
  const { omvang } = data;
  const short = (name: string): string => shorten(textIn(data, name) ?? '', 300);
  const [submitted, created] = ['datumingediend', 'creatiedatum'].map((name) => momentIn(data, name));
  const source = safeUrl(textIn(data, 'webpaginalink'));
  return facts([
    ['Soort', short('informatieobjecttype')],
    ['Ingediend', submitted !== undefined && day(submitted)],
    ['Gemaakt', created !== undefined && day(created)],
    ['Auteur', short('auteur')],
    ['Organisatie', link(organisationPath(organisatiecode), shorten(naam, 200))],
    ['Afkomstig van', short('bronorganisatie')],
    ['Soort bestand', short('formaat') !== '' && formatName(short('formaat'))],
    ['Grootte', typeof omvang === 'number' && omvang >= 0 && fileSize(omvang)],
    ['Controlegetal', short('checksum') !== '' && html`<span class="kv-code">${short('checksum')}</span>`],
    ['Taal', short('taal')],
    ['Categorie (Woo)', categoryName(short('wooinformatiecategorie'))],
    ['Bij de bron', source !== undefined && link(source, 'Bekijk dit document op de site van de bron')],
  ]);
}

/** @see https://schema.org/DigitalDocument */
function digitalDocument(
  { baseUrl }: PagesContext,
  { naam }: FeedOrganisation,
  resource: Resource,
  data: JsonObject,
): object {
  const file = safeUrl(textIn(data, 'bestandsurl'));
  const text = (name: string, length = 300): string | undefined =>
    textIn(data, name) === undefined ? undefined : shorten(textIn(data, name) ?? '', length);
  return {
    '@context': 'https://schema.org',
    '@type': 'DigitalDocument',
    name: text('titel') ?? 'Document',
    url: `${baseUrl()}${pagePath('Informatieobject', resource)}`,
    datePublished: text('datumingediend'),
    dateCreated: text('creatiedatum'),
    description: text('omschrijving', 1000),
    inLanguage: text('taal'),
    encodingFormat: text('formaat'),
    author: text('auteur') === undefined ? undefined : { '@type': 'Person', name: text('auteur') },
    publisher: { '@type': 'GovernmentOrganization', name: shorten(naam, 300) },
    associatedMedia:
      file === undefined
        ? undefined
        : {
            '@type': 'MediaObject',
            contentUrl: file,
            encodingFormat: text('formaat'),
            contentSize: typeof data.omvang === 'number' ? String(data.omvang) : undefined,
          },
  };
}

/** Documents on one page of the list, and the last page: further back is for search. */
export const DOCUMENTS_PAGE = 50;
export const LAST_PAGE = 100;

/** All documents of an organisation, newest first. */
export async function documentsPage(
  context: PagesContext,
  { organisatiecode, naam }: FeedOrganisation,
  gremium: string | undefined,
  number: number,
): Promise<Page> {
  const { pool, baseUrl, apiUrl } = context;
  const offset = (number - 1) * DOCUMENTS_PAGE;
  const found = await listDocuments(pool, { organisatiecode, gremium, offset, limit: DOCUMENTS_PAGE + 1 });
  const path = `${organisationPath(organisatiecode)}/informatieobjecten`;
  const at = (other: number): string => withQuery(path, { gremium, pagina: other === 1 ? undefined : other });
  const title = `Documenten van ${naam}`;
  return {
    title: number === 1 ? title : `${title}, pagina ${number}`,
    description: `Alle documenten van ${naam}, nieuwste eerst.`,
    canonical: `${baseUrl()}${at(number)}`,
    json: `${apiUrl()}/organisaties/${organisatiecode}/informatieobjecten`,
    alternates: [
      {
        href: withQuery(`${organisationPath(organisatiecode)}/documenten.atom`, { gremium }),
        type: 'application/atom+xml',
        title,
      },
    ],
    path: [
      { href: HOME, text: 'Begin' },
      { href: organisationPath(organisatiecode), text: naam },
    ],
    body: [
      heading(1, shorten(title, 300)),
      boundedList(
        found.slice(0, DOCUMENTS_PAGE).map((item) => documentRow(item, undefined)),
        110_000,
        'Er zijn geen documenten.',
      ),
      pager(number, found.length > DOCUMENTS_PAGE && number < LAST_PAGE, at),
      html`<ul class="kv-links"><li>${link(withQuery(`${path}.csv`, { gremium }), 'Documenten als CSV')}</li></ul>`,
    ],
  };
}

/** Links to the page before and the page after. */
export function pager(
  number: number,
  hasNext: boolean,
  at: (page: number) => string,
): ReturnType<typeof html> | undefined {
  if (number === 1 && !hasNext) return undefined;
  return html`<nav class="utrecht-pagination kv-pager" aria-label="Pagina’s">${number > 1 && link(at(number - 1), 'Vorige pagina')}<span>Pagina ${number}</span>${hasNext && link(at(number + 1), 'Volgende pagina')}</nav>`;
}
