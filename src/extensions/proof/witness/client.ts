/** Asks witnesses for their cosignatures on checkpoints of ours (C2SP tlog-witness, the side of the log). */
import { Counter, Gauge, type Registry } from 'prom-client';
import { type Logger, reasonOf } from '../../../lib/log.ts';
import type { ProxySettings } from '../../../lib/outbound/guarded-fetch.ts';
import { backoffMs } from '../../../lib/outbound/outbound-client.ts';
import {
  type Checkpoint,
  checkpointIn,
  formatNote,
  NoteError,
  openNote,
  parseSize,
  splitNote,
  type VerifierKey,
} from '../../../lib/tlog/note.ts';
import type { Policy, PolicyWitness } from '../../../lib/tlog/policy.ts';
import { createProofHttp } from '../http.ts';
import { formatAddCheckpoint } from './add-checkpoint.ts';

/** Most bytes of an answer: a few signature lines. */
const MAX_ANSWER_BYTES = 64 * 1024;
/** Times that one witness is asked about one checkpoint: another size, and once more when two instances ask at once. */
const MAX_ATTEMPTS = 3;
/** Seconds that the clock of a witness may be ahead. */
const MAX_AHEAD_SECONDS = 300;
const BACKOFF = { firstMs: 1_000, maxMs: 60_000 };

interface WitnessClientOptions {
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
  /** Fires when the process stops. */
  readonly signal: AbortSignal;
}

/** A witness has cosigned something that the checkpoint does not continue. */
export interface Contradiction {
  /** Name of the witness in the policy. */
  readonly witness: string;
  /** It cosigned more leaves than the checkpoint has; absent: it refused the proof of consistency. */
  readonly known?: number;
}

interface Cosigned {
  /** The checkpoint with the cosignatures that were verified. */
  readonly note: string;
  readonly isQuorum: boolean;
  /** Names of the witnesses that have not cosigned it. */
  readonly missing: readonly string[];
  readonly contradiction: Contradiction | undefined;
}

interface Confirmed {
  /** Witnesses that answered, also those that know nothing of the log and those that contradict. */
  readonly answered: number;
  /** Of these, witnesses that had cosigned something of the log, and confirm that the checkpoint continues it. */
  readonly confirmed: number;
  readonly contradiction: Contradiction | undefined;
}

export interface WitnessClient {
  /** Whether the policy demands cosignatures. */
  readonly isNeeded: boolean;
  /**
   * Asks every witness that has not cosigned this checkpoint, all at once. One that failed is left alone for a while, so call again with the
   * same checkpoint until nothing is missing. Never rejects because of a witness.
   * @param note the checkpoint as the log signed it
   */
  cosign(note: string): Promise<Cosigned>;
  /**
   * Asks every witness what it has cosigned of a log, with a checkpoint that was published before: nothing new is shown to it, and a witness
   * that knows nothing of the log learns nothing. Never rejects because of a witness.
   */
  confirm(note: string): Promise<Confirmed>;
  /** For operators: a log whose last checkpoint too few witnesses cosigned. */
  warning(): string | undefined;
  close(): Promise<void>;
}

interface Signed extends Checkpoint {
  readonly text: string;
  readonly note: string;
}

/** What came of asking a witness: a failure, a contradiction, or what it had cosigned. */
interface Answer {
  readonly failure?: string;
  readonly contradiction?: Contradiction;
  /** Leaves that it had cosigned before. */
  readonly had?: number;
  /** Its cosignature; absent: it had cosigned nothing, and was not given the checkpoint. */
  readonly line?: string;
}

/** What is remembered of one witness for one log. */
interface Memory {
  /** The size that it cosigned last, as far as is known. */
  size: number;
  /** Its line for this text. */
  cosigned?: { readonly text: string; readonly line: string };
  /** What its last answer contradicted. */
  contradiction?: Contradiction | undefined;
  failures: number;
  /** Not asked before, in milliseconds since 1970. */
  notBefore: number;
}

export function createWitnessClient(options: WitnessClientOptions): WitnessClient {
  const { policy, proveConsistency, now, log, signal } = options;
  const http = createProofHttp(options.timeoutMs, MAX_ANSWER_BYTES, options.proxy);
  const metrics = witnessMetrics(options.metrics);
  const memories = new Map<string, Memory>();
  /** Logs without a quorum, with the witnesses that are missing. */
  const tooFew = new Map<string, readonly string[]>();

  const memoryOf = ({ name }: PolicyWitness, origin: string): Memory => {
    const key = `${name} ${origin}`;
    const memory = memories.get(key) ?? { size: 0, failures: 0, notBefore: 0 };
    memories.set(key, memory);
    return memory;
  };

  /**
   * Asks one witness, from a size on that it may have cosigned last.
   * @param teach whether a witness that knows nothing of the log is given the checkpoint
   */
  const ask = async (witness: PolicyWitness, { text, note, ...tree }: Signed, from: number, teach: boolean) => {
    const refused: Answer = { contradiction: { witness: witness.name } };
    const address = `${witness.url?.replace(/\/$/, '')}/add-checkpoint`;
    let oldSize = from;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      // Not a fault of the witness when this fails.
      const proof = await proveConsistency(tree.origin, oldSize, tree.size);
      let known: number;
      try {
        const answer = await http.call(address, signal, formatAddCheckpoint({ oldSize, proof, note }));
        if (answer.status === 200) return { line: verifiedLine(text, answer.text, witness.key, now()), had: oldSize };
        if (answer.status === 422 && oldSize > 0) return refused;
        if (answer.status !== 409) throw new Error(`status ${answer.status}`);
        const namesSize = /^text\/x\.tlog\.size\s*(;|$)/i.test(answer.type);
        // Of one size with another root: earlier versions of the protocol say so with 409, and name no size.
        if (!namesSize && oldSize > 0 && proof.length === 0) return refused;
        if (!namesSize) throw new Error('status 409 without a size');
        known = parseSize(answer.text.replace(/\n$/, ''), 'the size that the witness knows');
      } catch (error) {
        signal.throwIfAborted();
        return { failure: reasonOf(error) };
      }
      // Nothing of ours continues a larger tree: either another instance was faster, or this log lost entries.
      if (known > tree.size) return { contradiction: { witness: witness.name, known } };
      if (known === oldSize && known === tree.size && known > 0) return refused;
      if (known === oldSize) return { failure: 'it refuses the size that it names itself' };
      if (known === 0 && !teach) return { had: 0 };
      oldSize = known;
    }
    return { failure: 'its size changed at each attempt' };
  };

  /** The same, unless it failed shortly before; its answer is remembered, counted and logged. */
  const askOne = async (witness: PolicyWitness, checkpoint: Signed, teach: boolean): Promise<Answer | undefined> => {
    const { name } = witness;
    const { origin, text, size } = checkpoint;
    const memory = memoryOf(witness, origin);
    if (teach && memory.cosigned?.text === text) return { line: memory.cosigned.line, had: size };
    if (witness.url === undefined) return undefined;
    // It holds until the witness itself confirms something: not being there is no confirmation.
    const { contradiction } = memory;
    const before =
      contradiction !== undefined && (contradiction.known ?? size + 1) > size ? { contradiction } : undefined;
    if (memory.notBefore > now()) return before;
    const answer: Answer = await ask(witness, checkpoint, teach ? memory.size : size, teach);
    if (answer.failure !== undefined) {
      memory.failures += 1;
      memory.notBefore = now() + backoffMs(BACKOFF, memory.failures);
      log.warn({ witness: name, origin, reason: answer.failure }, 'a witness did not cosign a checkpoint');
    } else {
      memory.failures = 0;
      memory.notBefore = 0;
      memory.contradiction = answer.contradiction;
      if (answer.had !== undefined) memory.size = answer.line === undefined ? answer.had : size;
      if (answer.line !== undefined) memory.cosigned = { text, line: answer.line };
    }
    if (answer.contradiction !== undefined)
      log.warn(
        { witness: name, origin, reason: contradicts(answer.contradiction, size) },
        'a witness refused a checkpoint',
      );
    if (answer.line !== undefined) metrics.cosigned.set({ witness: name, origin }, size);
    if (answer.line !== undefined || answer.had === undefined)
      metrics.requests.inc({ witness: name, result: answer.line === undefined ? 'failed' : 'cosigned' });
    return answer.failure === undefined ? answer : (before ?? answer);
  };

  const askAll = (note: string, teach: boolean) => {
    const checkpoint: Signed = { ...checkpointIn(note), text: splitNote(note).text, note };
    return Promise.all(policy.witnesses.map((witness) => askOne(witness, checkpoint, teach)));
  };

  return {
    isNeeded: !policy.isQuorum([]),
    async cosign(note) {
      const { text, signatures } = splitNote(note);
      const { origin, size } = checkpointIn(note);
      // What another instance has asked for already.
      for (const witness of policy.witnesses) {
        const line = lineIn(note, witness.key);
        if (line !== undefined) Object.assign(memoryOf(witness, origin), { size, cosigned: { text, line } });
      }
      const answers = await askAll(note, true);
      const lines = answers.flatMap((answer) => answer?.line ?? []);
      const hasCosigned = (place: number): boolean => answers[place]?.line !== undefined;
      const cosigners = policy.witnesses.filter((_, place) => hasCosigned(place));
      const missing = policy.witnesses.filter((_, place) => !hasCosigned(place)).map(({ name }) => name);
      const isQuorum = policy.isQuorum(cosigners.map(({ key }) => key));
      metrics.quorum.set({ origin }, isQuorum ? 1 : 0);
      if (isQuorum) tooFew.delete(origin);
      else tooFew.set(origin, missing);
      const own = signatures.map(({ line }) => line);
      const all = [...own, ...lines.filter((line) => !own.includes(line))];
      return { note: formatNote(text, all), isQuorum, missing, contradiction: worst(answers) };
    },
    async confirm(note) {
      const answers = await askAll(note, false);
      return {
        answered: answers.filter((answer) => answer !== undefined && answer.failure === undefined).length,
        confirmed: answers.filter((answer) => answer?.line !== undefined && (answer.had ?? 0) > 0).length,
        contradiction: worst(answers),
      };
    },
    warning() {
      const [first] = tooFew;
      return first && `too few witnesses cosigned ${first[0]}; missing: ${first[1].join(', ')}`;
    },
    close: http.close,
  };
}

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

/**
 * The line of an answer that this witness made over this text; lines of others are ignored.
 * @throws {Error} when it is missing, does not verify, or its time is in the future
 */
function verifiedLine(text: string, answer: string, key: VerifierKey, now: number): string {
  const [found] = openNote(formatNote(text, [answer]), [key]).verified;
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
