import type { FastifyInstance } from 'fastify';
import { Problem, type ProblemKind } from '../kernel/problem.ts';
import { htmlPage } from './html-page.ts';
import { platformProblems } from './problems.ts';

/** Serves a short page on every kind of problem under `/problems/<slug>`: the address in each problem document's `type`. */
export function problemPages(app: FastifyInstance, areas: readonly Record<string, ProblemKind>[]): void {
  const kinds = new Map<string, ProblemKind>();
  for (const catalogue of [platformProblems, ...areas]) {
    for (const kind of Object.values(catalogue)) kinds.set(kind.slug, kind);
  }
  app.get<{ Params: { slug: string } }>('/problems/:slug', { config: { public: true } }, (request, reply) => {
    const kind = kinds.get(request.params.slug);
    if (kind === undefined) throw new Problem(platformProblems.notFound);
    return reply
      .header('cache-control', 'public, max-age=86400')
      .type('text/html; charset=utf-8')
      .send(htmlPage({ title: `${kind.status} ${kind.title}`, paragraphs: [kind.explanation, `\`${kind.slug}\``] }));
  });
}
