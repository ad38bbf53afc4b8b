import type { FastifyInstance } from 'fastify';
import type { Contract } from '../../http/contract.ts';
import { acceptedTypes } from '../../http/negotiation.ts';
import type { RaadsfeedParts } from '../parts.ts';
import { serviceDocument } from '../service-document.ts';
import { servicePage } from '../service-page.ts';
import { readOrganisations } from '../store/read-organisations.ts';
import { sendBody } from './send-body.ts';

/** `GET /`: the service document, for people as a page. */
export function serviceRoute(app: FastifyInstance, contract: Contract, parts: RaadsfeedParts): void {
  const { db, settings, state, mountUrl } = parts;
  contract.serve(app, 'getServicedocument', {}, async (request, reply) => {
    const organisations = await readOrganisations(db);
    const document = serviceDocument(mountUrl(), settings, await state.afresh(), organisations);
    const page = prefersHtml(request.headers.accept);
    return sendBody(request, reply, {
      body: page ? servicePage(document, mountUrl()) : JSON.stringify(document),
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
