/** The addresses of a witness (C2SP tlog-witness): anyone may ask, the signature of a known log decides. */
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import type { Pool } from '../../../database/pool.ts';
import { transaction } from '../../../database/transaction.ts';
import { Problem } from '../../../lib/problem.ts';
import {
  type Checkpoint,
  checkpointIn,
  FormatError,
  LOG_KEY,
  parseVerifierKey,
  type VerifierKey,
} from '../../../lib/tlog/note.ts';
import { platformProblems } from '../../../plugins/problems.ts';
import type { PublishedCheckpoints } from '../state.ts';
import { addCheckpoint, MAX_REQUEST_BYTES, type WitnessNeeds, type WitnessState } from './add-checkpoint.ts';

/** Most bytes of the file of `PROOF_WITNESS_FOR`. */
const MAX_KEYS_BYTES = 1024 * 1024;
/** Milliseconds that a request waits for another one about the same log. */
const LOCK_TIMEOUT_MS = 5_000;
const TEXT = 'text/plain; charset=utf-8';
const OPEN = { 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=5' };

/** Serves a witness below the prefix of the scope, which is `/proof/v1/witness`. */
export function witnessRoutes(needs: WitnessNeeds): (app: FastifyInstance) => Promise<void> {
  const origins = new Map(needs.logKeys.map(({ name }) => [hash('sha256', name, 'hex'), name]));
  const config = { public: true };
  return async (app) => {
    // The protocol names no media type, so the body is read as bytes whatever its sender calls it.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_REQUEST_BYTES }, (_request, body, done) => {
      done(null, body);
    });

    app.post('/add-checkpoint', { config }, async (request, reply) => {
      const text = Buffer.isBuffer(request.body) ? decodeUtf8(request.body) : undefined;
      if (text === undefined) throw new Problem(platformProblems.invalidRequest);
      const answer = await addCheckpoint(text, needs);
      reply.code(answer.status).header('cache-control', 'no-store');
      if (answer.status === 409) return reply.type('text/x.tlog.size').send(`${answer.size}\n`);
      return reply.type(TEXT).send(answer.status === 200 ? answer.lines : `${answer.reason}\n`);
    });

    app.get('/key', { config }, (_request, reply) => reply.headers(OPEN).type(TEXT).send(`${needs.signer.key.text}\n`));

    app.get<{ Params: { origin: string } }>('/:origin/checkpoint', { config }, async (request, reply) => {
      const origin = origins.get(request.params.origin);
      const checkpoint = origin === undefined ? undefined : await needs.state.read(origin);
      if (checkpoint === undefined) throw new Problem(platformProblems.notFound);
      return reply.headers(OPEN).type(TEXT).send(checkpoint);
    });
  };
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** What a witness cosigned last of each log: a row per log, and a file outside the database that a restored backup does not turn back. */
export function createWitnessState(pool: Pool, outside: PublishedCheckpoints): WitnessState {
  return {
    async update(origin, decide) {
      await transaction(
        pool,
        async (db) => {
          await db.query('insert into proof.witnessed (origin, size) values ($1, 0) on conflict (origin) do nothing', [
            origin,
          ]);
          const { rows } = await db.query<{ checkpoint: string | null }>(
            'select checkpoint from proof.witnessed where origin = $1 for update',
            [origin],
          );
          const note = decide(newestOf(rows[0]?.checkpoint ?? undefined, outside.get(origin)));
          if (note === undefined) return;
          // The file first: when the commit fails, this witness remembers more than it said, which harms nobody.
          await outside.put(origin, note);
          await db.query(
            'update proof.witnessed set size = $2, checkpoint = $3, op = clock_timestamp() where origin = $1',
            [origin, checkpointIn(note).size, note],
          );
        },
        { lockTimeoutMs: LOCK_TIMEOUT_MS },
      );
    },

    async read(origin) {
      const { rows } = await pool.query<{ checkpoint: string | null }>(
        'select checkpoint from proof.witnessed where origin = $1',
        [origin],
      );
      return rows[0]?.checkpoint ?? undefined;
    },
  };
}

/** @throws {Error} when the two are of one size and differ: one of them was changed, and nothing may be cosigned */
function newestOf(stored: string | undefined, outside: string | undefined): Checkpoint | undefined {
  const inDatabase = stored === undefined ? undefined : checkpointIn(stored);
  const inFile = outside === undefined ? undefined : checkpointIn(outside);
  if (inDatabase === undefined || inFile === undefined) return inDatabase ?? inFile;
  if (inDatabase.size !== inFile.size) return inDatabase.size > inFile.size ? inDatabase : inFile;
  if (Buffer.compare(inDatabase.root, inFile.root) !== 0)
    throw new Error(`the witness remembers two checkpoints of ${inFile.origin} with size ${inFile.size}`);
  return inDatabase;
}

/**
 * Reads the file of `PROOF_WITNESS_FOR`: a verifier key of a log on each line; lines that are empty or begin with `#` do not count.
 * @throws {Error} that names the line
 */
export async function readLogKeys(path: string): Promise<VerifierKey[]> {
  const bytes = await readFile(path);
  if (bytes.length > MAX_KEYS_BYTES) throw new Error(`PROOF_WITNESS_FOR has at most ${MAX_KEYS_BYTES} bytes`);
  const lines = bytes.toString('utf8').split('\n');
  return lines.flatMap((line, place) => {
    const text = line.trim();
    if (text === '' || text.startsWith('#')) return [];
    try {
      const key = parseVerifierKey(text);
      if (key.type !== LOG_KEY) throw new FormatError('a log has a key of type 0x01');
      return [key];
    } catch (cause) {
      const reason = cause instanceof FormatError ? cause.message : 'not a verifier key';
      throw new Error(`PROOF_WITNESS_FOR, line ${place + 1}: ${reason}`, { cause });
    }
  });
}
