import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { createRow } from '../kernel/in-a-row.ts';
import { Problem } from '../kernel/problem.ts';
import { platformProblems } from './problems.ts';

/** Reads JSON bodies strictly: UTF-8 or nothing (RFC 8259 8.1), no `__proto__`; every other media type is refused. */
export function strictJsonBody(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  const inARow = createRow();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (hasOtherCharset(request.headers['content-type'])) {
      return done(new Problem(platformProblems.unsupportedMediaType, { detail: 'De tekenset moet UTF-8 zijn.' }));
    }
    if (typeof body !== 'string' && !isUtf8(body)) {
      return done(new Problem(platformProblems.invalidRequest, { detail: 'De inhoud is geen geldige UTF-8.' }));
    }
    return inARow(() => parse(request, body.toString(), done));
  });
}

/** Whether a `Content-Type` names a character set that is not UTF-8. */
export function hasOtherCharset(contentType: string | undefined): boolean {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType ?? '')?.[1];
  return charset !== undefined && charset.toLowerCase() !== 'utf-8';
}
