import type { FastifyInstance } from 'fastify';
import type { components, operations } from '../../contracts/raadsfeed.ts';
import type { Pool } from '../../database/pool.ts';
import { Problem } from '../../lib/problem.ts';
import type { Contract } from '../../plugins/contract.ts';
import { acceptedTypes } from '../../plugins/headers.ts';
import { safeUrl } from '../../plugins/html/template.ts';
import { escapeHtml, htmlPage } from '../../plugins/pages.ts';
import { platformProblems } from '../../plugins/problems.ts';
import type { Config } from '../../settings/read-config.ts';
import { RESOURCE_TYPES } from '../domain/resource.ts';
import { encodeListCursor, resolveListCursor } from '../feed/cursor.ts';
import type { RaadsfeedServices } from '../services.ts';
import { type FeedRow, readFeedRow } from '../store/feed-row.ts';
import { listFeeds } from '../store/register.ts';
import { type FeedOrganisation, readOrganisations } from '../store/state.ts';
import { nextLink, pageEnd, pageUrl, readPageQuery } from './page-query.ts';

/** `GET /`: the service document, for people as a page. */
export function serviceRoute(app: FastifyInstance, contract: Contract<operations>, services: RaadsfeedServices): void {
  const { heads, reader, settings, responses, mountUrl } = services;
  contract.serve(app, 'getServicedocument', {}, (request, reply) =>
    responses.answer(request, reply, 1, async () => {
      await heads.head();
      const { head, organisations } = await reader.read(async (db) => ({
        organisations: await readOrganisations(db),
        head: await readFeedRow(db),
      }));
      const document = serviceDocument(mountUrl(), settings, head, organisations);
      const isPage = prefersHtml(request.headers.accept);
      return {
        body: () => (isPage ? servicePage(document, mountUrl()) : JSON.stringify(document)),
        ...(isPage ? { contentType: 'text/html; charset=utf-8' } : {}),
        maxAgeSeconds: settings.headMaxAgeSeconds,
        vary: 'Accept',
      };
    }),
  );
}

/** Whether the client prefers HTML to JSON, or takes both and names it first (RFC 9110 12.5.1). */
function prefersHtml(accept: string | undefined): boolean {
  return acceptedTypes(accept, ['application/json', 'text/html'])[0] === 'text/html';
}

/** What the feed says of itself. */
type ServiceDocument = components['schemas']['Servicedocument'];

function serviceDocument(
  mountUrl: string,
  settings: Config['raadsfeed'],
  feed: FeedRow,
  organisations: readonly FeedOrganisation[],
): ServiceDocument {
  return {
    rol: settings.rol,
    organisaties: organisations.map(({ organisatiecode, naam, laatstBijgewerkt, herkomst, herkomstSoort }) => ({
      organisatiecode,
      naam,
      ...(laatstBijgewerkt === null ? {} : { laatstBijgewerkt: laatstBijgewerkt.toISOString() }),
      ...(herkomst === null ? {} : { herkomst }),
      herkomstSoort,
    })),
    resourceTypes: RESOURCE_TYPES,
    feedUrl: `${mountUrl}/feed`,
    snapshotUrl: `${mountUrl}/snapshot`,
    streamUrl: `${mountUrl}/feed/stream`,
    historieVanaf: feed.historieVanaf.toISOString().slice(0, 10),
    retentie: settings.retentie,
    ...(settings.contact === undefined ? {} : { contact: settings.contact }),
    ...(settings.licentie === undefined ? {} : { licentie: settings.licentie }),
  };
}

const SOORTEN = { eigen: 'eigen', feed: 'feed', 'leveranciers-api': 'API van een leverancier' } as const;

/** The service document as a page for people. */
function servicePage(document: ServiceDocument, mountUrl: string): string {
  const { organisaties, rol, historieVanaf, retentie } = document;
  return htmlPage({
    title: 'Raadsfeed',
    paragraphs: [
      rol === 'aggregator'
        ? 'Deze dienst verzamelt openbare raadsinformatie van anderen en geeft die door als een feed.'
        : 'Deze dienst geeft openbare raadsinformatie door als een feed.',
      `Begin bij de huidige stand en lees daarna de feed verder vanaf \`feedCursor\`. De geschiedenis gaat terug tot ${historieVanaf} (${retentie === 'permanent' ? 'blijvend bewaard' : `bewaard voor ${retentie}`}).`,
    ],
    html:
      `<h2>Adressen</h2>${links([
        ['Huidige stand', document.snapshotUrl],
        ['Feed', document.feedUrl],
        ['Stroom', document.streamUrl],
        ['Beschrijving van de interface', `${mountUrl}/docs`],
        ...(document.contact === undefined ? [] : [['Contact', document.contact] as const]),
        ...(document.licentie === undefined ? [] : [['Licentie', document.licentie] as const]),
      ])}<h2>Organisaties</h2>` +
      (organisaties.length === 0
        ? '<p>Er is nog niets gepubliceerd.</p>'
        : `<table><thead><tr><th>Code</th><th>Naam</th><th>Bijgewerkt</th><th>Herkomst</th></tr></thead><tbody>${organisaties
            .map(
              ({ organisatiecode, naam, laatstBijgewerkt, herkomst, herkomstSoort }) =>
                `<tr><td>${link(`${mountUrl}/organisaties/${organisatiecode}/vergaderingen`, organisatiecode)}</td>` +
                `<td>${escapeHtml(naam)}</td><td>${laatstBijgewerkt ?? 'nog niet'}</td>` +
                `<td>${herkomst === undefined ? SOORTEN[herkomstSoort] : link(herkomst, SOORTEN[herkomstSoort])}</td></tr>`,
            )
            .join('')}</tbody></table>`),
  });
}

function links(rows: readonly (readonly [string, string])[]): string {
  return `<table><tbody>${rows.map(([name, url]) => `<tr><th>${name}</th><td>${link(url, url)}</td></tr>`).join('')}</tbody></table>`;
}

/** A link only where it is safe to click. */
function link(url: string, text: string): string {
  const shown = escapeHtml(text);
  return safeUrl(url) !== undefined ? `<a href="${escapeHtml(url)}">${shown}</a>` : shown;
}

/** The well-known names of a feed: ours, and that of the published draft. */
const NAMES = ['council-feed', 'ori-feed'];

/** Redirects the well-known addresses of the host to the service document. */
export function wellKnownRoutes(app: FastifyInstance, mountUrl: () => string): void {
  for (const name of NAMES) {
    app.get(`/.well-known/${name}`, { config: { public: true } }, (_request, reply) =>
      reply
        .headers({ 'cache-control': 'public, max-age=300', 'access-control-allow-origin': '*' })
        .redirect(mountUrl(), 307),
    );
  }
}

/** `GET /register`: where feeds are. A service that is no register answers 404. */
export function registerRoute(
  app: FastifyInstance,
  contract: Contract<operations>,
  services: RaadsfeedServices,
  pool: Pool,
): void {
  contract.serve(app, 'getRegister', {}, async (request, reply) => {
    if (!services.settings.register)
      throw new Problem(platformProblems.notFound, { detail: 'Deze dienst is geen register.' });
    const { cursor, limit, organisatiecode } = readPageQuery(request);
    const { feedId, after } = await resolveListCursor(services.heads, cursor);
    return services.responses.answer(request, reply, limit, async () => {
      const found = await listFeeds(pool, after, limit + 1, organisatiecode);
      const results = found.slice(0, limit);
      const last = results.at(-1);
      const isLast = found.length <= limit || last === undefined;
      const nextCursor = isLast ? null : encodeListCursor(feedId, last.serviceUrl);
      const listUrl = `${services.mountUrl()}/register`;
      const next = nextCursor === null ? null : pageUrl(listUrl, { limit, organisatiecode, cursor: nextCursor });
      return {
        body: () => `{"results":${JSON.stringify(results)},${pageEnd(nextCursor, next)}`,
        maxAgeSeconds: services.settings.headMaxAgeSeconds,
        link: nextLink(next),
      };
    });
  });
}
