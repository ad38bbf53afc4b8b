/**
 * Recomputes every leaf of a log from the stored records and their seeds, and compares the result with the tree, its root and the last checkpoint
 * outside the database. Memory grows by a byte per leaf.
 */
import type { Pool } from '../database/pool.ts';
import { allowLongStatements, type Db, transaction } from '../database/transaction.ts';
import type { Config } from '../settings/read-config.ts';
import { proofKeyOf } from './keys.ts';
import type { ProofLogName, ProofWriterOf, ProvenLog, StoredProof } from './proof-log.ts';
import { openRemoval, readRemovals, type StoredRemoval } from './removals.ts';
import { bindingEntry, PRUNED_ENTRY, paddingEntries } from './sequence.ts';
import { openPublishedCheckpoints, statePath } from './state.ts';
import { ENTRY_BYTES, findLeaves, MissingTileError, type Place, readBundles, tileReader } from './store/leaves.ts';
import { readOrigins, readPending, type StoredLog } from './store/logs.ts';
import { Frontier, leafHash, rootHash } from './tlog/merkle.ts';
import { checkpointIn, FormatError, openNote, parseVerifierKey } from './tlog/note.ts';
import { addToTiles, type GrowingTile, readHashesFromTiles, TILE_WIDTH } from './tlog/tiles.ts';

const RECORDS_PER_READ = 500;
const REMOVALS_PER_READ = 200;
const BUNDLES_PER_READ = 64;

export interface ProofFault {
  /** The record as operators know it, or else the leaf or tile. */
  readonly name: string;
  readonly fault: string;
}

interface VerifyOptions {
  readonly db: Db;
  readonly log: ProofLogName;
  readonly proofKey: Uint8Array;
  readonly records: AsyncIterable<StoredProof>;
  /** For an ended log: when the last record with an entry was recorded. */
  readonly endedAfter?: Date | undefined;
  /** The last published note of an origin, from outside the database. */
  readonly published: (origin: string) => string | undefined;
  readonly found: (fault: ProofFault) => void;
  readonly progress?: (done: number) => void;
  readonly signal: AbortSignal;
}

export type VerifiedLog = NonNullable<Awaited<ReturnType<typeof verifyStoredLog>>>;

interface VerifyNeeds extends Pick<VerifyOptions, 'signal' | 'progress'> {
  readonly config: Config;
  readonly pool: Pool;
  readonly proof: ProofWriterOf;
}

/** In one snapshot of the database; undefined when it does not have the log. @throws {Error} without `PROOF_KEY` */
export async function verifyStoredLog(
  { config, pool, proof, ...needs }: VerifyNeeds,
  { name: log, records: recordsOf, lastProven }: ProvenLog,
) {
  const writer = proof(log, 'kept');
  if (writer === undefined) return undefined;
  const proofKey = proofKeyOf(config.proof);
  if (proofKey === undefined) throw new Error('PROOF_KEY is not set');
  // Read before the database: later publications must not look like a conflict.
  const { get: published } = await openPublishedCheckpoints(statePath(config));
  const faults: ProofFault[] = [];
  const found = (fault: ProofFault): void => void faults.push(fault);
  const isEnded = config.proof.ended.some((name) => name === log);
  const verified = await transaction(
    pool,
    async (client) => {
      const db = await allowLongStatements(client, 0);
      const records = await recordsOf({ config, pool, db, writer });
      const endedAfter = isEnded ? await lastProven?.(db) : undefined;
      return verifyLog({ ...needs, db, log, proofKey, records, published, endedAfter, found });
    },
    { isolation: 'repeatable read', readOnly: true },
  );
  return { ...verified, faults };
}

/** Reports every fault to `found`. @throws {Error} when this database never started the log; the signal's reason */
export async function verifyLog(options: VerifyOptions) {
  const { db, log, found } = options;
  const origins = await readOrigins(db, log);
  const [first] = origins;
  if (first === undefined) throw new Error(`the proof log ${log} was never started in this database`);
  const trees: VerifiedTree[] = [];
  for (const [i, stored] of origins.entries())
    trees.push(await verifyTree(options, stored, origins[i - 1], i === origins.length - 1));
  const counts = await verifyRecords(options, trees, first);
  await verifyRemovals(options, trees);
  for (const { stored, known } of trees) {
    // Its record was removed without a trace.
    for (let leaf = 0; leaf < stored.size; leaf += 1)
      if (known[leaf] !== 1) found({ name: `leaf ${leaf} of ${stored.origin}`, fault: 'has no record any more' });
  }
  return { log, leaves: origins.reduce((sum, { size }) => sum + size, 0), ...counts };
}

interface VerifiedTree {
  readonly stored: StoredLog;
  /** 1 for each leaf explained by a record, a removal, padding or a number that was pruned before the log began. */
  readonly known: Uint8Array;
  /** Bundles read last: records come nearly in the order of their leaves. */
  readonly bundles: Map<number, Buffer | undefined>;
}

function treeOf(trees: readonly VerifiedTree[], place: Place | undefined): VerifiedTree | undefined {
  return trees.find(({ stored }) => stored.number === place?.origin);
}

function entryIn(bundle: Buffer | undefined, place: number): Buffer | undefined {
  return bundle?.subarray(place * ENTRY_BYTES, (place + 1) * ENTRY_BYTES);
}

async function isEntryAt(db: Db, { stored, bundles }: VerifiedTree, leaf: number, entry: Uint8Array): Promise<boolean> {
  const index = Math.floor(leaf / TILE_WIDTH);
  if (!bundles.has(index)) {
    if (bundles.size >= BUNDLES_PER_READ) bundles.clear();
    const [read] = await readBundles(db, stored, index, 1);
    bundles.set(index, read?.index === index ? read.entries : undefined);
  }
  return entryIn(bundles.get(index), leaf % TILE_WIDTH)?.equals(entry) === true;
}

async function verifyRecords(
  { db, log, records, endedAfter, found, signal, progress }: VerifyOptions,
  trees: readonly VerifiedTree[],
  first: StoredLog,
) {
  // Records from before the log was switched on, or from after it was ended, are `unproven`.
  const counts = { records: 0, pending: 0, unproven: 0 };
  /** Numbers of redacted records, until a later record names them. */
  const redacted = new Set<number>();
  const isUnproven = (at: Date | undefined): boolean =>
    at !== undefined && (at < first.begunAt || (endedAfter !== undefined && at > endedAfter));

  const judge = async (record: StoredProof, place: Place | undefined, queued: Buffer | undefined): Promise<void> => {
    const { name, number, entry, removes = [] } = record;
    if (number === undefined) {
      if (isUnproven(record.recordedAt)) counts.unproven += 1;
      else found({ name, fault: record.fault ?? 'was recorded without an entry' });
      return;
    }
    if (record.fault !== undefined) found({ name, fault: record.fault });
    const tree = treeOf(trees, place);
    if (place === undefined || tree === undefined || place.index >= tree.stored.size) {
      // The sequencer reads these from the feed itself.
      const isTakenOver = log === 'raadsfeed' && number <= first.takenOverTo;
      if (queued === undefined && !isTakenOver) return found({ name, fault: 'has no leaf and does not wait for one' });
      counts.pending += 1;
      if (queued === undefined) return;
      if (entry !== undefined && !queued.equals(entry))
        return found({ name, fault: 'does not match its waiting entry' });
      for (const gone of removes) redacted.delete(gone);
      return;
    }
    if (tree.known[place.index] === 1) found({ name, fault: 'has the leaf of another record' });
    tree.known[place.index] = 1;
    if (record.isRedacted === true) redacted.add(number);
    else if (entry !== undefined && !(await isEntryAt(db, tree, place.index, entry)))
      found({ name, fault: 'is not what was logged' });
    else for (const gone of removes) if (gone < number) redacted.delete(gone);
  };
  const judgeBatch = async (batch: readonly StoredProof[]): Promise<void> => {
    const numbers = batch.flatMap(({ number }) => number ?? []);
    const leaves = await findLeaves(db, log, numbers);
    const waiting = await readPending(db, log, numbers);
    for (const record of batch) {
      const number = record.number ?? Number.NaN;
      await judge(record, leaves.get(number), waiting.get(number));
    }
    counts.records += batch.length;
    progress?.(counts.records);
    signal.throwIfAborted();
  };

  const batch: StoredProof[] = [];
  for await (const record of records) {
    batch.push(record);
    if (batch.length === RECORDS_PER_READ) await judgeBatch(batch.splice(0));
  }
  await judgeBatch(batch);
  for (const number of redacted)
    found({ name: `record ${number}`, fault: 'looks redacted, but no later record names it' });
  return counts;
}

/** Marks the leaves of removals, and the leaves that they name; a removal not made by the service explains nothing. */
async function verifyRemovals(options: VerifyOptions, trees: readonly VerifiedTree[]): Promise<void> {
  const { db, log, proofKey, found, signal } = options;
  for (let after = 0; ; ) {
    signal.throwIfAborted();
    const removals = await readRemovals(db, log, after, REMOVALS_PER_READ);
    const last = removals.at(-1);
    if (last === undefined) return;
    after = last.number;
    for (const removal of removals) {
      const content = openRemoval(removal, proofKey);
      if (content === undefined) {
        const fault = 'was not written by this service, or was changed';
        found({ name: `verwijdering ${removal.number}`, fault });
        continue;
      }
      const own = log === 'raadsfeed' ? undefined : await verifyRemovalLeaf(options, removal, trees);
      const gone = [...content.leaves, ...(await findLeaves(db, log, content.waiting)).values()];
      for (const place of gone) {
        // A removal covers earlier leaves only; in the queue it comes after all sequenced ones.
        const isBefore = own === undefined || own.origin > place.origin || own.index > place.index;
        const known = treeOf(trees, place)?.known;
        if (isBefore && known !== undefined) known[place.index] = 1;
      }
    }
  }
}

/** @returns the position of the removal's own leaf; undefined while it waits */
async function verifyRemovalLeaf(
  { db, log, found }: VerifyOptions,
  { number, entry }: StoredRemoval,
  trees: readonly VerifiedTree[],
): Promise<Place | undefined> {
  const name = `verwijdering ${number}`;
  const place = (await findLeaves(db, log, [number])).get(number);
  const tree = treeOf(trees, place);
  if (place === undefined || tree === undefined) {
    if (!(await readPending(db, log, [number])).get(number)?.equals(entry))
      found({ name, fault: 'has no leaf and does not wait for one' });
    return undefined;
  }
  tree.known[place.index] = 1;
  if (!(await isEntryAt(db, tree, place.index, entry))) found({ name, fault: 'is not what was logged' });
  return place;
}

/** Compares bundles, tiles, root and checkpoints of one origin. @param before the previous origin */
async function verifyTree(
  options: VerifyOptions,
  stored: StoredLog,
  before: StoredLog | undefined,
  isLast: boolean,
): Promise<VerifiedTree> {
  const { db, proofKey, found, signal } = options;
  const { origin, size } = stored;
  const known = new Uint8Array(size);
  const paddingAt = paddingEntries(proofKey, origin);
  const isExplained = (entry: Buffer, leaf: number): boolean => {
    if (before !== undefined && leaf === 0) return entry.equals(bindingEntry(before.checkpoint ?? ''));
    if (stored.log === 'raadsfeed') return leaf < stored.takenOverTo && entry.equals(PRUNED_ENTRY);
    return entry.equals(paddingAt(leaf));
  };
  // Rebuilt from the entries: every differing tile is reported.
  const frontier = new Frontier();
  const tiles = new Map<string, GrowingTile>();
  const last = Math.ceil(size / TILE_WIDTH);
  for (let index = 0; index < last; index += BUNDLES_PER_READ) {
    signal.throwIfAborted();
    const read = new Map((await readBundles(db, stored, index, BUNDLES_PER_READ)).map((one) => [one.index, one]));
    for (let i = index; i < Math.min(last, index + BUNDLES_PER_READ); i += 1) {
      const bundle = read.get(i);
      const wanted = Math.min(TILE_WIDTH, size - i * TILE_WIDTH);
      if (bundle?.entries.length !== wanted * ENTRY_BYTES || bundle.numbers.length !== wanted)
        found({ name: `bundle ${i} of ${origin}`, fault: 'is missing or has another length' });
      for (let place = 0; place < wanted; place += 1) {
        const leaf = i * TILE_WIDTH + place;
        const entry = entryIn(bundle?.entries, place) ?? Buffer.alloc(0);
        if (isExplained(entry, leaf)) known[leaf] = 1;
        for (const complete of frontier.append(leafHash(entry))) addToTiles(tiles, complete);
      }
    }
    await compareTiles(options, stored, tiles, index + BUNDLES_PER_READ >= last);
  }
  const name = `tree ${origin}`;
  if (Buffer.compare(frontier.root(), stored.root) !== 0)
    found({ name, fault: 'its entries do not have the root that is stored' });
  const outside = options.published(origin);
  if (outside === undefined && size > 0 && isLast)
    found({ name, fault: 'there is no checkpoint of it outside the database to compare with' });
  await verifyCheckpoint(options, stored, frontier, 'in the database', stored.checkpoint ?? undefined);
  await verifyCheckpoint(options, stored, frontier, 'outside the database', outside);
  return { stored, known, bundles: new Map() };
}

/** Compares the expected tiles with the stored ones, and drops them: the full ones, and at the end of the tree all. */
async function compareTiles(
  { db, found }: VerifyOptions,
  stored: StoredLog,
  tiles: Map<string, GrowingTile>,
  isEnd: boolean,
): Promise<void> {
  for (const [key, { level, index, hashes }] of tiles) {
    if (hashes.length < TILE_WIDTH && !isEnd) continue;
    tiles.delete(key);
    const name = `tile ${level}/${index} of ${stored.origin}`;
    try {
      const [bytes] = await tileReader(db, stored)([{ level, index, width: hashes.length }]);
      if (bytes === undefined || Buffer.compare(bytes, Buffer.concat(hashes)) !== 0)
        found({ name, fault: 'does not match its entries' });
    } catch (error) {
      if (!(error instanceof MissingTileError)) throw error;
      found({ name, fault: 'is missing' });
    }
  }
}

async function verifyCheckpoint(
  { db, found }: VerifyOptions,
  stored: StoredLog,
  frontier: Frontier,
  where: string,
  note: string | undefined,
): Promise<void> {
  if (note === undefined) return;
  const name = `checkpoint ${where} of ${stored.origin}`;
  try {
    openNote(note, [parseVerifierKey(stored.verifierKey)]);
    const { size, root } = checkpointIn(note);
    if (size > stored.size) return found({ name, fault: `has ${size} leaves and the tree only ${stored.size}` });
    const own =
      size === frontier.size
        ? frontier.root()
        : await rootHash(size, readHashesFromTiles(stored.size, tileReader(db, stored)));
    if (Buffer.compare(own, root) !== 0) found({ name, fault: `is not of the first ${size} leaves of this tree` });
  } catch (error) {
    if (!(error instanceof FormatError || error instanceof MissingTileError)) throw error;
    found({ name, fault: `cannot be compared: ${error.message}` });
  }
}
