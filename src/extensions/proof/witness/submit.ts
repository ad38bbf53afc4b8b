/** Asks witnesses for their cosignatures on checkpoints of ours (C2SP tlog-witness, the side of the log). */
import { Counter, Gauge, type Registry } from 'prom-client';
import { type Logger, reasonOf } from '../../../lib/log.ts';
import { createGuardedConnections, type ProxySettings, readBody } from '../../../lib/outbound/guarded-fetch.ts';
import { backoffMs } from '../../../lib/outbound/outbound-client.ts';
import {
  type Checkpoint,
  formatNote,
  NoteError,
  openNote,
  parseCheckpoint,
  parseSize,
  splitNote,
  type VerifierKey,
} from '../../../lib/tlog/note.ts';
import type { Policy, PolicyWitness } from '../../../lib/tlog/policy.ts';
import { formatAddCheckpoint } from './add-checkpoint.ts';

/** Most bytes of an answer: a few signature lines. */
const MAX_ANSWER_BYTES = 64 * 1024;
/** Times that one witness is asked about one checkpoint: another size, and once more when two instances ask at once. */
const MAX_ATTEMPTS = 3;
/** Seconds that the clock of a witness may be ahead. */
const MAX_AHEAD_SECONDS = 300;
const BACKOFF = { firstMs: 1_000, maxMs: 60_000 };
const CONNECTIONS = 4;

export interface WitnessClientOptions {
  /** Of `PROOF_WITNESSES`; witnesses without an address are not asked. */
  readonly policy: Policy;
  /** The proof that the log's tree of the new size continues that of the old one. */
  readonly proveConsistency: (origin: string, oldSize: number, newSize: number) => Promise<readonly Uint8Array[]>;
  readonly proxy?: ProxySettings;
  readonly timeoutMs: number;
  readonly metrics: Registry;
  readonly log: Pick<Logger, 'warn'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export interface Cosigned {
  /** The checkpoint with the cosignatures that were verified. */
  readonly note: string;
  readonly isQuorum: boolean;
  /** Names of the witnesses that have not cosigned it. */
  readonly missing: readonly string[];
  readonly contradiction: Contradiction | undefined;
}

/** A witness has cosigned something that the checkpoint does not continue. */
export interface Contradiction {
  /** Name of the witness in the policy. */
  readonly witness: string;
  /** It cosigned more leaves than the checkpoint has; absent: it refused the proof of consistency. */
  readonly known?: number;
}

export interface Confirmed {
  /** Witnesses that answered, also those that know nothing of the log and those that contradict. */
  readonly answered: number;
  /** Of these, witnesses that had cosigned something of the log, and confirm that the checkpoint continues it. */
  readonly confirmed: number;
  readonly contradiction: Contradiction | undefined;
}

export interface WitnessClient {
  /**
   * Asks every witness that has not cosigned this checkpoint, all at once. One that failed is left alone for a while, so call again with the
   * same checkpoint until nothing is missing. Never rejects because of a witness.
   * @param note the checkpoint as the log signed it
   */
  cosign(note: string, signal: AbortSignal): Promise<Cosigned>;
  /**
   * Asks every witness what it has cosigned of a log, with a checkpoint that was published before: nothing new is shown to it, and a witness
   * that knows nothing of the log learns nothing. Never rejects because of a witness.
   */
  confirm(note: string, signal: AbortSignal): Promise<Confirmed>;
  close(): Promise<void>;
}

/** What is remembered of one witness for one log. */
interface Memory {
  /** The size that it cosigned last, as far as is known. */
  size: number;
  /** Its line for this text. */
  cosigned: { readonly text: string; readonly line: string } | undefined;
  /** What its last answer contradicted. */
  contradiction: Contradiction | undefined;
  failures: number;
  /** Not asked before, in milliseconds since 1970. */
  notBefore: number;
}

export function createWitnessClient(options: WitnessClientOptions): WitnessClient {
  const { policy, proveConsistency, timeoutMs, now, log } = options;
  const connections = createGuardedConnections({
    // An operator chose the addresses.
    rules: { allowPrivate: true },
    proxy: options.proxy,
    maxRedirects: 0,
    connectTimeoutMs: Math.min(2_000, timeoutMs),
    agent: { connections: CONNECTIONS, headersTimeout: timeoutMs, bodyTimeout: timeoutMs, keepAliveTimeout: 15_000 },
  });
  const metrics = witnessMetrics(options.metrics);
  const memories = new Map<string, Memory>();
  const memoryOf = (witness: PolicyWitness, origin: string): Memory => {
    const key = `${witness.name} ${origin}`;
    const memory = memories.get(key) ?? {
      size: 0,
      cosigned: undefined,
      contradiction: undefined,
      failures: 0,
      notBefore: 0,
    };
    memories.set(key, memory);
    return memory;
  };

  const call = async (url: string, body: string | null, outer: AbortSignal): Promise<WitnessReply> => {
    const signal = AbortSignal.any([outer, AbortSignal.timeout(timeoutMs)]);
    const headers = {
      'user-agent': 'koppelvlak',
      ...(body === null ? {} : { 'content-type': 'text/plain; charset=utf-8' }),
    };
    const { answer } = await connections.request(
      url,
      { method: body === null ? 'GET' : 'POST', headers, body, signal },
      'none',
    );
    const encoding = answer.headers['content-encoding'];
    const bytes = await readBody(answer.body, typeof encoding === 'string' ? encoding : undefined, MAX_ANSWER_BYTES);
    const type = answer.headers['content-type'];
    return { status: answer.statusCode, type: typeof type === 'string' ? type : '', text: bytes.toString('utf8') };
  };

  /** @throws {Error} that says why the answer is none of the protocol */
  const send = async (
    { key }: PolicyWitness,
    url: string,
    { text, note }: Signed,
    oldSize: number,
    proof: readonly Uint8Array[],
    signal: AbortSignal,
  ): Promise<{ readonly line: string } | { readonly known: number } | 'refused'> => {
    const answer = await call(below(url, 'add-checkpoint'), formatAddCheckpoint({ oldSize, proof, note }), signal);
    if (answer.status === 200) return { line: verifiedLine(text, answer.text, key, now()) };
    if (answer.status === 422 && oldSize > 0) return 'refused';
    if (answer.status !== 409) throw new Error(`status ${answer.status}`);
    // Of one size with another root: earlier versions of the protocol say so with 409, and name no size.
    if (!/^text\/x\.tlog\.size\s*(;|$)/i.test(answer.type)) {
      if (oldSize > 0 && proof.length === 0) return 'refused';
      throw new Error('status 409 without a size');
    }
    return { known: parseSize(answer.text.replace(/\n$/, ''), 'the size that the witness knows') };
  };

  /**
   * Asks one witness, from a size on that it may have cosigned last.
   * @param teach whether a witness that knows nothing of the log is given the checkpoint
   */
  const ask = async (
    witness: PolicyWitness & { readonly url: string },
    checkpoint: Signed,
    { from, teach }: { readonly from: number; readonly teach: boolean },
    signal: AbortSignal,
  ): Promise<Answer> => {
    const { origin, size } = checkpoint;
    let oldSize = from;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      // Not a fault of the witness when this fails.
      const proof = await proveConsistency(origin, oldSize, size);
      let answer: Awaited<ReturnType<typeof send>>;
      try {
        answer = await send(witness, witness.url, checkpoint, oldSize, proof, signal);
      } catch (error) {
        signal.throwIfAborted();
        return { failure: reasonOf(error) };
      }
      if (answer === 'refused') return { contradiction: { witness: witness.name } };
      if ('line' in answer) return { line: answer.line, had: oldSize };
      const { known } = answer;
      // Nothing of ours continues a larger tree: either another instance was faster, or this log lost entries.
      if (known > size) return { contradiction: { witness: witness.name, known } };
      if (known === oldSize) {
        const isOther = known === size && size > 0;
        return isOther
          ? { contradiction: { witness: witness.name } }
          : { failure: 'it refuses the size that it names itself' };
      }
      if (known === 0 && !teach) return { had: 0 };
      oldSize = known;
    }
    return { failure: 'its size changed at each attempt' };
  };

  /** The same, unless it failed shortly before; its answer is remembered, counted and logged. */
  const askOne = async (
    witness: PolicyWitness,
    checkpoint: Signed,
    teach: boolean,
    signal: AbortSignal,
  ): Promise<Answer | undefined> => {
    const { name, url } = witness;
    const { origin, text, size } = checkpoint;
    const memory = memoryOf(witness, origin);
    if (teach && memory.cosigned?.text === text) return { line: memory.cosigned.line, had: size };
    if (url === undefined) return undefined;
    // It holds until the witness itself confirms something: not being there is no confirmation.
    const { contradiction } = memory;
    const before =
      contradiction !== undefined && (contradiction.known ?? size + 1) > size ? { contradiction } : undefined;
    if (memory.notBefore > now()) return before;
    const from = teach ? memory.size : size;
    const answer = await ask({ ...witness, url }, checkpoint, { from, teach }, signal);
    const cosigned = answer.line === undefined ? memory.cosigned : { text, line: answer.line };
    if ('had' in answer) {
      const known = answer.line === undefined ? answer.had : size;
      Object.assign(memory, { size: known, cosigned, contradiction: undefined, failures: 0, notBefore: 0 });
    } else if (answer.contradiction !== undefined) {
      const reason = contradicts(answer.contradiction, size);
      log.warn({ witness: name, origin, reason }, 'a witness refused a checkpoint');
      Object.assign(memory, { contradiction: answer.contradiction, failures: 0, notBefore: 0 });
    } else {
      memory.failures += 1;
      memory.notBefore = now() + backoffMs(BACKOFF, memory.failures);
      log.warn({ witness: name, origin, reason: answer.failure }, 'a witness did not cosign a checkpoint');
    }
    if (answer.line !== undefined) metrics.cosigned.set({ witness: name, origin }, size);
    if (answer.line !== undefined || !('had' in answer))
      metrics.requests.inc({ witness: name, result: answer.line === undefined ? 'failed' : 'cosigned' });
    return answer.failure === undefined ? answer : (before ?? answer);
  };

  const askAll = (checkpoint: Signed, teach: boolean, signal: AbortSignal) =>
    Promise.all(policy.witnesses.map((witness) => askOne(witness, checkpoint, teach, signal)));

  return {
    async cosign(note, signal) {
      const { text, signatures } = splitNote(note);
      const checkpoint: Signed = { ...parseCheckpoint(text), text, note };
      // What another instance has asked for already.
      for (const witness of policy.witnesses) {
        const line = lineIn(note, witness.key);
        if (line !== undefined)
          Object.assign(memoryOf(witness, checkpoint.origin), { size: checkpoint.size, cosigned: { text, line } });
      }
      const answers = await askAll(checkpoint, true, signal);
      const asked = policy.witnesses.map((witness, place) => ({ witness, line: answers[place]?.line }));
      const lines = asked.flatMap(({ line }) => line ?? []);
      const own = signatures.map(({ line }) => line);
      const isQuorum = policy.isQuorum(
        asked.filter(({ line }) => line !== undefined).map(({ witness }) => witness.key),
      );
      metrics.quorum.set({ origin: checkpoint.origin }, isQuorum ? 1 : 0);
      return {
        note: formatNote(text, [...own, ...lines.filter((line) => !own.includes(line))]),
        isQuorum,
        missing: asked.filter(({ line }) => line === undefined).map(({ witness }) => witness.name),
        contradiction: worst(answers),
      };
    },

    async confirm(note, signal) {
      const { text } = splitNote(note);
      const answers = await askAll({ ...parseCheckpoint(text), text, note }, false, signal);
      return {
        answered: answers.filter((answer) => answer !== undefined && answer.failure === undefined).length,
        confirmed: answers.filter((answer) => answer?.line !== undefined && answer.had > 0).length,
        contradiction: worst(answers),
      };
    },

    close: connections.close,
  };
}

/** What came of asking a witness. */
type Answer =
  /** Its line, and the size that it had cosigned before; without a line it had cosigned nothing, and was not given the checkpoint. */
  | { readonly line?: string; readonly had: number; readonly contradiction?: undefined; readonly failure?: undefined }
  | { readonly contradiction: Contradiction; readonly line?: undefined; readonly failure?: undefined }
  | { readonly failure: string; readonly line?: undefined; readonly contradiction?: undefined };

/** A refusal says more than a larger size, which another instance may have shown; of several the largest. */
function worst(answers: readonly (Answer | undefined)[]): Contradiction | undefined {
  const sizeOf = ({ known = Number.POSITIVE_INFINITY }: Contradiction): number => known;
  return answers.flatMap((answer) => answer?.contradiction ?? []).sort((a, b) => sizeOf(b) - sizeOf(a))[0];
}

/** @param size leaves of the checkpoint that it was asked about */
export function contradicts({ witness, known }: Contradiction, size: number): string {
  return known === undefined
    ? `the witness ${witness} refuses the tree of ${size} leaves: it does not continue what it cosigned`
    : `the witness ${witness} has cosigned ${known} leaves, and the last checkpoint known here has ${size}`;
}

/** The line of a witness in a note, when it is there and verifies. */
function lineIn(note: string, key: VerifierKey): string | undefined {
  try {
    return openNote(note, [key]).verified[0]?.line;
  } catch (error) {
    if (error instanceof NoteError) return undefined;
    throw error;
  }
}

interface WitnessReply {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

function below(prefix: string, path: string): string {
  return `${prefix.replace(/\/$/, '')}/${path}`;
}

interface Signed extends Checkpoint {
  readonly text: string;
  readonly note: string;
}

/**
 * The line of an answer that this witness made over this text; lines of others are ignored.
 * @throws {Error} when there is none, it does not verify, or its time is in the future
 */
function verifiedLine(text: string, answer: string, key: VerifierKey, now: number): string {
  const { verified } = openNote(formatNote(text, [answer]), [key]);
  const [found] = verified;
  if (found?.time === undefined) throw new Error('it answered without a cosignature');
  if (found.time > now / 1000 + MAX_AHEAD_SECONDS) throw new Error('its cosignature is of the future');
  return found.line;
}

function witnessMetrics(registry: Registry) {
  const registers = [registry];
  return {
    requests: new Counter({
      name: 'koppelvlak_proof_witness_requests_total',
      help: 'Checkpoints that a witness was asked to cosign, by what came of it',
      labelNames: ['witness', 'result'],
      registers,
    }),
    cosigned: new Gauge({
      name: 'koppelvlak_proof_witness_cosigned_size',
      help: 'Leaves in the last checkpoint of a log that a witness cosigned',
      labelNames: ['witness', 'origin'],
      registers,
    }),
    quorum: new Gauge({
      name: 'koppelvlak_proof_witness_quorum',
      help: '1 when enough witnesses cosigned the last checkpoint of a log, else 0',
      labelNames: ['origin'],
      registers,
    }),
  };
}
