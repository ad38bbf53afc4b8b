/**
 * One log: gives committed entries their place in the tree, signs checkpoints of what is committed, and publishes only what extends what
 * was published before. Instances share the work by a lock of the database.
 */
import { hash } from 'node:crypto';
import type { Pool } from '../../database/pool.ts';
import { type Db, transaction } from '../../database/transaction.ts';
import { formatCheckpoint } from '../../lib/tlog/checkpoint.ts';
import { FormatError } from '../../lib/tlog/format-error.ts';
import { EMPTY_ROOT, Frontier, rootHash } from '../../lib/tlog/merkle.ts';
import { createSigner, formatNote, openNote, parseVerifierKey } from '../../lib/tlog/note.ts';
import { readHashesFromTiles } from '../../lib/tlog/tiles.ts';
import type { NumberedEntry, NumberedRecords, ProofLogName } from '../../seams/proof-log.ts';
import { deriveSeed, paddingEntries } from './record.ts';
import { checkpointIn, type PublishedCheckpoints } from './state.ts';
import { appendLeaves, ENTRY_BYTES, MissingTileError, tileReader } from './store/leaves.ts';
import {
  headerLeaves,
  insertLog,
  lockLog,
  moveLog,
  readLog,
  readOrigins,
  type StoredLog,
  storeCheckpoint,
  takeFromQueue,
  tryLockLog,
} from './store/logs.ts';
import { type Confirmed, type Contradiction, contradicts } from './witness/submit.ts';

/** Entries that get their place in one transaction. */
const BATCH = 20_000;
/** Records of the feed that are sealed in one transaction when the log is switched on. */
const TAKE_OVER = 1000;

/** The database or its copy does not continue what was published. */
export class ConflictError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ConflictError';
  }
}

/** Those that vouch for a log, as a sequencer asks them. */
export interface Witnesses {
  /** The note with the cosignatures that there are, and what it contradicts. */
  readonly cosign: (
    log: StoredLog,
    note: string,
  ) => Promise<{ readonly note: string; readonly contradiction: Contradiction | undefined }>;
  /** What they have cosigned, compared with a note that was published before. */
  readonly confirm: (log: StoredLog, note: string) => Promise<Confirmed>;
  /** Whether the policy demands cosignatures. */
  readonly isNeeded: boolean;
}

export interface SequencerOptions {
  readonly pool: Pool;
  readonly log: ProofLogName;
  readonly proofKey: Uint8Array;
  readonly published: PublishedCheckpoints;
  /** Host of the addresses, without its port. */
  readonly host: () => string;
  /** Each batch is filled up to a multiple of this; 0: not. */
  readonly pad: number;
  /** Least time in seconds between two checkpoints. */
  readonly intervalSeconds: number;
  /** Of the feed. */
  readonly numbered?: NumberedRecords | undefined;
  /** What other instances published last of an origin, as far as they can say. Notes that the log did not sign do not count. */
  readonly seen?: ((log: StoredLog) => Promise<readonly string[]>) | undefined;
  readonly witnesses?: Witnesses | undefined;
}

export interface Sequencer {
  readonly log: ProofLogName;
  /** Why nothing is signed; undefined when all is well. */
  conflict(): ConflictError | undefined;
  /** What has to come first before anything new is signed. */
  waiting(): string | undefined;
  /** Sequences what waits, signs and publishes. Rejects when the database cannot be reached. */
  round(): Promise<void>;
  /** The last good checkpoint of the present origin, on disk here before it is returned; undefined before the first. */
  checkpoint(): Promise<{ readonly log: StoredLog; readonly note: string } | undefined>;
}

export function createSequencer(options: SequencerOptions): Sequencer {
  const { pool, log, proofKey, published, numbered, witnesses } = options;
  let conflict: ConflictError | undefined;
  let waiting: string | undefined;
  /** The origin that witnesses were asked about since this process started. */
  let confirmed: string | undefined;

  /**
   * @param others whether instances and, for a state that was lost, witnesses are asked as well, before anything is signed
   * @throws {ConflictError} unless the tree of the database extends what was published, by whoever knows the newest
   */
  async function requireExtension(read: StoredLog, others = false): Promise<void> {
    const own = published.get(read.origin);
    const seen = others ? await options.seen?.(read) : undefined;
    // Read anew: meanwhile another instance may have published a larger tree.
    const stored =
      seen === undefined ? read : ((await readOrigins(pool, log)).find(({ origin }) => origin === read.origin) ?? read);
    const known = [...(own === undefined ? [] : [own]), ...(seen?.filter((note) => isSigned(stored, note)) ?? [])];
    if (known.length === 0 && stored.size > 0) {
      const vouched = others ? await vouchedFor(stored) : undefined;
      if (vouched === undefined) throw new ConflictError('PROOF_STATE has no checkpoint of a tree that is not empty');
      known.push(vouched);
    }
    for (const note of known) {
      const { size, root } = checkpointIn(note);
      if (size > stored.size)
        throw new ConflictError(`a checkpoint of ${size} leaves was published and the database has ${stored.size}`);
      const found = await rootAt(stored, size);
      if (Buffer.compare(found, root) !== 0)
        throw new ConflictError(`the first ${size} leaves of the database are not those that were published`);
    }
    // A file that was lost is made anew from what the others know.
    const newest = known.toSorted((a, b) => checkpointIn(b).size - checkpointIn(a).size)[0];
    if (own === undefined && newest !== undefined) await published.put(stored.origin, newest);
  }

  async function rootAt(stored: StoredLog, size: number): Promise<Uint8Array> {
    try {
      return await rootHash(size, readHashesFromTiles(stored.size, tileReader(pool, stored)));
    } catch (error) {
      if (error instanceof MissingTileError) throw new ConflictError(error.message, { cause: error });
      throw error;
    }
  }

  /** The checkpoint of the database, when a witness that remembers the log confirms it. */
  async function vouchedFor(stored: StoredLog): Promise<string | undefined> {
    if (witnesses === undefined || stored.checkpoint === null) return undefined;
    await requireSigned(stored, stored.checkpoint, rootAt);
    const { confirmed: vouching, contradiction } = await witnesses.confirm(stored, stored.checkpoint);
    if (contradiction !== undefined) await requireKnown(contradiction, stored.checkpoint);
    return vouching > 0 ? stored.checkpoint : undefined;
  }

  /** @throws {ConflictError} unless another instance has published meanwhile what a witness has cosigned */
  async function requireKnown(contradiction: Contradiction, note: string): Promise<void> {
    const { checkpoint } = (await readLog(pool, log)) ?? {};
    const { size } = checkpointIn(checkpoint ?? note);
    if (contradiction.known === undefined || contradiction.known > size)
      throw new ConflictError(contradicts(contradiction, size));
  }

  /**
   * Before anything larger is signed, once after a start: what is known here, database and file, may all be of one backup.
   * @returns whether it may be signed
   */
  async function isConfirmed(): Promise<boolean> {
    if (witnesses === undefined) return true;
    const stored = await publish();
    const note = stored === undefined ? undefined : published.get(stored.origin);
    if (stored === undefined || note === undefined) return false;
    if (confirmed === stored.origin) return true;
    const { answered, contradiction } = await witnesses.confirm(stored, note);
    if (contradiction !== undefined) {
      await requireKnown(contradiction, note);
      // Another instance was faster.
      return isConfirmed();
    }
    if (answered === 0 && witnesses.isNeeded) return false;
    confirmed = stored.origin;
    return true;
  }

  async function begun(): Promise<StoredLog> {
    const stored = (await readLog(pool, log)) ?? (await begin(options));
    requireOwnKey(stored, proofKey);
    return stored;
  }

  /** Gives a batch its place. @returns whether there may be more */
  async function sequence(): Promise<boolean> {
    return transaction(pool, async (db) => {
      if (!(await tryLockLog(db, log))) return false;
      const stored = await readLog(db, log);
      if (stored === undefined) return false;
      const frontier = await Frontier.load(stored.size, readHashesFromTiles(stored.size, tileReader(db, stored)));
      if (Buffer.compare(frontier.root(), stored.root) !== 0)
        throw new ConflictError('the tiles of the database do not have the root that is stored with them');
      const { entries, isFull } = await nextEntries(db, stored, numbered);
      const leaves = isFull ? entries : padded(entries, stored, options);
      if (leaves.length === 0) return false;
      await appendLeaves(db, stored, frontier, leaves);
      await moveLog(db, stored, frontier.size, frontier.root());
      return isFull;
    });
  }

  /** Signs the size that is committed, unless that was done. @returns undefined when the tree has grown meanwhile */
  async function sign(): Promise<{ readonly stored: StoredLog; readonly note: string } | undefined> {
    const stored = await begun();
    if (stored.checkpoint !== null && checkpointIn(stored.checkpoint).size === stored.size)
      return { stored, note: stored.checkpoint };
    await requireExtension(stored);
    const signer = createSigner(stored.origin, deriveSeed(proofKey, stored.origin));
    const text = formatCheckpoint({ origin: stored.origin, size: stored.size, root: stored.root });
    const note = formatNote(text, [signer.sign(text)]);
    return (await storeCheckpoint(pool, stored, note)) ? { stored, note } : undefined;
  }

  /** Signs, and asks the witnesses that have not cosigned it yet. */
  async function signWithWitnesses(): Promise<void> {
    const signed = await sign();
    if (signed === undefined || witnesses === undefined) return;
    const { stored, note } = signed;
    // What witnesses have seen must not be forgotten here.
    await published.put(stored.origin, note);
    const { note: cosigned, contradiction } = await witnesses.cosign(stored, note);
    if (cosigned !== note) await storeCheckpoint(pool, stored, cosigned, note);
    if (contradiction === undefined) return;
    // One that was away at the start: it is asked again before anything more is signed.
    confirmed = undefined;
    await requireKnown(contradiction, note);
  }

  /** Puts the checkpoint of the database on disk here, once it was judged. */
  async function publish(): Promise<StoredLog | undefined> {
    const stored = await readLog(pool, log);
    if (stored === undefined || stored.checkpoint === null) return stored;
    if (stored.checkpoint === published.get(stored.origin)) return stored;
    await requireExtension(stored);
    await requireSigned(stored, stored.checkpoint, rootAt);
    await published.put(stored.origin, stored.checkpoint);
    return stored;
  }

  return {
    log,
    conflict: () => conflict,
    waiting: () => waiting,
    async round() {
      try {
        const stored = await begun();
        const isDue = stored.checkpointAge === null || stored.checkpointAge >= options.intervalSeconds / 2;
        const isSignedWhole = stored.checkpoint !== null && checkpointIn(stored.checkpoint).size === stored.size;
        await requireExtension(stored, isDue || !isSignedWhole || published.get(stored.origin) === undefined);
        if (published.get(stored.origin) === undefined) {
          // The empty tree first: from then on there is something that the tree must extend.
          await sign();
          await publish();
        }
        const isGoingOn = await isConfirmed();
        waiting = isGoingOn ? undefined : 'no witness has answered since the start (PROOF_WITNESSES)';
        if (isGoingOn) {
          while (isDue && (await sequence()));
          await signWithWitnesses();
          await publish();
        }
        conflict = undefined;
      } catch (error) {
        conflict = conflictOf(error);
      }
    },
    async checkpoint() {
      try {
        await publish();
      } catch (error) {
        conflict = conflictOf(error);
      }
      const stored = await readLog(pool, log);
      const note = stored === undefined ? undefined : published.get(stored.origin);
      return stored === undefined || note === undefined ? undefined : { log: stored, note };
    },
  };
}

/** The database holds something else than what was published, or than what it should. @throws whatever says anything else */
function conflictOf(error: unknown): ConflictError {
  if (error instanceof ConflictError) return error;
  if (error instanceof MissingTileError || error instanceof FormatError)
    return new ConflictError(error.message, { cause: error });
  throw error;
}

/** @throws {Error} for operators */
function requireOwnKey({ log, origin, verifierKey }: StoredLog, proofKey: Uint8Array): void {
  if (createSigner(origin, deriveSeed(proofKey, origin)).key.text !== verifierKey)
    throw new Error(`the proof log ${log} was begun with another PROOF_KEY`);
}

/** Whether a note is a checkpoint of this origin, by its own key. */
function isSigned({ origin, verifierKey }: StoredLog, note: string): boolean {
  try {
    openNote(note, [parseVerifierKey(verifierKey)]);
    return checkpointIn(note).origin === origin;
  } catch (error) {
    if (error instanceof FormatError) return false;
    throw error;
  }
}

/** The note of the database may have been written by anybody. */
async function requireSigned(
  stored: StoredLog,
  note: string,
  rootAt: (stored: StoredLog, size: number) => Promise<Uint8Array>,
): Promise<void> {
  openNote(note, [parseVerifierKey(stored.verifierKey)]);
  const { origin, size, root } = checkpointIn(note);
  if (origin !== stored.origin || size > stored.size || Buffer.compare(await rootAt(stored, size), root) !== 0)
    throw new ConflictError('the checkpoint in the database is not of the tree beside it');
}

/** Begins a log: its origin is fixed from here on. */
async function begin({ pool, log, proofKey, host, numbered }: SequencerOptions): Promise<StoredLog> {
  const origin = `${host()}/proof/v1/${log}`;
  const verifierKey = createSigner(origin, deriveSeed(proofKey, origin)).key.text;
  return transaction(pool, async (db) => {
    await lockLog(db, log);
    if ((await readLog(db, log)) === undefined) {
      const takenOverTo = numbered === undefined ? 0 : await lastWithoutEntry(db, log, numbered);
      await insertLog(db, { log, number: 1, origin, verifierKey, firstNumber: 1, takenOverTo, root: EMPTY_ROOT });
    }
    const stored = await readLog(db, log);
    if (stored === undefined) throw new TypeError('a log was not begun');
    return stored;
  });
}

/** Records that are published with an entry, by a command that was first, are not taken over. */
async function lastWithoutEntry(db: Db, log: ProofLogName, numbered: NumberedRecords): Promise<number> {
  const last = await numbered.lockLast(db);
  const { rows } = await db.query<{ first: number | null }>(
    'select min(nr) as first from proof.queue where log = $1::text',
    [log],
  );
  const first = rows[0]?.first ?? null;
  return first === null ? last : first - 1;
}

/** What comes next in the tree. */
async function nextEntries(
  db: Db,
  stored: StoredLog,
  numbered: NumberedRecords | undefined,
): Promise<{ entries: NumberedEntry[]; isFull: boolean }> {
  if (stored.number > 1 && stored.size === 0) {
    const [before] = (await readOrigins(db, stored.log)).slice(-2);
    return { entries: [{ number: 0, entry: bindingEntry(before?.checkpoint ?? '') }], isFull: true };
  }
  if (numbered === undefined) {
    const entries = await takeFromQueue(db, stored.log, BATCH);
    return { entries, isFull: entries.length === BATCH };
  }
  const next = stored.firstNumber + stored.size - headerLeaves(stored);
  if (next > stored.takenOverTo) {
    const entries = await takeFromQueue(db, stored.log, BATCH, next);
    return { entries, isFull: entries.length === BATCH };
  }
  const upTo = Math.min(stored.takenOverTo, next + TAKE_OVER - 1);
  const found = new Map((await numbered.seal(db, next, upTo)).map(({ number, entry }) => [number, entry]));
  const entries = Array.from({ length: upTo - next + 1 }, (_, i) => next + i).map((number) => ({
    number,
    entry: found.get(number) ?? PRUNED_ENTRY,
  }));
  return { entries, isFull: true };
}

/** Of a number of the feed that was pruned before the log was switched on. */
export const PRUNED_ENTRY: Uint8Array = Buffer.concat([Uint8Array.of(0x03)], ENTRY_BYTES);

/** The first leaf of a new origin: 0x04, and the hash of the last checkpoint of the one before it. */
export function bindingEntry(checkpoint: string): Uint8Array {
  return Buffer.concat([Uint8Array.of(0x04), sha256(checkpoint)]);
}

function sha256(text: string): Uint8Array {
  return hash('sha256', text, 'buffer');
}

function padded(
  entries: readonly NumberedEntry[],
  { origin, size }: StoredLog,
  { pad, proofKey, numbered }: SequencerOptions,
): readonly NumberedEntry[] {
  if (pad === 0 || numbered !== undefined) return entries;
  const wanted = Math.max(1, Math.ceil(entries.length / pad)) * pad;
  const paddingAt = paddingEntries(proofKey, origin);
  const padding = Array.from({ length: wanted - entries.length }, (_, i) => ({
    number: 0,
    entry: paddingAt(size + entries.length + i),
  }));
  return [...entries, ...padding];
}
