/**
 * Recomputes every leaf of a log from the stored records and their seeds, and compares that with the tree, its root and the last
 * checkpoint outside the database. Memory grows with a bit a leaf.
 */

import type { Db } from '../../database/transaction.ts';
import { CanonicalFormError } from '../../lib/json/canonical-json.ts';
import { isRecord } from '../../lib/json/json-value.ts';
import { FormatError } from '../../lib/tlog/format-error.ts';
import { Frontier, leafHash, rootHash } from '../../lib/tlog/merkle.ts';
import { openNote, parseVerifierKey } from '../../lib/tlog/note.ts';
import { readHashesFromTiles, TILE_WIDTH } from '../../lib/tlog/tiles.ts';
import type { ProofLogName, StoredProof } from '../../seams/proof-log.ts';
import { paddingEntries } from './record.ts';
import { bindingEntry, PRUNED_ENTRY } from './sequencer.ts';
import { checkpointIn } from './state.ts';
import {
  ENTRY_BYTES,
  findLeaves,
  MissingTileError,
  readBundles,
  type StoredBundle,
  tileReader,
} from './store/leaves.ts';
import { readOrigins, readPending, type StoredLog } from './store/logs.ts';
import { readRemovals, type StoredRemoval } from './store/removals.ts';
import { Bits, nameExtraTiles, type ProofFault, TileCheck } from './verify-tiles.ts';
import { feedPlace, removalEntry } from './writer.ts';

export interface ProofVerification {
  readonly log: ProofLogName;
  readonly leaves: number;
  readonly records: number;
  /** Records whose entry has no leaf yet. */
  readonly pending: number;
  /** Records from before the log was switched on, or from after it was ended: nothing is proven of them. */
  readonly unproven: number;
}

export interface VerifyProofOptions {
  readonly db: Db;
  readonly log: ProofLogName;
  readonly proofKey: Uint8Array;
  /** Every stored record, in the order of its number where that is the order of the leaves. */
  readonly records: AsyncIterable<StoredProof>;
  /** The last published note of an origin, from outside the database. */
  readonly published: (origin: string) => string | undefined;
  /** Of a log that was ended: the moment of the last record that has an entry. */
  readonly endedAfter?: Date | undefined;
  readonly found: (fault: ProofFault) => void;
  readonly signal: AbortSignal;
  readonly progress?: (done: number) => void;
}

/** Reports every fault to `found`. @throws {Error} when the log was never begun here; the signal's reason */
export async function verifyLog(options: VerifyProofOptions): Promise<ProofVerification> {
  const { db, log } = options;
  const origins = await readOrigins(db, log);
  if (origins.length === 0) throw new Error(`the proof log ${log} was never begun in this database`);
  const trees: Tree[] = [];
  for (const stored of origins) trees.push(await verifyTree(options, stored, origins));
  const counts = await verifyRecords(options, trees, origins);
  await verifyRemovals(options, trees, origins);
  for (const tree of trees) await nameUnknownLeaves(options, tree);
  return { log, leaves: trees.reduce((sum, { stored }) => sum + stored.size, 0), ...counts };
}

/** A tree with what is known of each leaf. */
interface Tree {
  readonly stored: StoredLog;
  /** Leaves that are explained: by a record, a removal, padding or a number that was pruned before the log began. */
  readonly known: Bits;
  /** The bundle that was read last: records come nearly in the order of their leaves. */
  readonly bundles: Map<number, StoredBundle | undefined>;
}

const BUNDLES_PER_READ = 64;

/** Compares bundles, tiles, root and checkpoints of one origin. */
async function verifyTree(
  options: VerifyProofOptions,
  stored: StoredLog,
  origins: readonly StoredLog[],
): Promise<Tree> {
  const { db, found, signal } = options;
  const name = `tree ${stored.origin}`;
  const known = new Bits(stored.size);
  const paddingAt = paddingEntries(options.proofKey, stored.origin);
  // Built anew from the entries: whatever tile differs is named.
  const frontier = await Frontier.load(0, async () => []);
  const hashes = new TileCheck(options, stored);
  for (let index = 0; index * TILE_WIDTH < stored.size; index += BUNDLES_PER_READ) {
    signal.throwIfAborted();
    const read = new Map((await readBundles(db, stored, index, BUNDLES_PER_READ)).map((one) => [one.index, one]));
    for (let i = index; i < index + BUNDLES_PER_READ && i * TILE_WIDTH < stored.size; i += 1) {
      const bundle = read.get(i);
      const wanted = Math.min(TILE_WIDTH, stored.size - i * TILE_WIDTH);
      if (bundle === undefined || bundle.entries.length !== wanted * ENTRY_BYTES || bundle.numbers.length !== wanted)
        found({ name: `bundle ${i} of ${stored.origin}`, fault: 'is missing or has another length' });
      for (let place = 0; place < wanted; place += 1) {
        const leaf = i * TILE_WIDTH + place;
        const entry = bundle?.entries.subarray(place * ENTRY_BYTES, (place + 1) * ENTRY_BYTES) ?? Buffer.alloc(0);
        if (isExplained(entry, leaf, stored, origins, paddingAt)) known.set(leaf);
        for (const complete of frontier.append(leafHash(entry))) hashes.add(complete);
      }
      await hashes.compare(false);
    }
  }
  await hashes.compare(true);
  await nameExtraTiles(options, stored);
  if (Buffer.compare(frontier.root(), stored.root) !== 0)
    found({ name, fault: 'its entries do not have the root that is stored' });
  await verifyCheckpoint(options, stored, frontier, 'in the database', stored.checkpoint ?? undefined);
  const outside = options.published(stored.origin);
  await verifyCheckpoint(options, stored, frontier, 'outside the database', outside);
  if (outside === undefined && stored.size > 0 && stored.number === origins.length)
    found({ name, fault: 'there is no checkpoint of it outside the database to compare with' });
  return { stored, known, bundles: new Map() };
}

/** Whether a leaf needs no record: a padding leaf, a number that was pruned before the log began, or the binding to an earlier origin. */
function isExplained(
  entry: Buffer,
  leaf: number,
  { log, number, takenOverTo }: StoredLog,
  origins: readonly StoredLog[],
  paddingAt: (leaf: number) => Uint8Array,
): boolean {
  if (number > 1 && leaf === 0)
    return entry.equals(bindingEntry(origins.find((one) => one.number === number - 1)?.checkpoint ?? ''));
  if (log === 'raadsfeed') return leaf < takenOverTo && entry.equals(PRUNED_ENTRY);
  return entry.equals(paddingAt(leaf));
}

/** Compares a signed note with the tree: its signature, its size and its root. */
async function verifyCheckpoint(
  { db, found }: VerifyProofOptions,
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
    if (size > stored.size) {
      found({ name, fault: `has ${size} leaves and the tree only ${stored.size}` });
      return;
    }
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

/** Compares every record with its leaf. */
async function verifyRecords(
  { db, log, records, endedAfter, found, signal, progress }: VerifyProofOptions,
  trees: readonly Tree[],
  origins: readonly StoredLog[],
): Promise<Pick<ProofVerification, 'records' | 'pending' | 'unproven'>> {
  const counts = { records: 0, pending: 0, unproven: 0 };
  /** Numbers that stand for a redacted record, until a later record names them. */
  const redacted = new Set<number>();
  const judge = async (batch: readonly StoredProof[]): Promise<void> => {
    const leaves = await placesOf(db, log, batch, origins);
    const waiting = await readPending(
      db,
      log,
      batch.flatMap(({ number }) => (number === undefined ? [] : [number])),
    );
    for (const record of batch) {
      counts.records += 1;
      const { name, number, entry } = record;
      if (number === undefined) {
        const at = record.recordedAt;
        const isOutside =
          at !== undefined && (at < firstMoment(origins) || (endedAfter !== undefined && at > endedAfter));
        if (isOutside) counts.unproven += 1;
        else found({ name, fault: record.fault ?? 'was recorded without an entry' });
        continue;
      }
      if (record.fault !== undefined) found({ name, fault: record.fault });
      const queued = waiting.get(number);
      const place = leaves.get(number);
      const tree = trees.find(({ stored }) => stored.number === place?.origin);
      if (place === undefined || tree === undefined || place.index >= tree.stored.size) {
        if (queued === undefined) {
          if (log === 'raadsfeed' && number <= (origins[0]?.takenOverTo ?? 0)) counts.pending += 1;
          else found({ name, fault: 'has no leaf and does not wait for one' });
        } else {
          counts.pending += 1;
          if (entry !== undefined && !queued.equals(entry))
            found({ name, fault: 'is not what its waiting entry says' });
          else for (const gone of record.removes ?? []) redacted.delete(gone);
        }
        continue;
      }
      if (tree.known.has(place.index)) found({ name, fault: 'has the leaf of another record' });
      tree.known.set(place.index);
      if (record.isRedacted === true) redacted.add(number);
      else if (entry !== undefined && !(await entryAt(db, tree, place.index))?.equals(entry))
        found({ name, fault: 'is not what was logged' });
      else for (const gone of record.removes ?? []) if (gone < number) redacted.delete(gone);
    }
    progress?.(counts.records);
    signal.throwIfAborted();
  };
  let batch: StoredProof[] = [];
  for await (const record of records) {
    batch.push(record);
    if (batch.length === 500) {
      await judge(batch);
      batch = [];
    }
  }
  await judge(batch);
  for (const number of redacted)
    found({ name: `record ${number}`, fault: 'looks redacted, and no later record says so' });
  return counts;
}

function firstMoment(origins: readonly StoredLog[]): Date {
  return origins[0]?.begunAt ?? new Date(0);
}

async function placesOf(
  db: Db,
  log: ProofLogName,
  batch: readonly StoredProof[],
  origins: readonly StoredLog[],
): Promise<Map<number, { readonly origin: number; readonly index: number }>> {
  const numbers = batch.flatMap(({ number }) => (number === undefined ? [] : [number]));
  if (log !== 'raadsfeed')
    return new Map((await findLeaves(db, log, numbers)).map(({ number, ...place }) => [number, place]));
  return new Map(
    numbers.flatMap((number) => {
      const place = feedPlace(origins, number);
      return place === undefined ? [] : [[number, place] as const];
    }),
  );
}

const REMEMBERED_BUNDLES = 64;

async function entryAt(db: Db, { stored, bundles }: Tree, leaf: number): Promise<Buffer | undefined> {
  const index = Math.floor(leaf / TILE_WIDTH);
  if (!bundles.has(index)) {
    if (bundles.size >= REMEMBERED_BUNDLES) bundles.clear();
    const [read] = await readBundles(db, stored, index, 1);
    bundles.set(index, read?.index === index ? read : undefined);
  }
  const place = leaf % TILE_WIDTH;
  return bundles.get(index)?.entries.subarray(place * ENTRY_BYTES, (place + 1) * ENTRY_BYTES);
}

/** Marks the leaves of removals, and those that a removal names; one that was not made by the service explains nothing. */
async function verifyRemovals(
  { db, log, proofKey, found, signal }: VerifyProofOptions,
  trees: readonly Tree[],
  origins: readonly StoredLog[],
): Promise<void> {
  for (let after = 0; ; ) {
    signal.throwIfAborted();
    const removals = await readRemovals(db, log, after, 200);
    const last = removals.at(-1);
    if (last === undefined) return;
    after = last.number;
    for (const removal of removals) {
      const name = `verwijdering ${removal.number}`;
      const content = readContent(removal, proofKey);
      if (content === undefined) {
        found({ name, fault: 'was not written by this service, or was changed' });
        continue;
      }
      const own =
        log === 'raadsfeed'
          ? undefined
          : await verifyRemovalLeaf(db, log, removal, trees, (fault) => found({ name, fault }));
      const gone = [
        ...content.leaves,
        ...(log === 'raadsfeed'
          ? content.waiting.flatMap((number) => feedPlace(origins, number) ?? [])
          : await findLeaves(db, log, content.waiting)),
      ];
      for (const { origin, index } of gone) {
        const tree = trees.find(({ stored }) => stored.number === origin);
        // A removal speaks of what was before it; in the queue it comes after all that has a leaf.
        if (own === undefined || own.origin > origin || own.index > index) tree?.known.set(index);
      }
    }
  }
}

/** @returns where the removal's own leaf is; undefined while it waits for one */
async function verifyRemovalLeaf(
  db: Db,
  log: ProofLogName,
  { number, entry }: StoredRemoval,
  trees: readonly Tree[],
  found: (fault: string) => void,
): Promise<{ readonly origin: number; readonly index: number } | undefined> {
  const [place] = await findLeaves(db, log, [number]);
  const tree = trees.find(({ stored }) => stored.number === place?.origin);
  if (place === undefined || tree === undefined) {
    if (!(await readPending(db, log, [number])).get(number)?.equals(entry))
      found('has no leaf and does not wait for one');
    return undefined;
  }
  tree.known.set(place.index);
  if (!(await entryAt(db, tree, place.index))?.equals(entry)) found('is not what was logged');
  return place;
}

/** What a removal says; undefined when it is not sealed by the key of this service. */
function readContent({ log, number, content, entry }: StoredRemoval, proofKey: Uint8Array) {
  try {
    if (!Buffer.from(entry).equals(removalEntry(proofKey, log, number, content))) return undefined;
    const json: unknown = JSON.parse(content);
    if (!isRecord(json) || !Array.isArray(json.bladen) || !Array.isArray(json.wachtend)) return undefined;
    const leaves = json.bladen.flatMap((run: unknown) => {
      const [origin = 0, first = 0, last = -1] = Array.isArray(run) ? run.map(Number) : [];
      return Array.from({ length: last - first + 1 }, (_, i) => ({ origin, index: first + i }));
    });
    return { leaves, waiting: json.wachtend.map(Number) };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof CanonicalFormError) return undefined;
    throw error;
  }
}

/** Every leaf that nothing explains: its record was removed without a trace. */
async function nameUnknownLeaves({ found }: VerifyProofOptions, { stored, known }: Tree): Promise<void> {
  for (let leaf = 0; leaf < stored.size; leaf += 1)
    if (!known.has(leaf)) found({ name: `leaf ${leaf} of ${stored.origin}`, fault: 'has no record any more' });
}
