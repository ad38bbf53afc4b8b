/** A part of the service that answers people: the limits of every mount, but errors as pages, and a policy that lets in nothing of others. */

import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { publicUnlessSaid } from '../contract.ts';
import { acceptedEncoding, PAGES_POLICY } from '../headers.ts';
import { mountScope, type ScopeOptions } from '../mount.ts';
import type { ProblemBody } from '../problem-reply.ts';
import { heading, type Page, paragraph, renderPage, type Site } from './page.ts';
import { html } from './template.ts';

interface PagesMountOptions extends Omit<ScopeOptions, 'problemStyle' | 'isOpen'> {
  readonly site: Site;
}

/** Mounts pages. Every route is public unless it says otherwise. */
export async function mountPages(server: FastifyInstance, { site, ...options }: PagesMountOptions): Promise<void> {
  await mountScope(server, {
    headers: { 'content-security-policy': PAGES_POLICY },
    problemStyle: {
      answer: (_request, problem) => ({ type: 'text/html; charset=utf-8', body: problemPage(site, problem) }),
    },
    ...options,
    routes: async (app) => {
      publicUnlessSaid(app);
      await options.routes(app);
    },
  });
}

const WORDS: Readonly<Record<number, string>> = {
  404: 'Deze pagina bestaat niet. Misschien is het adres veranderd.',
  429: 'U vraagt te veel pagina’s in korte tijd. Wacht een minuut en probeer het dan opnieuw.',
  503: 'Het is nu te druk, of wij werken aan de dienst. Probeer het straks opnieuw.',
};

function problemPage(site: Site, { status, title, detail, instance }: ProblemBody): string {
  const page: Page = {
    title,
    description: title,
    body: [
      heading(1, title),
      paragraph(WORDS[status] ?? detail ?? 'Er ging iets mis. Probeer het later opnieuw.'),
      WORDS[status] !== undefined && detail !== undefined && status !== 404 && paragraph(detail),
      paragraph(html`<a class="utrecht-link utrecht-link--html-a" href="${site.home}">Naar het begin</a>`),
      status >= 500 && paragraph(html`<small>Kenmerk: ${instance}</small>`),
    ],
  };
  return renderPage(site, page);
}

const COMPRESS = {
  br: (text: string) => promisify(brotliCompress)(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: promisify(gzip),
} as const;

interface Sendable {
  readonly type: string;
  readonly body: string;
  readonly maxAgeSeconds: number;
  readonly status?: number;
  /** Name of the file when it is to be saved. */
  readonly filename?: string;
}

/** A text as it goes over the line. */
export interface EncodedText {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

/** Makes a text ready to be sent, compressed when the client takes that. */
async function encodeText(request: FastifyRequest, text: Sendable): Promise<EncodedText> {
  const encoding = acceptedEncoding(request.headers['accept-encoding'], ['br', 'gzip']);
  return {
    status: text.status ?? 200,
    headers: {
      'cache-control': `public, max-age=${text.maxAgeSeconds}`,
      vary: 'Accept-Encoding',
      'content-type': `${text.type}; charset=utf-8`,
      ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
      ...(text.filename === undefined ? {} : { 'content-disposition': `attachment; filename="${text.filename}"` }),
    },
    bytes: encoding === 'identity' ? Buffer.from(text.body) : await COMPRESS[encoding](text.body),
  };
}

export function sendEncoded(reply: FastifyReply, { status, headers, bytes }: EncodedText): FastifyReply {
  return reply.code(status).headers(headers).send(bytes);
}

/** Sends a text, compressed when the client takes that. */
export async function sendText(request: FastifyRequest, reply: FastifyReply, text: Sendable): Promise<FastifyReply> {
  return sendEncoded(reply, await encodeText(request, text));
}

/** Makes a page ready to be sent. */
export async function encodePage(
  request: FastifyRequest,
  { site, page, maxAgeSeconds, status = 200 }: { site: Site; page: Page; maxAgeSeconds: number; status?: number },
): Promise<EncodedText> {
  const text = await encodeText(request, { type: 'text/html', body: renderPage(site, page), maxAgeSeconds, status });
  if (page.json === undefined) return text;
  const link = `<${page.json}>; rel="alternate"; type="application/json"`;
  return { ...text, headers: { ...text.headers, link } };
}
