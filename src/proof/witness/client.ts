/** Asks witnesses to cosign our checkpoints (C2SP tlog-witness, the side of the log). */
import type { FastifyInstance } from 'fastify';
import { Counter, Gauge } from 'prom-client';
import { type Logger, reasonOf } from '../../lib/log.ts';
import {
  createGuardedConnections,
  headerValue,
  type ProxySettings,
  readBody,
} from '../../lib/outbound/guarded-fetch.ts';
import { readTextFile } from '../../lib/text-file.ts';
import { tileReader } from '../store/leaves.ts';
import { readOrigin } from '../store/logs.ts';
import { proveConsistency } from '../tlog/merkle.ts';
import {
  type Checkpoint,
  checkpointIn,
  formatNote,
  openNote,
  parseSize,
  readOrReason,
  splitNote,
  type VerifierKey,
} from '../tlog/note.ts';
import { type Policy, type PolicyWitness, parsePolicy } from '../tlog/policy.ts';
import { readHashesFromTiles } from '../tlog/tiles.ts';
import { formatAddCheckpoint } from './server.ts';

const TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 2_000;
const MAX_ANSWER_BYTES = 64 * 1024;
/** Attempts per witness and checkpoint: another size, and once more when two instances ask at once. */
const MAX_ATTEMPTS = 3;
const MAX_AHEAD_SECONDS = 300;

interface WitnessClientOptions extends Pick<FastifyInstance, 'metrics' | 'clock' | 'stopping'> {
  readonly log: Pick<Logger, 'warn'>;
  /** Witnesses without an address are not asked. */
  readonly policy: Policy;
  readonly proveConsistency: (origin: string, oldSize: number, newSize: number) => Promise<readonly Uint8Array[]>;
  readonly proxy?: ProxySettings;
}

/** A witness has cosigned a tree that the checkpoint does not continue. */
export interface Contradiction {
  readonly witness: string;
  /** It cosigned more leaves than the checkpoint has; absent: it refused the proof of consistency. */
  readonly known?: number;
}

export type WitnessClient = ReturnType<typeof createWitnessClient>;

interface Signed extends Checkpoint {
  readonly text: string;
  readonly note: string;
}

interface Answer {
  readonly failure?: string;
  readonly contradiction?: Contradiction;
  readonly had?: number;
  /** Its cosignature; absent: it had cosigned nothing, and was not given the checkpoint. */
  readonly line?: string;
}

export function createWitnessClient(options: WitnessClientOptions) {
  const { policy, proveConsistency, clock, log, stopping } = options;
  const connections = createGuardedConnections({
    // The operator chose their addresses.
    rules: { allowPrivate: true },
    proxy: options.proxy,
    maxRedirects: 0,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    agent: { connections: 4, keepAliveTimeout: 4_000 },
  });
  const registers = [options.metrics];
  const requests = new Counter({
    name: 'koppelvlak_proof_witness_requests_total',
    help: 'Checkpoints that a witness was asked to cosign, by outcome',
    labelNames: ['witness', 'result'],
    registers,
  });
  const quorum = new Gauge({
    name: 'koppelvlak_proof_witness_quorum',
    help: '1 when enough witnesses cosigned the last checkpoint of a log, else 0',
    labelNames: ['origin'],
    registers,
  });
  /** By witness and origin: the contradiction of its last answer, until it confirms something; being unavailable is no confirmation. */
  const contradictions = new Map<string, Contradiction>();
  const tooFew = new Map<string, readonly string[]>();

  const post = async (address: string, body: string) => {
    const { answer } = await connections.request(
      address,
      {
        method: 'POST',
        headers: { 'user-agent': 'koppelvlak', 'content-type': 'text/plain; charset=utf-8' },
        body,
        signal: AbortSignal.any([stopping, AbortSignal.timeout(TIMEOUT_MS)]),
      },
      'none',
    );
    const bytes = await readBody(answer.body, headerValue(answer.headers['content-encoding']), MAX_ANSWER_BYTES);
    return { status: answer.statusCode, type: headerValue(answer.headers['content-type']) ?? '', text: `${bytes}` };
  };

  /** Asks one witness, which names the size that it has cosigned. @param teach gives the checkpoint to one that does not know the log */
  const ask = async (
    { name, key, url }: PolicyWitness,
    { text, note, ...tree }: Signed,
    teach: boolean,
  ): Promise<Answer> => {
    const refused = { contradiction: { witness: name } };
    let oldSize = teach ? 0 : tree.size;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      // A failure here is not the witness's fault.
      const proof = await proveConsistency(tree.origin, oldSize, tree.size);
      let known: number;
      try {
        const body = formatAddCheckpoint({ oldSize, proof, note });
        const answer = await post(`${url?.replace(/\/$/, '')}/add-checkpoint`, body);
        if (answer.status === 200) return { line: verifiedLine(text, answer.text, key, clock.now()), had: oldSize };
        if (answer.status === 422 && oldSize > 0) return refused;
        if (answer.status !== 409) throw new Error(`status ${answer.status}`);
        const namesSize = /^text\/x\.tlog\.size\s*(;|$)/i.test(answer.type);
        // Same size with another root: earlier versions of the protocol answer 409 without a size.
        if (!namesSize && oldSize > 0 && proof.length === 0) return refused;
        if (!namesSize) throw new Error('status 409 without a size');
        known = parseSize(answer.text.replace(/\n$/, ''), 'the size that the witness knows');
      } catch (error) {
        stopping.throwIfAborted();
        return { failure: reasonOf(error) };
      }
      // No checkpoint of this log continues a larger tree: either another instance was faster, or this log lost entries.
      if (known > tree.size) return { contradiction: { witness: name, known } };
      if (known === oldSize && known === tree.size && known > 0) return refused;
      if (known === oldSize) return { failure: 'it refuses the size that it named' };
      if (known === 0 && !teach) return { had: 0 };
      oldSize = known;
    }
    return { failure: 'its size changed at each attempt' };
  };

  /** The same for a witness that has not cosigned it; its answer is remembered, counted and logged. */
  const askOne = async (witness: PolicyWitness, checkpoint: Signed, teach: boolean): Promise<Answer> => {
    const { name } = witness;
    const { origin, size, note } = checkpoint;
    const line = teach ? lineIn(note, witness.key) : undefined;
    if (line !== undefined) return { line, had: size };
    if (witness.url === undefined) return { failure: 'it has no address' };
    const memory = `${name} ${origin}`;
    const answer = await ask(witness, checkpoint, teach);
    const { failure, contradiction, had, line: cosigned } = answer;
    if (cosigned !== undefined || had === undefined)
      requests.inc({ witness: name, result: cosigned === undefined ? 'failed' : 'cosigned' });
    if (had !== undefined) {
      contradictions.delete(memory);
      return answer;
    }
    if (contradiction !== undefined) contradictions.set(memory, contradiction);
    const reason = contradiction === undefined ? failure : contradicts(contradiction, size);
    log.warn({ witness: name, origin, reason }, 'a witness did not cosign a checkpoint');
    const remembered = contradictions.get(memory);
    return remembered === undefined || (remembered.known ?? size + 1) <= size ? answer : { contradiction: remembered };
  };

  const askAll = async (note: string, teach: boolean) => {
    const { text, signatures } = splitNote(note);
    const checkpoint = { ...checkpointIn(note), text, note };
    const answers = await Promise.all(
      policy.witnesses.map(async (witness) => ({ witness, ...(await askOne(witness, checkpoint, teach)) })),
    );
    const cosigned = answers.filter(({ line }) => line !== undefined);
    const lines = new Set([...signatures.map(({ line }) => line), ...answers.flatMap(({ line }) => line ?? [])]);
    const sizeOf = ({ known = Number.MAX_VALUE }: Contradiction): number => known;
    const contradictory = answers.flatMap(({ contradiction }) => contradiction ?? []);
    return {
      note: formatNote(text, [...lines]),
      isQuorum: policy.isQuorum(cosigned.map(({ witness }) => witness.key)),
      missing: answers.filter(({ line }) => line === undefined).map(({ witness }) => witness.name),
      /** Witnesses that answered, including those that do not know the log and those that contradict. */
      answered: answers.filter(({ failure }) => failure === undefined).length,
      /** Those of them that had cosigned a tree of the log, and confirm that the checkpoint continues it. */
      confirmed: cosigned.filter(({ had = 0 }) => had > 0).length,
      /** The gravest of several: a refusal, then the largest tree. */
      contradiction: contradictory.sort((a, b) => sizeOf(b) - sizeOf(a))[0],
    };
  };

  return {
    isNeeded: !policy.isQuorum([]),
    /** Asks every witness about a published checkpoint. A witness that does not know the log learns nothing. */
    confirm: (note: string) => askAll(note, false),
    /** Asks every witness that has not cosigned this checkpoint, all at once. Never rejects because of a witness. */
    async cosign(note: string) {
      const asked = await askAll(note, true);
      const { origin } = checkpointIn(note);
      quorum.set({ origin }, asked.isQuorum ? 1 : 0);
      if (asked.isQuorum) tooFew.delete(origin);
      else tooFew.set(origin, asked.missing);
      return asked;
    },
    warning(): string | undefined {
      const [first] = tooFew;
      return first && `too few witnesses cosigned ${first[0]}; missing: ${first[1].join(', ')}`;
    },
    close: connections.close,
  };
}

/** @param size leaves of the checkpoint in question */
export function contradicts({ witness, known }: Contradiction, size: number): string {
  return known === undefined
    ? `the witness ${witness} refuses the tree of ${size} leaves: it does not continue what it cosigned`
    : `the witness ${witness} has cosigned ${known} leaves, and the last checkpoint known here has ${size}`;
}

function lineIn(note: string, key: VerifierKey): string | undefined {
  const opened = readOrReason(() => openNote(note, [key]));
  return typeof opened === 'string' ? undefined : opened.verified[0]?.line;
}

/** The line of this witness in an answer. @throws {Error} when it is missing, does not verify, or its time is in the future */
function verifiedLine(text: string, answer: string, key: VerifierKey, now: Date): string {
  const [found] = openNote(formatNote(text, [answer]), [key]).verified;
  if (found?.time === undefined) throw new Error('it answered without a cosignature');
  if (found.time > now.getTime() / 1000 + MAX_AHEAD_SECONDS) throw new Error('its cosignature is of the future');
  return found.line;
}

/** The policy of `PROOF_WITNESSES`. @throws {Error} for operators, when the file is unusable */
export async function readPolicy(path: string): Promise<Policy> {
  try {
    return parsePolicy(await readTextFile(path));
  } catch (cause) {
    throw new Error(`PROOF_WITNESSES: ${reasonOf(cause)}`, { cause });
  }
}

export function openWitnesses(app: FastifyInstance, policy: Policy): WitnessClient {
  const { metrics, log, clock, stopping, database } = app;
  const client = createWitnessClient({
    metrics,
    log,
    clock,
    stopping,
    policy,
    proxy: app.settings.server,
    async proveConsistency(name, oldSize, newSize) {
      const { pool } = database;
      const origin = await readOrigin(pool, name);
      if (origin === undefined) throw new Error('no checkpoint of this log was made here');
      return await proveConsistency(oldSize, newSize, readHashesFromTiles(newSize, tileReader(pool, origin)));
    },
  });
  app.addHook('onClose', client.close);
  const check = async () => ({ ok: true, warning: client.warning() });
  app.readiness.push({ name: 'proof witnesses', vital: false, runbook: 'koppelvlakproofquorummissed', check });
  return client;
}
