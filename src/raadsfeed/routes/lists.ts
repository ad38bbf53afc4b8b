/** Lists of the current state: the snapshot, the collections of an organisation, and the register. */
import type { FastifyInstance } from 'fastify';
import type { operations } from '../../contracts/raadsfeed.ts';
import type { Pool } from '../../database/pool.ts';
import { COLLECTIONS, normaliseOrganisatiecode, RESOURCE_TYPES } from '../../lib/feed/resource.ts';
import { Problem } from '../../lib/problem.ts';
import type { Contract } from '../../plugins/contract.ts';
import { platformProblems } from '../../plugins/problems.ts';
import { joinRecord, readSnapshot } from '../store/records.ts';
import { listFeeds } from '../store/register.ts';
import { readCurrent } from '../store/state.ts';
import {
  assertInFeed,
  encodeFeedCursor,
  encodeListCursor,
  encodeSnapshotCursor,
  type PageQuery,
  pageUrl,
  readPageQuery,
  resolveListCursor,
  resolveSnapshotCursor,
  withCommas,
} from './feed.ts';

export function listRoutes(app: FastifyInstance, contract: Contract<operations>, pool: Pool): void {
  const { stateCache, responses, mountUrl } = app.feed;
  const { headMaxAgeSeconds: maxAgeSeconds, register } = app.settings.raadsfeed;

  contract.serve(app, 'getSnapshot', {}, (request, reply) => {
    const query = readPageQuery(request);
    return responses.answer(request, reply, {
      records: query.limit,
      read: async () => {
        const { feed, after } = await resolveSnapshotCursor(stateCache, query.cursor);
        const upTo = feed.sequenceNumber;
        const found = await stateCache.read((db) => readSnapshot(db, after, upTo, query.limit + 1, query.filter));
        assertInFeed(found.state, feed, found.epoch);
        const { feedId } = found.state;
        const { rows, last } = cut(found.records, query.limit, found.isAll);
        const cursor = last === undefined ? null : encodeSnapshotCursor(feedId, { feed, after: last.sequenceNumber });
        return {
          ...listPage(
            'records',
            rows.map((record) => joinRecord(record, mountUrl())),
            `${mountUrl()}/snapshot`,
            {
              query,
              cursor,
              more: `"feedCursor":"${encodeFeedCursor(feedId, feed)}",`,
            },
          ),
          maxAgeSeconds,
          // The position of a first page was fixed before its rows were read: once the head has moved on, the page is that of an earlier state.
          state: query.cursor === undefined ? { ...found.state, head: feed } : found.state,
        };
      },
    });
  });

  for (const resourceType of RESOURCE_TYPES) {
    const { list, one } = OPERATIONS[resourceType];
    contract.serve(app, list, {}, async (request, reply) => {
      const organisatiecode = codeOf(request.params.organisatiecode);
      const query = readPageQuery(request);
      const { limit } = query;
      const { feedId, after } = await resolveListCursor(stateCache, query.cursor);
      return responses.answer(request, reply, {
        records: limit,
        read: async () => {
          const of = { ...query.filter, organisatiecode, resourceType };
          const { found, isAll, state } = await stateCache.read((db) =>
            readCurrent(db, of, { after, limit: limit + 1 }),
          );
          const { rows, last } = cut(found, limit, isAll);
          const url = `${mountUrl()}/organisaties/${organisatiecode}/${COLLECTIONS[resourceType]}`;
          const next = last === undefined ? null : encodeListCursor(feedId, last.bronidentificatie);
          const texts = rows.map(({ dataText }) => dataText);
          return { ...listPage('results', texts, url, { query, cursor: next }), maxAgeSeconds, state };
        },
      });
    });

    contract.serve(app, one, {}, (request, reply) =>
      responses.answer(request, reply, {
        records: 1,
        read: async () => {
          const { bronidentificatie } = request.params;
          const organisatiecode = codeOf(request.params.organisatiecode);
          await stateCache.current();
          const { found, state } = await stateCache.read((db) =>
            readCurrent(db, { organisatiecode, resourceType }, { bronidentificatie }),
          );
          const [resource] = found;
          if (resource === undefined) {
            throw new Problem(platformProblems.notFound, { detail: 'Deze resource is onbekend of verwijderd.' });
          }
          return { body: resource.dataText, maxAgeSeconds, state };
        },
      }),
    );
  }

  contract.serve(app, 'getRegister', {}, async (request, reply) => {
    if (!register) throw new Problem(platformProblems.notFound, { detail: 'Deze dienst is geen register.' });
    const query = readPageQuery(request);
    const { limit, filter } = query;
    const { feedId, after } = await resolveListCursor(stateCache, query.cursor);
    return responses.answer(request, reply, {
      records: limit,
      read: async () => {
        const { rows, last } = cut(await listFeeds(pool, after, limit + 1, filter.organisatiecode), limit);
        const next = last === undefined ? null : encodeListCursor(feedId, last.serviceUrl);
        const texts = rows.map((row) => JSON.stringify(row));
        return { ...listPage('results', texts, `${mountUrl()}/register`, { query, cursor: next }), maxAgeSeconds };
      },
    });
  });
}

const OPERATIONS = {
  Vergadering: { list: 'getVergaderingen', one: 'getVergadering' },
  Agendapunt: { list: 'getAgendapunten', one: 'getAgendapunt' },
  Informatieobject: { list: 'getInformatieobjecten', one: 'getInformatieobject' },
} as const;

function codeOf(text: string): string {
  return normaliseOrganisatiecode(text) ?? text;
}

/** Cuts rows that were queried with `limit` + 1 to a page; `last` is where the next page begins, if there is one. */
function cut<T>(
  found: readonly T[],
  limit: number,
  isAll = true,
): { readonly rows: readonly T[]; readonly last: T | undefined } {
  const rows = found.slice(0, limit);
  return { rows, last: isAll && found.length <= limit ? undefined : rows.at(-1) };
}

interface ListEnd {
  readonly query: PageQuery;
  readonly cursor: string | null;
  readonly more?: string;
}

function listPage(name: string, texts: readonly string[], url: string, { query, cursor, more = '' }: ListEnd) {
  const next = cursor === null ? null : pageUrl(url, { ...query, cursor });
  const end = `${more}"cursor":${JSON.stringify(cursor)},"hasMore":${cursor !== null},"next":${JSON.stringify(next)}}`;
  return {
    body: [`{"${name}":[`, ...withCommas(texts), `],${end}`],
    link: next === null ? undefined : `<${next}>; rel="next"`,
  };
}
