/** A part of the service with pages: the limits of every mount, errors as pages, a policy that loads nothing from elsewhere, one style sheet. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { Problem } from '../lib/problem.ts';
import { html } from '../lib/template.ts';
import { readTextFileSync } from '../lib/text-file.ts';
import { acceptedEncoding } from '../plugins/headers.ts';
import { PAGES_POLICY } from '../plugins/pages.ts';
import type { ProblemBody } from '../plugins/problem-reply.ts';
import { platformProblems } from '../plugins/problems.ts';
import { mountScope, type ScopeOptions } from '../plugins/requests.ts';
import { publicUnlessSaid } from '../plugins/routes.ts';
import { readBrand } from './brand.ts';
import { heading, link, type Page, paragraph, renderPage, type Site } from './page.ts';

interface PagesMountOptions extends Omit<ScopeOptions, 'prefix' | 'problemStyle' | 'isOpen' | 'routes'> {
  /** Its home is the address of the mount. */
  readonly site: Omit<Site, 'brand' | 'stylesheet'>;
  readonly about: string;
  readonly routes: (app: FastifyInstance, site: Site) => void | Promise<void>;
}

/** Mounts pages, and names them on the front page of the host. Every route is public unless it says otherwise. */
export async function mountPages(
  server: FastifyInstance,
  { site: frame, about, routes, ...options }: PagesMountOptions,
): Promise<void> {
  const stylesheet = buildStylesheet(frame.home, server.settings.html.themeCss);
  const site = { ...frame, brand: readBrand(server.settings), stylesheet: stylesheet.path };
  server.frontEntries.push({ href: frame.home, title: frame.name, text: about });
  await mountScope(server, {
    headers: { 'content-security-policy': PAGES_POLICY },
    problemStyle: {
      answer: (_request, problem) => ({ type: 'text/html; charset=utf-8', body: problemPage(site, problem) }),
    },
    ...options,
    prefix: frame.home,
    routes: async (app) => {
      publicUnlessSaid(app);
      serveStylesheet(app, () => stylesheet);
      await routes(app, site);
    },
  });
}

/** The heading and advice on an error page, by status; any other status is our own fault. */
const WORDS: Readonly<Record<number, readonly [title: string, text: string]>> = {
  400: ['Dit adres klopt niet', 'Ga terug en probeer het opnieuw, of begin bij het begin.'],
  401: ['Log eerst in', 'Ga naar het begin en log in.'],
  403: ['Dat mag hier niet', 'Wat u vraagt, kan alleen vanaf onze eigen pagina’s.'],
  404: ['Niet gevonden', 'Deze pagina bestaat niet. Misschien is het adres veranderd.'],
  405: ['Dat kan hier niet', 'Deze pagina kunt u alleen bekijken.'],
  406: ['Dat kan hier niet', 'Uw programma vraagt een vorm die wij niet hebben. Open het adres in een browser.'],
  413: ['Te veel gegevens', 'Wat u stuurde, is te groot.'],
  414: ['Dit adres is te lang', 'Maak het korter, of begin bij het begin.'],
  415: ['Dat kan hier niet', 'Wat u stuurde, kunnen wij niet lezen.'],
  431: ['Dit kan niet', 'Uw browser stuurt te veel mee. Verwijder de cookies van deze site en probeer het opnieuw.'],
  429: ['Wacht even', 'U vraagt te veel pagina’s in korte tijd. Wacht een minuut en probeer het dan opnieuw.'],
  503: ['Het lukt nu niet', 'Het is nu te druk, of wij werken aan de dienst. Probeer het straks opnieuw.'],
};
const OTHERWISE = ['Er ging iets mis', 'Dat ligt aan ons. Probeer het later opnieuw.'] as const;

/** Statuses whose problem text may replace these words, if it is meant for people. */
const TOLD: readonly number[] = [400, 403, 503];
/** Terms only for programs: names of headers, parameters and formats. */
const TECHNICAL =
  /[`“]|\b(?:accept|cookie|cursor|gecodeerd|headers?|json|koppen|kop|limit|parameters?|scopes?|toegangstoken|utf-8)\b/i;

/** A problem as a page, with its details if they are meant for people. */
export function problemPage(
  site: Site,
  { status, title: known, detail, invalidParams, instance }: ProblemBody,
): string {
  const [title, words] = WORDS[status] ?? (status < 500 ? [known, undefined] : OTHERWISE);
  const isTold = TOLD.includes(status) || WORDS[status] === undefined;
  const told = !isTold || invalidParams !== undefined || TECHNICAL.test(detail ?? '') ? undefined : detail;
  const page: Page = {
    title,
    description: title,
    body: [
      heading(1, title),
      paragraph(told ?? words ?? OTHERWISE[1]),
      paragraph(link(site.home, 'Naar het begin')),
      status >= 500 && paragraph(html`<small>Kenmerk: ${instance}</small>`),
    ],
  };
  return renderPage(site, page);
}

/** Bytes of a theme; one with a font in it has a few hundred thousand. */
const THEME_BYTES = 2 * 1024 * 1024;

const COMPRESS = {
  identity: async (bytes: Buffer) => bytes,
  gzip: (bytes: Buffer) => promisify(gzip)(bytes),
  br: (bytes: Buffer) => promisify(brotliCompress)(bytes),
} as const;

export type Stylesheet = ReturnType<typeof buildStylesheet>;

/**
 * The one style sheet of the pages: Utrecht's components, our own tokens and layout, then the theme of the organisation. Its address has a hash of
 * its content, so that it may be kept for ever.
 * @param directory path that it is served under
 * @param themeFile style sheet of the organisation
 * @throws {Error} when the theme cannot be read or is too large
 */
export function buildStylesheet(directory: string, themeFile: string | undefined) {
  const components = createRequire(import.meta.url).resolve('@utrecht/component-library-css');
  const own = ['tokens.css', 'layout.css', ...(themeFile === undefined ? ['dark.css'] : [])];
  const texts = [components, ...own.map((name) => new URL(name, import.meta.url))].map((file) =>
    readFileSync(file, 'utf8'),
  );
  const theme = themeFile === undefined ? '' : readTextFileSync(themeFile);
  if (theme.length > THEME_BYTES) throw new Error(`PAGES_THEME_CSS is larger than ${THEME_BYTES} bytes`);
  const bytes = Buffer.from([...texts, theme].join('\n'));
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 16);
  const encoded: Partial<Record<keyof typeof COMPRESS, Promise<Buffer>>> = {};
  return {
    path: `${directory}/stijl-${hash}.css`,
    /** Compresses on first use: that takes a good part of a second. */
    encode(encoding: keyof typeof COMPRESS): Promise<Buffer> {
      encoded[encoding] ??= COMPRESS[encoding](bytes);
      return encoded[encoding];
    },
  };
}

/** Serves it. A stored page may name an earlier style sheet: that is 404, and the page is readable without. */
export function serveStylesheet(app: FastifyInstance, stylesheet: () => Stylesheet): void {
  app.get<{ Params: { hash: string } }>('/stijl-:hash.css', { config: { public: true } }, async (request, reply) => {
    const { path, encode } = stylesheet();
    if (!path.endsWith(`/stijl-${request.params.hash}.css`)) throw new Problem(platformProblems.notFound);
    const encoding = acceptedEncoding(request.headers['accept-encoding'], ['br', 'gzip']);
    if (encoding !== 'identity') reply.header('content-encoding', encoding);
    return reply
      .headers({ 'cache-control': 'public, max-age=31536000, immutable', vary: 'Accept-Encoding' })
      .type('text/css; charset=utf-8')
      .send(await encode(encoding));
  });
}
