import { day, dayAndTime } from '../../html/format.ts';
import { facts, heading, link, type Page, paragraph } from '../../html/page.ts';
import type { JsonObject } from '../../lib/json/json-value.ts';
import { type Html, html, safeUrl, shorten } from '../../lib/template.ts';
import type { FeedOrganisation } from '../store/state.ts';
import { categoryNumber, categoryTerm } from '../woo-value-lists.ts';
import { organisationPath, pagePath, trail } from './context.ts';
import { historySection } from './history.ts';
import { fileFacts, momentIn, textIn } from './rows.ts';
import { type Item, listLinked, listNamed } from './search/lists.ts';
import { searchPath } from './search.ts';
import { FACT_LENGTH, linkedList, type ResourceView, textOf } from './view.ts';

const LIST = { most: 20, bytes: 12_000 } as const;
const TEXT_LENGTH = 10_000;

export async function documentPage(view: ResourceView): Promise<Page> {
  const { context, organisation, self, data, history } = view;
  const { pool, baseUrl } = context;
  const { organisatiecode, bronidentificatie } = self;
  const first = { limit: LIST.most + 1 };
  const [meetings, items, named, naming, own] = await Promise.all([
    listLinked(pool, 'from', self, 'Vergadering', first),
    listLinked(pool, 'from', self, 'Agendapunt', first),
    listLinked(pool, 'from', self, 'Informatieobject', first),
    listLinked(pool, 'to', self, 'Informatieobject', first),
    listNamed(pool, 'Informatieobject', organisatiecode, [bronidentificatie]),
  ]);
  const title = textIn(data, 'titel') ?? 'Document';
  const related = [...named, ...naming];
  const roles = new Map(related.map(({ bronidentificatie, rol }) => [bronidentificatie, rol]));
  const beside = (item: Item): string | undefined => roles.get(item.bronidentificatie);
  const file = safeUrl(textIn(data, 'bestandsurl'));
  const path = pagePath(self);
  const address = `${baseUrl()}${path}`;
  return {
    title,
    description: textIn(data, 'omschrijving') ?? `Document van ${organisation.naam}: ${shorten(title, 100)}.`,
    canonical: address,
    structuredData: digitalDocument(organisation, data, address),
    path: trail(organisation, {
      href: searchPath({ organisatie: organisatiecode, soort: 'informatieobjecten' }),
      text: 'Documenten',
    }),
    body: [
      heading(1, shorten(title, FACT_LENGTH)),
      textOf(view, TEXT_LENGTH),
      file === undefined
        ? paragraph('Bij dit document is geen bestand gepubliceerd.')
        : html`<p><a class="utrecht-button utrecht-button--primary-action kv-button" href="${file}" rel="noreferrer">Open het bestand (${fileFacts(data)})</a></p>`,
      documentFacts(organisation, data, own.get(bronidentificatie)),
      heading(2, 'Waar besproken'),
      meetings.length + items.length === 0 && paragraph('Bij dit document is geen vergadering bekend.'),
      meetings.length > 0 &&
        linkedList(view, meetings, 'Vergadering', 'Alle vergaderingen waarin dit is besproken', LIST),
      items.length > 0 && linkedList(view, items, 'Agendapunt', 'Alle agendapunten waarbij dit is besproken', LIST),
      related.length > 0 && [
        heading(2, 'Hoort bij'),
        linkedList(view, related, 'Informatieobject', 'Alle documenten die erbij horen', { ...LIST, beside }),
      ],
      historySection(history, path),
    ],
  };
}

function documentFacts({ organisatiecode, naam }: FeedOrganisation, data: JsonObject, own: Item | undefined): Html {
  const short = (name: string): string => shorten(textIn(data, name) ?? '', FACT_LENGTH);
  const [submitted, created] = ['datumingediend', 'creatiedatum'].map((name) => momentIn(data, name));
  const source = safeUrl(textIn(data, 'webpaginalink'));
  const category = short('wooinformatiecategorie');
  const number = categoryNumber(category);
  return facts([
    ['Soort', short('informatieobjecttype')],
    ['Ingediend', submitted !== undefined && day(submitted)],
    ['Gemaakt', created !== undefined && day(created)],
    ['Gepubliceerd', own !== undefined && dayAndTime(own.firstStoredAt)],
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
