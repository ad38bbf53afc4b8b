import type { FastifyInstance } from 'fastify';
import type { operations } from '../../contracts/raadsfeed.ts';
import type { Contract } from '../../http/contract.ts';
import { acceptedTypes } from '../../http/headers.ts';
import type { RaadsfeedParts } from '../parts.ts';
import { serviceDocument } from '../service-document.ts';
import { servicePage } from '../service-page.ts';
import { readFeedRow } from '../store/feed-row.ts';
import { readOrganisations } from '../store/read-organisations.ts';

/** `GET /`: the service document, for people as a page. */
export function serviceRoute(app: FastifyInstance, contract: Contract<operations>, parts: RaadsfeedParts): void {
  const { heads, reader, settings, responses, mountUrl } = parts;
  contract.serve(app, 'getServicedocument', {}, async (request, reply) => {
    await heads.head();
    const { head, organisations } = await reader.read(async (db) => ({
      organisations: await readOrganisations(db),
      head: await readFeedRow(db),
    }));
    const document = serviceDocument(mountUrl(), settings, head, organisations);
    const page = prefersHtml(request.headers.accept);
    return responses.send(request, reply, {
      body: () => (page ? servicePage(document, mountUrl()) : JSON.stringify(document)),
      contentType: page ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8',
      maxAgeSeconds: settings.headMaxAgeSeconds,
      vary: 'Accept',
    });
  });
}

/** Whether HTML is what is wanted: liked more than JSON, or as much and named before it (RFC 9110 12.5.1). */
function prefersHtml(accept: string | undefined): boolean {
  return acceptedTypes(accept, ['application/json', 'text/html'])[0] === 'text/html';
}
