/** The public addresses of a log (C2SP tlog-tiles), and the proof of a record of the feed. */
import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Pool } from '../../database/pool.ts';
import { Problem } from '../../lib/problem.ts';
import { checkpointIn } from '../../lib/tlog/note.ts';
import { encodeBundle, hasTile, parseTilePath, type Tile } from '../../lib/tlog/tiles.ts';
import { platformProblems } from '../../plugins/problems.ts';
import type { ProofLogName } from '../../seams/proof-log.ts';
import type { Sequencer } from './sequencer.ts';
import { ENTRY_BYTES, MissingTileError, readBundles, tileReader } from './store/leaves.ts';
import { readOrigins, type StoredLog } from './store/logs.ts';

/** How long a checkpoint may be used from a cache, in seconds. */
const CHECKPOINT_SECONDS = 5;
const IMMUTABLE = 'public, max-age=31536000, immutable';
const TEXT = 'text/plain; charset=utf-8';

export interface LogRoutes {
  readonly pool: Pool;
  readonly sequencers: readonly Sequencer[];
}

/** `/{log}/…`, and `/{log}/{n}/…` for a later origin. */
export function logRoutes(app: FastifyInstance, { pool, sequencers }: LogRoutes): void {
  const config = { public: true };
  for (const sequencer of sequencers) {
    app.get<{ Params: { '*': string } }>(`/${sequencer.log}/*`, { config }, async (request, reply) => {
      const [, number, path = ''] = /^(?:([1-9]\d{0,5})\/)?(.*)$/.exec(request.params['*']) ?? [];
      const log = await originOf(pool, sequencer.log, number);
      const note = log === undefined ? undefined : await noteOf(sequencer, log);
      if (log === undefined || note === undefined) throw new Problem(platformProblems.notFound);
      if (path === 'key') return answerText(request, reply, `${log.verifierKey}\n`);
      if (path === 'checkpoint') return answerText(request, reply, note);
      const tile = parseTilePath(path);
      if (tile === undefined || !hasTile(checkpointIn(note).size, tile)) throw new Problem(platformProblems.notFound);
      return answer(request, reply, {
        tag: `"${log.number}/${path}"`,
        cacheControl: IMMUTABLE,
        type: 'application/octet-stream',
        body: () => readTile(pool, log, tile),
      });
    });
  }
}

/** The origin that an address names: without a number the first one, so that addresses do not change. */
async function originOf(pool: Pool, log: ProofLogName, number: string | undefined): Promise<StoredLog | undefined> {
  const wanted = number === undefined ? 1 : Number(number);
  if (number === '1') return undefined;
  return (await readOrigins(pool, log)).find((origin) => origin.number === wanted);
}

/** The checkpoint of an origin: of the present one when it was judged here, of an earlier one as it was when it ended. */
async function noteOf(sequencer: Sequencer, log: StoredLog): Promise<string | undefined> {
  const present = await sequencer.checkpoint();
  if (present?.log.number === log.number) return present.note;
  return log.checkpoint ?? undefined;
}

async function readTile(pool: Pool, log: StoredLog, tile: Tile): Promise<Uint8Array> {
  if (tile.level !== 'entries') {
    try {
      const [bytes] = await tileReader(pool, log)([tile]);
      if (bytes !== undefined) return bytes;
    } catch (error) {
      if (!(error instanceof MissingTileError)) throw error;
    }
    throw new Problem(platformProblems.notFound);
  }
  const [bundle] = await readBundles(pool, log, tile.index, 1);
  if (bundle?.index !== tile.index || bundle.entries.length < tile.width * ENTRY_BYTES)
    throw new Problem(platformProblems.notFound);
  return encodeBundle(
    Array.from({ length: tile.width }, (_, i) => bundle.entries.subarray(i * ENTRY_BYTES, (i + 1) * ENTRY_BYTES)),
  );
}

function answerText(request: FastifyRequest, reply: FastifyReply, text: string): Promise<FastifyReply> {
  return answer(request, reply, {
    tag: `"${hash('sha256', text, 'base64url').slice(0, 22)}"`,
    cacheControl: `public, max-age=${CHECKPOINT_SECONDS}`,
    type: TEXT,
    body: async () => text,
  });
}

interface Answer {
  readonly tag: string;
  readonly cacheControl: string;
  readonly type: string;
  readonly body: () => Promise<string | Uint8Array>;
}

/** Answers with a tag, or 304 to who has it already (RFC 9110 section 13.1.2). */
async function answer(request: FastifyRequest, reply: FastifyReply, given: Answer): Promise<FastifyReply> {
  reply.headers({ etag: given.tag, 'cache-control': given.cacheControl });
  const condition = request.headers['if-none-match'];
  if (condition !== undefined && (condition.trim() === '*' || condition.includes(given.tag)))
    return reply.code(304).send();
  const body = await given.body();
  return reply.type(given.type).send(typeof body === 'string' ? body : Buffer.from(body));
}
