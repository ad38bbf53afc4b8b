/** What routes read from an address, and how they answer. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { normaliseOrganisatiecode } from '../../lib/feed-client/organisatiecode.ts';
import { Problem } from '../../lib/problem.ts';
import { platformProblems } from '../../plugins/problems.ts';
import type { Answer } from '../../raadsfeed/feed/response-cache.ts';
import { type FeedOrganisation, readOrganisation } from '../../raadsfeed/store/state.ts';
import type { PagesContext } from './context.ts';

/**
 * Answers with what is read, and keeps it while the feed is unchanged: a redaction is out with the first notification of it.
 * @param records that take about the same memory
 * @param read `keptMs` 0: only its encoded body is reused
 */
export function answerFrom(
  { heads, responses }: PagesContext,
  request: FastifyRequest,
  reply: FastifyReply,
  records: number,
  read: () => Promise<Answer & { readonly keptMs: number }>,
): Promise<FastifyReply> {
  return responses.answer(request, reply, records, async () => {
    const head = await heads.head();
    return { ...(await read()), head };
  });
}

type Query = Readonly<Record<string, unknown>>;

export type PagesRequest = FastifyRequest<{ Params: Record<string, string>; Querystring: Query }>;

/** A parameter of the query, the first when there are several; `undefined` when it is empty or too long to mean anything. */
export function readText(query: Query, name: string): string | undefined {
  const value = [query[name]].flat()[0];
  return typeof value === 'string' && value !== '' && value.length <= 200 ? value : undefined;
}

/** @throws {Problem} 404 when the feed does not have it */
export async function findOrganisation({ pool }: PagesContext, code: string | undefined): Promise<FeedOrganisation> {
  const wanted = normaliseOrganisatiecode(code ?? '');
  const organisation = wanted === undefined ? undefined : await readOrganisation(pool, wanted);
  if (organisation === undefined)
    throw new Problem(platformProblems.notFound, { detail: 'Deze organisatie staat hier niet.' });
  return organisation;
}
