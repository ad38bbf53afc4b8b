import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { Problem } from '../kernel/problem.ts';
import { platformProblems } from './problems.ts';

/** Members that an object of a body may have; no contract names a tenth of them. */
const MAX_MEMBERS = 1000;
/** Smaller bodies cannot hold so many more that it matters. */
const SCANNED_BYTES = 16_384;
const TOO_MANY = {
  name: '',
  code: 'maxProperties',
  reason: `een object in de inhoud heeft meer dan ${MAX_MEMBERS} leden`,
};

const [QUOTE, BACKSLASH, COLON, OPEN, CLOSE] = Buffer.from('"\\:{}');

/**
 * Whether an object in a JSON text has more than so many members. Reading different names takes many times as long as this look at the
 * bytes, and explaining what is wrong with each takes longer still. Of what is no JSON it may say anything.
 */
function hasCrowdedObject(text: Uint8Array, most: number): boolean {
  const outer: number[] = [];
  let members = 0;
  for (let i = 0; i < text.length; i += 1) {
    const byte = text[i];
    if (byte === QUOTE) {
      for (i += 1; i < text.length && text[i] !== QUOTE; i += 1) if (text[i] === BACKSLASH) i += 1;
    } else if (byte === COLON) {
      members += 1;
      if (members > most) return true;
    } else if (byte === OPEN) {
      outer.push(members);
      members = 0;
    } else if (byte === CLOSE) {
      members = outer.pop() ?? 0;
    }
  }
  return false;
}

/** Reads JSON bodies strictly: UTF-8 or nothing (RFC 8259 8.1), no `__proto__`; every other media type is refused. */
export function strictJsonBody(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (hasOtherCharset(request.headers['content-type'])) {
      return done(new Problem(platformProblems.unsupportedMediaType, { detail: 'De tekenset moet UTF-8 zijn.' }));
    }
    if (typeof body !== 'string' && !isUtf8(body)) {
      return done(new Problem(platformProblems.invalidRequest, { detail: 'De inhoud is geen geldige UTF-8.' }));
    }
    if (typeof body !== 'string' && body.length > SCANNED_BYTES && hasCrowdedObject(body, MAX_MEMBERS)) {
      return done(new Problem(platformProblems.invalidRequest, { detail: TOO_MANY.reason, invalidParams: [TOO_MANY] }));
    }
    return parse(request, body.toString(), done);
  });
}

/** Whether a `Content-Type` names a character set that is not UTF-8. */
export function hasOtherCharset(contentType: string | undefined): boolean {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType ?? '')?.[1];
  return charset !== undefined && charset.toLowerCase() !== 'utf-8';
}
