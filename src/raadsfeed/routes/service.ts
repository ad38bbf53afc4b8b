import type { FastifyInstance } from 'fastify';
import type { components, operations } from '../../contracts/raadsfeed.ts';
import { RESOURCE_TYPES } from '../../lib/feed/resource.ts';
import { type HtmlValue, html, safeUrl } from '../../lib/template.ts';
import type { Contract } from '../../plugins/contract.ts';
import { acceptedTypes } from '../../plugins/headers.ts';
import { htmlPage } from '../../plugins/pages.ts';
import type { Config } from '../../settings/read-config.ts';
import { type FeedRow, readFeedRow } from '../store/records.ts';
import { type FeedOrganisation, readOrganisations } from '../store/state.ts';

/** `GET /`: the service document, for people as a page. */
export function serviceRoute(app: FastifyInstance, contract: Contract<operations>): void {
  const { stateCache, responses, mountUrl } = app.feed;
  const settings = app.settings.raadsfeed;
  contract.serve(app, 'getServicedocument', {}, (request, reply) =>
    responses.answer(request, reply, {
      records: 1,
      read: async () => {
        await stateCache.current();
        const { state, organisations } = await stateCache.read(async (db) => ({
          organisations: await readOrganisations(db),
          state: await readFeedRow(db),
        }));
        const document = serviceDocument(mountUrl(), settings, state, organisations);
        // Whether the client prefers HTML to JSON, or takes both and names it first (RFC 9110 12.5.1).
        const isPage = acceptedTypes(request.headers.accept, ['application/json', 'text/html'])[0] === 'text/html';
        return {
          body: isPage ? servicePage(document, mountUrl()) : JSON.stringify(document),
          ...(isPage ? { contentType: 'text/html; charset=utf-8' } : {}),
          maxAgeSeconds: settings.headMaxAgeSeconds,
          vary: 'Accept',
        };
      },
    }),
  );
}

type ServiceDocument = components['schemas']['Servicedocument'];

function serviceDocument(
  mountUrl: string,
  { rol, retentie, contact, licentie }: Config['raadsfeed'],
  feed: FeedRow,
  organisations: readonly FeedOrganisation[],
): ServiceDocument {
  return {
    rol,
    organisaties: organisations.map(({ organisatiecode, naam, laatstBijgewerkt, herkomst, herkomstSoort }) => ({
      organisatiecode,
      naam,
      ...(laatstBijgewerkt && { laatstBijgewerkt: laatstBijgewerkt.toISOString() }),
      ...(herkomst !== null && { herkomst }),
      herkomstSoort,
    })),
    resourceTypes: RESOURCE_TYPES,
    feedUrl: `${mountUrl}/feed`,
    snapshotUrl: `${mountUrl}/snapshot`,
    streamUrl: `${mountUrl}/feed/stream`,
    historieVanaf: feed.historieVanaf.toISOString().slice(0, 10),
    retentie,
    ...(contact !== undefined && { contact }),
    ...(licentie !== undefined && { licentie }),
  };
}

const SOORTEN = { eigen: 'eigen', feed: 'feed', 'leveranciers-api': 'API van een leverancier' } as const;

function servicePage(document: ServiceDocument, mountUrl: string): string {
  const { organisaties, historieVanaf, retentie, snapshotUrl, feedUrl, streamUrl, contact, licentie } = document;
  const addresses = { snapshotUrl, feedUrl, streamUrl, docs: `${mountUrl}/docs`, contact, licentie };
  const rows = (cells: readonly (readonly HtmlValue[])[]) =>
    html`<table><tbody>${cells.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody></table>`;
  const named = Object.entries(addresses).flatMap(([name, url]) => (url === undefined ? [] : [[name, link(url, url)]]));
  const organisations = organisaties.map(({ organisatiecode, naam, laatstBijgewerkt, herkomst, herkomstSoort }) => [
    link(`${mountUrl}/organisaties/${organisatiecode}/vergaderingen`, organisatiecode),
    naam,
    laatstBijgewerkt ?? 'nog niet bijgewerkt',
    herkomst === undefined ? SOORTEN[herkomstSoort] : link(herkomst, SOORTEN[herkomstSoort]),
  ]);
  return htmlPage({
    title: 'Raadsfeed',
    paragraphs: [
      'Deze dienst biedt openbare raadsinformatie aan als feed.',
      `Begin bij de huidige stand en lees daarna de feed verder vanaf \`feedCursor\`. De geschiedenis gaat terug tot ${historieVanaf} (${retentie === 'permanent' ? 'blijvend bewaard' : `bewaard voor ${retentie}`}).`,
    ],
    content: html`<h2>Adressen</h2>${rows(named)}<h2>Organisaties</h2>${rows(organisations)}`,
  });
}

function link(url: string, text: string): HtmlValue {
  return safeUrl(url) === undefined ? text : html`<a href="${url}">${text}</a>`;
}

/** The well-known names of a feed: ours, and that of the published draft. */
const NAMES = ['council-feed', 'ori-feed'];

export function wellKnownRoutes(app: FastifyInstance, mountUrl: () => string): void {
  for (const name of NAMES) {
    app.get(`/.well-known/${name}`, { config: { public: true } }, (_request, reply) =>
      reply
        .headers({ 'cache-control': 'public, max-age=300', 'access-control-allow-origin': '*' })
        .redirect(mountUrl(), 307),
    );
  }
}
