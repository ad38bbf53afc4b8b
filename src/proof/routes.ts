/** The public addresses of a log (C2SP tlog-tiles). */
import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Pool } from '../database/pool.ts';
import { Problem } from '../lib/problem.ts';
import { isKnown } from '../plugins/headers.ts';
import { platformProblems } from '../plugins/problems.ts';
import type { ProofLogName } from './proof-log.ts';
import type { Sequencer } from './sequencer.ts';
import { ENTRY_BYTES, MissingTileError, readBundles, tileReader } from './store/leaves.ts';
import { readOrigins, type StoredLog } from './store/logs.ts';
import { checkpointIn } from './tlog/note.ts';
import { encodeBundle, hasTile, parseTilePath, type Tile } from './tlog/tiles.ts';

const SHORT = 'public, max-age=5';
const IMMUTABLE = 'public, max-age=31536000, immutable';
const TEXT = 'text/plain; charset=utf-8';

/** `/{log}/…`, and `/{log}/{n}/…` for a later origin. */
export function logRoutes(app: FastifyInstance, pool: Pool, sequencers: readonly Sequencer[]): void {
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
      const etag = `"${log.number}/${path}"`;
      reply.headers({ 'cache-control': IMMUTABLE, etag });
      if (isKnown(request, etag)) return reply.code(304).send();
      const bytes = await readTile(pool, log, tile);
      if (bytes === undefined) throw new Problem(platformProblems.notFound);
      return reply.type('application/octet-stream').send(Buffer.from(bytes));
    });
  }
}

/** The origin in an address: without a number the first one, so that addresses do not change. */
async function originOf(pool: Pool, log: ProofLogName, number: string | undefined): Promise<StoredLog | undefined> {
  if (number === '1') return undefined;
  const wanted = Number(number ?? 1);
  return (await readOrigins(pool, log)).find((origin) => origin.number === wanted);
}

/** The checkpoint of an origin: of the current one once checked here, of an earlier one as it ended. */
async function noteOf(sequencer: Sequencer, log: StoredLog): Promise<string | undefined> {
  const present = await sequencer.checkpoint();
  if (present?.log.number === log.number) return present.note;
  return log.checkpoint ?? undefined;
}

async function readTile(pool: Pool, log: StoredLog, tile: Tile): Promise<Uint8Array | undefined> {
  if (tile.level === 'entries') {
    const [bundle] = await readBundles(pool, log, tile.index, 1);
    if (bundle?.index !== tile.index || bundle.entries.length < tile.width * ENTRY_BYTES) return undefined;
    const entryAt = (i: number) => bundle.entries.subarray(i * ENTRY_BYTES, (i + 1) * ENTRY_BYTES);
    return encodeBundle(Array.from({ length: tile.width }, (_, i) => entryAt(i)));
  }
  try {
    return (await tileReader(pool, log)([tile]))[0];
  } catch (error) {
    if (error instanceof MissingTileError) return undefined;
    throw error;
  }
}

function answerText(request: FastifyRequest, reply: FastifyReply, text: string): FastifyReply {
  const etag = `"${hash('sha256', text, 'base64url').slice(0, 22)}"`;
  reply.headers({ 'cache-control': SHORT, etag });
  if (isKnown(request, etag)) return reply.code(304).send();
  return reply.type(TEXT).send(text);
}
