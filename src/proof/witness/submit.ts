/** Asks witnesses for their cosignatures on checkpoints of ours (C2SP tlog-witness, the side of the log). */
import { hash } from 'node:crypto';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Logger } from '../../kernel/log.ts';
import { createGuardedConnections, type ProxySettings, readBody } from '../../kernel/outbound/guarded-fetch.ts';
import { backoffMs } from '../../kernel/outbound/outbound-client.ts';
import { type Checkpoint, parseCheckpoint, parseSize } from '../tree/checkpoint.ts';
import { formatNote, NoteError, openNote, splitNote, type VerifierKey } from '../tree/note.ts';
import type { Policy, PolicyWitness } from '../tree/policy.ts';
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
}

export interface WitnessClient {
  /**
   * Asks every witness that has not cosigned this checkpoint, all at once. One that failed is left alone for a while, so call again with the
   * same checkpoint until nothing is missing. Never rejects because of a witness.
   * @param note the checkpoint as the log signed it
   */
  cosign(note: string, signal: AbortSignal): Promise<Cosigned>;
  /** The newest checkpoint of a log that a witness shows with its cosignature; undefined when none can say. */
  latest(origin: string, signal: AbortSignal): Promise<string | undefined>;
  close(): Promise<void>;
}

/** What is remembered of one witness for one log. */
interface Memory {
  /** The size that it cosigned last, as far as is known. */
  size: number;
  /** Its line for this text. */
  cosigned: { readonly text: string; readonly line: string } | undefined;
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
    const memory = memories.get(key) ?? { size: 0, cosigned: undefined, failures: 0, notBefore: 0 };
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

  /** Asks one witness, from the size that it cosigned last. @returns its line */
  const ask = async (
    witness: PolicyWitness,
    url: string,
    checkpoint: Signed,
    memory: Memory,
    signal: AbortSignal,
  ): Promise<string> => {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const { origin, size } = checkpoint;
      const proof = await proveConsistency(origin, memory.size, size);
      const body = formatAddCheckpoint({ oldSize: memory.size, proof, note: checkpoint.note });
      const { status, type, text } = await call(below(url, 'add-checkpoint'), body, signal);
      if (status === 200) return verifiedLine(checkpoint.text, text, witness.key, now());
      if (status !== 409 || !/^text\/x\.tlog\.size\s*(;|$)/i.test(type)) throw new Error(`status ${status}`);
      const known = parseSize(text.replace(/\n$/, ''), 'the size that the witness knows');
      // Nothing of ours continues a larger tree: either another instance was faster, or this log lost entries.
      if (known > size) throw new Error(`it has cosigned a tree of ${known} leaves, over ours of ${size}`);
      if (known === memory.size) throw new Error('it refuses the size that it names itself');
      memory.size = known;
    }
    throw new Error('its size changed at each attempt');
  };

  const cosignOne = async (
    witness: PolicyWitness,
    checkpoint: Signed,
    signal: AbortSignal,
  ): Promise<string | undefined> => {
    const memory = memoryOf(witness, checkpoint.origin);
    if (memory.cosigned?.text === checkpoint.text) return memory.cosigned.line;
    if (witness.url === undefined || memory.notBefore > now()) return undefined;
    try {
      const line = await ask(witness, witness.url, checkpoint, memory, signal);
      Object.assign(memory, {
        size: checkpoint.size,
        cosigned: { text: checkpoint.text, line },
        failures: 0,
        notBefore: 0,
      });
      metrics.requests.inc({ witness: witness.name, result: 'cosigned' });
      metrics.cosigned.set({ witness: witness.name, origin: checkpoint.origin }, checkpoint.size);
      return line;
    } catch (error) {
      signal.throwIfAborted();
      memory.failures += 1;
      memory.notBefore = now() + backoffMs(BACKOFF, memory.failures);
      metrics.requests.inc({ witness: witness.name, result: 'failed' });
      const reason = error instanceof Error ? error.message : 'unknown reason';
      log.warn({ witness: witness.name, origin: checkpoint.origin, reason }, 'a witness did not cosign a checkpoint');
      return undefined;
    }
  };

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
      const answers = await Promise.all(policy.witnesses.map((witness) => cosignOne(witness, checkpoint, signal)));
      const asked = policy.witnesses.map((witness, place) => ({ witness, line: answers[place] }));
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
      };
    },
    async latest(origin, signal) {
      const path = `${hash('sha256', origin, 'hex')}/checkpoint`;
      const notes = await Promise.all(
        policy.witnesses.map(async ({ url, key, name }) => {
          if (url === undefined) return undefined;
          try {
            const { status, text } = await call(below(url, path), null, signal);
            if (status !== 200) return undefined;
            openNote(text, [key]);
            const checkpoint = parseCheckpoint(splitNote(text).text);
            return checkpoint.origin === origin ? { note: text, size: checkpoint.size } : undefined;
          } catch (error) {
            signal.throwIfAborted();
            const reason = error instanceof Error ? error.message : 'unknown reason';
            log.warn({ witness: name, origin, reason }, 'a witness did not say which checkpoint it saw last');
            return undefined;
          }
        }),
      );
      const [newest] = notes.filter((one) => one !== undefined).sort((a, b) => b.size - a.size);
      return newest?.note;
    },

    close: connections.close,
  };
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
