/** This service as a witness of others (C2SP tlog-witness): anyone may ask, and the signature of a known log decides. */
import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Pool } from '../../database/pool.ts';
import { transaction } from '../../database/transaction.ts';
import { reasonOf } from '../../lib/log.ts';
import { Problem } from '../../lib/problem.ts';
import { readTextFile } from '../../lib/text-file.ts';
import { platformProblems } from '../../plugins/problems.ts';
import { signerOf } from '../keys.ts';
import { openPublishedCheckpoints, type PublishedCheckpoints, statePath } from '../state.ts';
import { EMPTY_ROOT, verifyConsistency } from '../tlog/merkle.ts';
import {
  type Checkpoint,
  checkpointIn,
  FormatError,
  formatNote,
  LOG_KEY,
  MAX_NOTE_BYTES,
  type NoteSigner,
  openNote,
  parseHash,
  parseSize,
  parseVerifierKey,
  readOrReason,
  type VerifierKey,
  WITNESS_KEY,
} from '../tlog/note.ts';

const MAX_HASHES = 63;
const MAX_REQUEST_BYTES = MAX_NOTE_BYTES + 4096;
/** Milliseconds that a request waits for another one about the same log. */
const LOCK_TIMEOUT_MS = 5_000;
const TEXT = 'text/plain; charset=utf-8';
const OPEN = { 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=5' };

interface AddCheckpoint {
  readonly oldSize: number;
  readonly proof: readonly Uint8Array[];
  readonly note: string;
}

export function formatAddCheckpoint({ oldSize, proof, note }: AddCheckpoint): string {
  return [`old ${oldSize}`, ...proof.map((item) => Buffer.from(item).toString('base64')), '', note].join('\n');
}

/** @throws {FormatError} when the body does not follow the protocol */
function parseAddCheckpoint(body: string): AddCheckpoint & { readonly checkpoint: Checkpoint } {
  const end = body.indexOf('\n\n');
  if (end === -1) throw new FormatError('the request has no empty line before its checkpoint');
  const [old = '', ...path] = body.slice(0, end).split('\n');
  if (!old.startsWith('old ')) throw new FormatError('the request begins with the old size');
  if (path.length > MAX_HASHES) throw new FormatError(`the request has more than ${MAX_HASHES} hashes`);
  const proof = path.map((line) => parseHash(line, 'a line of the proof'));
  const note = body.slice(end + 2);
  return { oldSize: parseSize(old.slice('old '.length), 'the old size'), proof, note, checkpoint: checkpointIn(note) };
}

/** 200: the cosignature; 409: the known size; otherwise a reason. */
interface WitnessAnswer {
  readonly status: 200 | 400 | 403 | 404 | 409 | 422;
  readonly text: string;
}

/** Runs `decide` with the last checkpoint of a log, and stores its result before it resolves. One at a time for each log, across instances. */
type UpdateState = (origin: string, decide: (last: Checkpoint | undefined) => string | undefined) => Promise<void>;

interface WitnessNeeds {
  readonly signer: NoteSigner;
  /** Keys of the logs that this witness vouches for; their names are the origins. */
  readonly logKeys: readonly VerifierKey[];
  readonly now: () => number;
}

/** Judges a request, in the order of the protocol: form, origin, signature, sizes, proof. */
export async function addCheckpoint(
  body: string,
  { signer, logKeys, now }: WitnessNeeds,
  update: UpdateState,
): Promise<WitnessAnswer> {
  const request = readOrReason(() => parseAddCheckpoint(body));
  if (typeof request === 'string') return { status: 400, text: request };
  const { oldSize, proof, note, checkpoint } = request;
  const keys = logKeys.filter(({ name }) => name === checkpoint.origin);
  if (keys.length === 0) return { status: 404, text: 'this witness does not vouch for that log' };
  const signed = readOrReason(() => openNote(note, keys));
  if (typeof signed === 'string') return { status: 403, text: signed };
  if (oldSize > checkpoint.size) return { status: 400, text: 'the old size is over that of the checkpoint' };
  let answer: WitnessAnswer = { status: 422, text: 'the checkpoint does not continue the last one' };
  await update(checkpoint.origin, (last = { ...checkpoint, size: 0, root: EMPTY_ROOT }) => {
    if (oldSize !== last.size) answer = { status: 409, text: String(last.size) };
    if (oldSize !== last.size || !verifyConsistency(last, checkpoint, proof)) return undefined;
    const cosignature = signer.sign(signed.text, now());
    answer = { status: 200, text: cosignature.trimEnd() };
    return formatNote(signed.text, [...signed.verified.map(({ line }) => line), cosignature]);
  });
  return answer;
}

/** `/proof/v1/witness`. @param outside the file outside the database, which a restored backup does not revert */
export function witnessRoutes(
  needs: WitnessNeeds,
  outside: PublishedCheckpoints,
): (app: FastifyInstance) => Promise<void> {
  const origins = new Map(needs.logKeys.map(({ name }) => [hash('sha256', name, 'hex'), name]));
  const config = { public: true };
  return async (app) => {
    const { pool } = app.database;
    // The protocol names no media type, so the body is read as bytes whatever its sender calls it.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_REQUEST_BYTES }, (_request, body, done) =>
      done(null, body),
    );

    app.post('/add-checkpoint', { config }, async ({ body }, reply) => {
      if (!Buffer.isBuffer(body) || !isUtf8(body)) throw new Problem(platformProblems.invalidRequest);
      const { status, text } = await addCheckpoint(body.toString(), needs, stateIn(pool, outside));
      const type = status === 409 ? 'text/x.tlog.size' : TEXT;
      return reply.code(status).header('cache-control', 'no-store').type(type).send(`${text}\n`);
    });

    app.get('/key', { config }, (_request, reply) => reply.headers(OPEN).type(TEXT).send(`${needs.signer.key.text}\n`));

    app.get<{ Params: { origin: string } }>('/:origin/checkpoint', { config }, async (request, reply) => {
      const origin = origins.get(request.params.origin);
      if (origin === undefined) throw new Problem(platformProblems.notFound);
      const { rows } = await pool.query<{ checkpoint: string | null }>(
        'select checkpoint from proof.witnessed where origin = $1',
        [origin],
      );
      const checkpoint = rows[0]?.checkpoint ?? null;
      if (checkpoint === null) throw new Problem(platformProblems.notFound);
      return reply.headers(OPEN).type(TEXT).send(checkpoint);
    });
  };
}

/** The last cosigned checkpoint of each log: a row per log, and the file. */
function stateIn(pool: Pool, outside: PublishedCheckpoints): UpdateState {
  return (origin, decide) =>
    transaction(
      pool,
      async (db) => {
        // Locks the row, whether or not it was there.
        const { rows } = await db.query<{ checkpoint: string | null }>(
          `insert into proof.witnessed (origin, size) values ($1, 0)
           on conflict (origin) do update set origin = excluded.origin returning checkpoint`,
          [origin],
        );
        const known = [outside.get(origin) ?? [], rows[0]?.checkpoint ?? []].flat().map(checkpointIn);
        // Of two with the same size the first: the file, which cannot be changed through the database.
        const note = decide(known.sort((a, b) => b.size - a.size)[0]);
        if (note === undefined) return;
        await outside.put(origin, note);
        await db.query(
          'update proof.witnessed set size = $2, checkpoint = $3, cosigned_at = clock_timestamp() where origin = $1',
          [origin, checkpointIn(note).size, note],
        );
      },
      { lockTimeoutMs: LOCK_TIMEOUT_MS },
    );
}

/** @param path file of `PROOF_WITNESS_FOR` @throws {Error} for operators, when it is unusable */
export async function openWitness(app: FastifyInstance, proofKey: Uint8Array, path: string) {
  const outside = await openPublishedCheckpoints(`${statePath(app.settings)}.witness`);
  // The host is known once the server listens.
  let signer: NoteSigner | undefined;
  const needs: WitnessNeeds = {
    get signer() {
      signer ??= signerOf(proofKey, `${new URL(app.publicBaseUrl()).hostname}/proof/v1/witness`, WITNESS_KEY);
      return signer;
    },
    logKeys: await readLogKeys(path),
    now: () => Math.floor(app.clock.now().getTime() / 1000),
  };
  return witnessRoutes(needs, outside);
}

/** A verifier key of a log on each line; empty lines and those beginning with `#` do not count. @throws {Error} that names the line */
async function readLogKeys(path: string): Promise<VerifierKey[]> {
  const lines = (await readTextFile(path)).split('\n').map((line) => line.trim());
  return lines.flatMap((text, place) => {
    if (text === '' || text.startsWith('#')) return [];
    try {
      const key = parseVerifierKey(text);
      if (key.type !== LOG_KEY) throw new FormatError('a log has a key of type 0x01');
      return [key];
    } catch (cause) {
      throw new Error(`PROOF_WITNESS_FOR, line ${place + 1}: ${reasonOf(cause)}`, { cause });
    }
  });
}
