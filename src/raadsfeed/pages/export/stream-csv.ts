/** Complete lists as CSV, of any length: read a part at a time, at the client's pace. */
import { hash } from 'node:crypto';
import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../../lib/problem.ts';
import { acceptedEncoding, clientKey, isKnown } from '../../../plugins/headers.ts';
import { createOpenCounter } from '../../../plugins/limits.ts';
import { platformProblems } from '../../../plugins/problems.ts';
import type { PagesContext } from '../context.ts';
import { readIndexPosition } from '../search/lists.ts';
import { csvHead, csvLine, type Table } from './csv.ts';

const PART_ROWS = 500;
/** Simultaneous lists for one address: a program that reads several organisations, or an office. */
const AT_ONCE = 8;

export interface CsvList<T> {
  /** Of the file, without its ending. */
  readonly name: string;
  readonly table: Table<T>;
  /** The rows after those that were read: at most `limit`, fewer only at the end. */
  readonly read: (limit: number, last: T | undefined, count: number) => Promise<readonly T[]>;
  /** Further sources of the rows beside the feed. */
  readonly also?: string;
  /** An empty list does not exist. */
  readonly isNeeded?: boolean;
}

type SendCsv = <T>(request: FastifyRequest, reply: FastifyReply, list: CsvList<T>) => Promise<FastifyReply>;

export function createCsvSender({ pool, stateCache, baseUrl }: PagesContext, maxAgeSeconds: number): SendCsv {
  const countOpen = createOpenCounter(AT_ONCE);
  return async (request, reply, list) => {
    // Before anything is read: a change in between gives another tag at the next request.
    const state = [await stateCache.current(), await readIndexPosition(pool), list.also, baseUrl(), request.url];
    const etag = `W/"${hash('sha256', JSON.stringify(state), 'base64url').slice(0, 22)}"`;
    reply.headers({ 'cache-control': `public, max-age=${maxAgeSeconds}`, etag, vary: 'Accept-Encoding' });
    if (isKnown(request, etag)) return reply.code(304).send();
    countOpen(clientKey(request), request);
    const first = await list.read(PART_ROWS, undefined, 0);
    if (list.isNeeded === true && first.length === 0) throw new Problem(platformProblems.notFound);
    reply.type('text/csv; charset=utf-8').header('content-disposition', `attachment; filename="${list.name}.csv"`);
    // A body without a reader would be read to its end.
    const body = Readable.from(request.method === 'HEAD' ? [] : pieces(list, first), { objectMode: false });
    if (acceptedEncoding(request.headers['accept-encoding'], ['gzip']) === 'identity') return reply.send(body);
    // A fault in either ends the other, and with it the answer, halfway and visibly for the client.
    return reply.header('content-encoding', 'gzip').send(pipeline(body, createGzip({ level: 5 }), () => undefined));
  };
}

async function* pieces<T>({ table, read }: CsvList<T>, first: readonly T[]): AsyncGenerator<string> {
  yield csvHead(table.header);
  let count = 0;
  for (let rows = first; rows.length > 0; ) {
    yield rows.map((row) => csvLine(table.row(row))).join('');
    count += rows.length;
    rows = rows.length < PART_ROWS ? [] : await read(PART_ROWS, rows.at(-1), count);
  }
}
