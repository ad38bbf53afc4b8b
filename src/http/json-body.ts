import type { FastifyInstance } from 'fastify';
import { Problem } from '../kernel/problem.ts';
import { platformProblems } from './problems.ts';

/** Reads JSON bodies strictly: UTF-8 or nothing (RFC 8259 8.1), no `__proto__`; every other media type is refused. */
export function strictJsonBody(app: FastifyInstance): void {
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (hasOtherCharset(request.headers['content-type'])) {
      return done(new Problem(platformProblems.unsupportedMediaType, { detail: 'De tekenset moet UTF-8 zijn.' }));
    }
    let text: string;
    try {
      text = typeof body === 'string' ? body : utf8.decode(body);
    } catch (cause) {
      return done(new Problem(platformProblems.invalidRequest, { detail: 'De inhoud is geen geldige UTF-8.', cause }));
    }
    return parse(request, text, done);
  });
}

/** Whether a `Content-Type` names a character set that is not UTF-8. */
export function hasOtherCharset(contentType: string | undefined): boolean {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType ?? '')?.[1];
  return charset !== undefined && charset.toLowerCase() !== 'utf-8';
}
