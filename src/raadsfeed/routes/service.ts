import type { FastifyInstance } from 'fastify';
import type { Contract } from '../../http/contract.ts';
import type { RaadsfeedParts } from '../parts.ts';
import { serviceDocument } from '../service-document.ts';
import { servicePage } from '../service-page.ts';
import { readOrganisations } from '../store/read-organisations.ts';
import { sendBody } from './send-body.ts';

/** `GET /`: the service document, for people as a page. */
export function serviceRoute(app: FastifyInstance, contract: Contract, parts: RaadsfeedParts): void {
  const { db, settings, state, mountUrl } = parts;
  contract.serve(app, 'getServicedocument', {}, async (request, reply) => {
    const document = serviceDocument(mountUrl(), settings, await state.current(), await readOrganisations(db));
    const page = prefersHtml(request.headers.accept);
    return sendBody(request, reply, {
      body: page ? servicePage(document, mountUrl()) : JSON.stringify(document),
      contentType: page ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8',
      maxAgeSeconds: settings.headMaxAgeSeconds,
      vary: 'Accept',
    });
  });
}

/** Whether HTML is asked for by name, and JSON is not liked more (RFC 9110 12.5.1). */
function prefersHtml(accept: string | undefined): boolean {
  const weight = (type: string): number => {
    const part = accept
      ?.toLowerCase()
      .split(',')
      .find((range) => range.trim().split(';', 1)[0]?.trim() === type);
    if (part === undefined) return 0;
    const q = /;\s*q=([0-9.]+)/.exec(part)?.[1];
    return q === undefined ? 1 : Number(q);
  };
  const html = weight('text/html');
  return html > 0 && html >= weight('application/json');
}
