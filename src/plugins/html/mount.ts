/** A part of the service that answers people: the limits of every mount, but errors as pages, and a policy that lets in nothing of others. */

import type { FastifyInstance } from 'fastify';
import { PAGES_POLICY } from '../pages.ts';
import type { ProblemBody } from '../problem-reply.ts';
import { mountScope, type ScopeOptions } from '../requests.ts';
import { publicUnlessSaid } from '../routes.ts';
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
