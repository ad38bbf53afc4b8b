import type { FastifyInstance } from 'fastify';
import type { Contract } from '../../http/contract.ts';
import { mediaTypeWeight, readWeights } from '../../http/weighted-list.ts';
import type { RaadsfeedParts } from '../parts.ts';
import { serviceDocument } from '../service-document.ts';
import { servicePage } from '../service-page.ts';
import { readFeedRow } from '../store/feed-row.ts';
import { readOrganisations } from '../store/read-organisations.ts';

/** `GET /`: the service document, for people as a page. */
export function serviceRoute(app: FastifyInstance, contract: Contract, parts: RaadsfeedParts): void {
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
      body: page ? servicePage(document, mountUrl()) : JSON.stringify(document),
      contentType: page ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8',
      maxAgeSeconds: settings.headMaxAgeSeconds,
      vary: 'Accept',
    });
  });
}

/** Whether HTML is what is wanted: liked more than JSON, or as much and asked for by its name (RFC 9110 12.5.1). */
function prefersHtml(accept: string | undefined): boolean {
  const ranges = readWeights(accept ?? '*/*');
  const html = mediaTypeWeight(ranges, 'text/html');
  const json = mediaTypeWeight(ranges, 'application/json');
  return html > json || (html > 0 && html === json && ranges.some(({ name }) => name === 'text/html'));
}
