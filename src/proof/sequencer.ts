/** One log: sequences committed entries, signs committed trees, and publishes only extensions of the published one. Instances take turns. */
import { signerOf } from './keys.ts';
import { type LogOptions, openLog, sequenceBatch } from './sequence.ts';
import { ConflictError, type PublishedCheckpoints } from './state.ts';
import { MissingTileError, tileReader } from './store/leaves.ts';
import { nextNumber, readLog, type StoredLog, storeCheckpoint } from './store/logs.ts';
import { rootHash } from './tlog/merkle.ts';
import {
  checkpointIn,
  FormatError,
  formatCheckpoint,
  formatNote,
  openNote,
  parseVerifierKey,
  readOrReason,
} from './tlog/note.ts';
import { readHashesFromTiles } from './tlog/tiles.ts';
import { type Contradiction, contradicts, type WitnessClient } from './witness/client.ts';

/** Milliseconds of sequencing before the result is signed and other logs are served: entering a large feed takes minutes. */
const ROUND_MS = 5000;

export interface SequencerOptions extends LogOptions {
  readonly published: PublishedCheckpoints;
  readonly intervalSeconds: number;
  /** Fires when the process begins to stop: a round then signs the present tree. */
  readonly stopping?: AbortSignal;
  /** The last publications of other instances for an origin. Notes not signed by the log do not count. */
  readonly seen?: ((log: StoredLog) => Promise<readonly string[]>) | undefined;
  readonly witnesses?: Pick<WitnessClient, 'cosign' | 'confirm' | 'isNeeded'> | undefined;
}

export type Sequencer = ReturnType<typeof createSequencer>;

export function createSequencer(options: SequencerOptions) {
  const { pool, log, proofKey, published, witnesses, stopping } = options;
  let conflict: ConflictError | undefined;
  let waiting: string | undefined;
  let isUnfinished = false;
  /** The origin that witnesses were asked about since this process started. */
  let confirmed: string | undefined;

  /** @throws {ConflictError} unless the tree of the database extends the published one */
  async function requireExtension(stored: StoredLog, known: readonly string[]): Promise<void> {
    if (known.length === 0 && stored.size > 0)
      throw new ConflictError('PROOF_STATE has no checkpoint of a tree that is not empty');
    for (const note of known) {
      const { size, root } = checkpointIn(note);
      if (size > stored.size)
        throw new ConflictError(`a checkpoint of ${size} leaves was published and the database has ${stored.size}`);
      if (Buffer.compare(await rootAt(stored, size), root) !== 0)
        throw new ConflictError(`the first ${size} leaves of the database are not those that were published`);
    }
  }

  const ownOf = ({ origin }: StoredLog): readonly string[] => [published.get(origin) ?? []].flat();

  /** Compares with instances and, for a lost state, witnesses, which may know a newer checkpoint. @throws {ConflictError} */
  async function requireNewest(): Promise<StoredLog> {
    const seen = (await options.seen?.(await openLog(options))) ?? [];
    // Read afterwards: meanwhile another instance may have published a larger tree.
    const stored = await openLog(options);
    const own = ownOf(stored);
    const known = [...own, ...seen.filter((note) => isSigned(stored, note))];
    if (known.length === 0) known.push(...(await vouchedFor(stored)));
    await requireExtension(stored, known);
    // A lost file is recreated from the checkpoints of other instances and witnesses: the newest stays in it.
    if (own.length === 0) for (const note of known) await published.put(stored.origin, note);
    return stored;
  }

  function rootAt(stored: StoredLog, size: number): Promise<Uint8Array> {
    return rootHash(size, readHashesFromTiles(stored.size, tileReader(pool, stored)));
  }

  /** The note of the database may have been written by anybody. @throws {ConflictError | FormatError} */
  async function requireSigned(stored: StoredLog, note: string): Promise<void> {
    openNote(note, [parseVerifierKey(stored.verifierKey)]);
    const { origin, size, root } = checkpointIn(note);
    if (origin !== stored.origin || size > stored.size || Buffer.compare(await rootAt(stored, size), root) !== 0)
      throw new ConflictError('the checkpoint in the database is not of the tree beside it');
  }

  /** The checkpoint of the database, if a witness that remembers the log confirms it. */
  async function vouchedFor(stored: StoredLog): Promise<readonly string[]> {
    if (witnesses === undefined || stored.checkpoint === null || stored.size === 0) return [];
    await requireSigned(stored, stored.checkpoint);
    const { confirmed: vouching, contradiction } = await witnesses.confirm(stored.checkpoint);
    if (contradiction !== undefined) await requireKnown(contradiction, stored.checkpoint);
    return vouching > 0 ? [stored.checkpoint] : [];
  }

  /** @throws {ConflictError} unless another instance has meanwhile published the tree that a witness cosigned */
  async function requireKnown(contradiction: Contradiction, note: string): Promise<void> {
    const { checkpoint } = (await readLog(pool, log)) ?? {};
    const { size } = checkpointIn(checkpoint ?? note);
    if (contradiction.known === undefined || contradiction.known > size)
      throw new ConflictError(contradicts(contradiction, size));
  }

  /** Required once after a start, before a larger tree is signed: database and file may both come from one backup. */
  async function isConfirmed(): Promise<boolean> {
    if (witnesses === undefined) return true;
    const stored = await publish();
    const note = stored && published.get(stored.origin);
    if (stored === undefined || note === undefined) return false;
    if (confirmed === stored.origin) return true;
    const { answered, contradiction } = await witnesses.confirm(note);
    if (contradiction !== undefined) {
      await requireKnown(contradiction, note);
      // Another instance was faster.
      return isConfirmed();
    }
    if (answered === 0 && witnesses.isNeeded) return false;
    confirmed = stored.origin;
    return true;
  }

  /** Signs the committed size, unless already signed. @returns undefined when the tree has grown meanwhile */
  async function sign(): Promise<{ readonly stored: StoredLog; readonly note: string } | undefined> {
    const stored = await openLog(options);
    if (stored.checkpoint !== null && checkpointIn(stored.checkpoint).size === stored.size)
      return { stored, note: stored.checkpoint };
    await requireExtension(stored, ownOf(stored));
    const text = formatCheckpoint(stored);
    const note = formatNote(text, [signerOf(proofKey, stored.origin).sign(text)]);
    return (await storeCheckpoint(pool, stored, note)) ? { stored, note } : undefined;
  }

  async function signWithWitnesses(): Promise<void> {
    const signed = await sign();
    if (signed === undefined || witnesses === undefined) return;
    const { stored, note } = signed;
    // Stored first: a checkpoint seen by witnesses must survive here.
    await published.put(stored.origin, note);
    const { note: cosigned, contradiction } = await witnesses.cosign(note);
    if (cosigned !== note) await storeCheckpoint(pool, stored, cosigned, note);
    if (contradiction === undefined) return;
    // A witness that was unavailable at the start is asked again before anything more is signed.
    confirmed = undefined;
    await requireKnown(contradiction, note);
  }

  /** Puts the checkpoint of the database on disk here, once checked. */
  async function publish(): Promise<StoredLog | undefined> {
    const stored = await readLog(pool, log);
    if (stored === undefined || stored.checkpoint === null) return stored;
    if (stored.checkpoint === published.get(stored.origin)) return stored;
    await requireExtension(stored, ownOf(stored));
    await requireSigned(stored, stored.checkpoint);
    await published.put(stored.origin, stored.checkpoint);
    return stored;
  }

  async function begin(): Promise<StoredLog> {
    const stored = await requireNewest();
    if (ownOf(stored).length === 0) {
      // The empty tree first: from then on every tree must extend it.
      await sign();
      await publish();
    }
    return stored;
  }

  async function round(): Promise<boolean> {
    const stored = await begin();
    waiting = (await isConfirmed()) ? undefined : 'no witness has answered since the start (PROOF_WITNESSES)';
    if (waiting !== undefined) return false;
    // One instance sequences in each interval; unfinished work of another process is continued at once.
    const isRecent = stored.checkpointAge !== null && stored.checkpointAge < options.intervalSeconds / 2;
    const isDue = isUnfinished || !isRecent || nextNumber(stored) <= stored.takenOverTo;
    const end = performance.now() + ROUND_MS;
    isUnfinished = isDue;
    while (isUnfinished && performance.now() < end && stopping?.aborted !== true)
      isUnfinished = await sequenceBatch(options);
    await signWithWitnesses();
    await publish();
    return isUnfinished;
  }

  async function judged<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      const result = await work();
      conflict = undefined;
      return result;
    } catch (error) {
      conflict = conflictOf(error);
      return undefined;
    }
  }

  return {
    log,
    conflict: () => conflict,
    waiting: () => waiting,
    /** Starts the log if needed: from then on nothing is recorded without an entry. Rejects when the database is unreachable, as `round` does. */
    begin: async (): Promise<void> => void (await judged(begin)),
    /** Sequences waiting entries, signs and publishes. @returns whether there is more to sequence at once */
    round: async (): Promise<boolean> => (await judged(round)) ?? false,
    /** The last good checkpoint of the current origin, on disk here before it is returned; undefined before the first. */
    async checkpoint(): Promise<{ readonly log: StoredLog; readonly note: string } | undefined> {
      try {
        await publish();
      } catch (error) {
        conflict = conflictOf(error);
      }
      const stored = await readLog(pool, log);
      const note = stored && published.get(stored.origin);
      return stored && note ? { log: stored, note } : undefined;
    },
  };
}

/** For an error that says that the database contradicts the published tree, or itself. @throws any other */
function conflictOf(error: unknown): ConflictError {
  if (error instanceof ConflictError) return error;
  if (error instanceof MissingTileError || error instanceof FormatError)
    return new ConflictError(error.message, { cause: error });
  throw error;
}

function isSigned({ origin, verifierKey }: StoredLog, note: string): boolean {
  const checkpoint = readOrReason(() => {
    openNote(note, [parseVerifierKey(verifierKey)]);
    return checkpointIn(note);
  });
  return typeof checkpoint !== 'string' && checkpoint.origin === origin;
}
