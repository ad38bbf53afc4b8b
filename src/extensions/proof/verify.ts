/**
 * Recomputes every leaf of a log from the stored records and their seeds, and compares that with the tree, its root and the last
 * checkpoint outside the database. Memory grows with a bit a leaf.
 */
import type { Pool } from '../../database/pool.ts';
import { allowLongStatements, type Db, transaction } from '../../database/transaction.ts';
import { lastProven as lastProvenDelivery, storedDeliveries } from '../../gegevens/store/journal.ts';
import { storedRecords } from '../../raadsfeed/store/proof.ts';
import type { ProofLogName, ProofWriter, ProofWriters, StoredProof } from '../../seams/proof-log.ts';
import type { Config } from '../../settings/read-config.ts';
import { openIdentityKeys } from '../../verwerkingenlog/store/keys.ts';
import { lastProven as lastProvenVersion, storedVersions } from '../../verwerkingenlog/store/proof.ts';
import { proofKeyOf } from './keys.ts';
import { openRemoval, readRemovals, type StoredRemoval } from './removals.ts';
import { openPublishedCheckpoints, statePath } from './state.ts';
import { findLeaves, type Place } from './store/leaves.ts';
import { readOrigins, readPending, type StoredLog } from './store/logs.ts';
import { type ProofFault, type VerifiedTree, type VerifyTreeOptions, verifyTree } from './verify-tree.ts';

const RECORDS_PER_READ = 500;
const REMOVALS_PER_READ = 200;

/** What was verified, and every fault. */
export type VerifiedLog = ProofVerification & { readonly faults: readonly ProofFault[] };

interface ProofVerification {
  readonly log: ProofLogName;
  readonly leaves: number;
  readonly records: number;
  /** Records whose entry has no leaf yet. */
  readonly pending: number;
  /** Records from before the log was switched on, or from after it was ended: nothing is proven of them. */
  readonly unproven: number;
}

interface VerifyProofOptions extends VerifyTreeOptions {
  readonly log: ProofLogName;
  /** Every stored record, in the order of its number where that is the order of the leaves. */
  readonly records: AsyncIterable<StoredProof>;
  /** Of a log that was ended: when the last record that has an entry was recorded. */
  readonly endedAfter?: Date | undefined;
  readonly progress?: (done: number) => void;
}

/** What a command and the demo have of the service: see `CommandContext`. */
interface VerifyNeeds {
  readonly config: Config;
  readonly pool: Pool;
  readonly proof: ProofWriters;
  readonly signal: AbortSignal;
  readonly progress?: (done: number) => void;
}

/**
 * Verifies a log of this service in one snapshot of the database.
 * @throws {Error} without `PROOF_KEY`
 */
export async function verifyStoredLog(
  { config, pool, proof, ...needs }: VerifyNeeds,
  log: ProofLogName,
): Promise<VerifiedLog | undefined> {
  const writer = proof(log, 'kept');
  if (writer === undefined) return undefined;
  const proofKey = proofKeyOf(config.proof);
  if (proofKey === undefined) throw new Error('PROOF_KEY is not set');
  // Read before the database: what is published meanwhile must not look like a conflict.
  const { get: published } = await openPublishedCheckpoints(statePath(config));
  const isEnded = config.proof.ended.some((name) => name === log);
  const faults: ProofFault[] = [];
  const verified = await transaction(
    pool,
    async (client) => {
      const db = await allowLongStatements(client, 0);
      const { records, lastProven } = await storedIn(db, { config, pool }, log, writer);
      const endedAfter = isEnded ? await lastProven(db) : undefined;
      const found = (fault: ProofFault): void => void faults.push(fault);
      return verifyLog({ ...needs, db, log, proofKey, records, published, endedAfter, found });
    },
    { isolation: 'repeatable read', readOnly: true },
  );
  return { ...verified, faults };
}

/** The records of a log, and when the last one that has an entry was recorded. */
async function storedIn(
  db: Db,
  { config, pool }: Pick<VerifyNeeds, 'config' | 'pool'>,
  log: ProofLogName,
  writer: ProofWriter,
): Promise<{
  readonly records: AsyncIterable<StoredProof>;
  readonly lastProven: (db: Db) => Promise<Date | undefined>;
}> {
  if (log === 'raadsfeed') return { records: storedRecords(db, writer), lastProven: async () => undefined };
  if (log === 'leveringen') return { records: storedDeliveries(db, writer), lastProven: lastProvenDelivery };
  const keys = await openIdentityKeys(pool, config.verwerkingenlog.key, 'read');
  return { records: storedVersions(db, writer, keys), lastProven: lastProvenVersion };
}

/** Reports every fault to `found`. @throws {Error} when the log was never begun here; the signal's reason */
export async function verifyLog(options: VerifyProofOptions): Promise<ProofVerification> {
  const { db, log, found } = options;
  const origins = await readOrigins(db, log);
  const [first] = origins;
  if (first === undefined) throw new Error(`the proof log ${log} was never begun in this database`);
  const trees: VerifiedTree[] = [];
  for (const [i, stored] of origins.entries())
    trees.push(await verifyTree(options, stored, origins[i - 1], i === origins.length - 1));
  const counts = await verifyRecords(options, trees, first);
  await verifyRemovals(options, trees);
  for (const tree of trees) {
    // Its record was removed without a trace.
    for (let leaf = 0; leaf < tree.stored.size; leaf += 1)
      if (!tree.isKnown(leaf))
        found({ name: `leaf ${leaf} of ${tree.stored.origin}`, fault: 'has no record any more' });
  }
  return { log, leaves: origins.reduce((sum, { size }) => sum + size, 0), ...counts };
}

function treeOf(trees: readonly VerifiedTree[], place: Place | undefined): VerifiedTree | undefined {
  return trees.find(({ stored }) => stored.number === place?.origin);
}

/** Compares every record with its leaf. */
async function verifyRecords(
  { db, log, records, endedAfter, found, signal, progress }: VerifyProofOptions,
  trees: readonly VerifiedTree[],
  first: StoredLog,
): Promise<Pick<ProofVerification, 'records' | 'pending' | 'unproven'>> {
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
        return found({ name, fault: 'is not what its waiting entry says' });
      for (const gone of removes) redacted.delete(gone);
      return;
    }
    if (tree.isKnown(place.index)) found({ name, fault: 'has the leaf of another record' });
    tree.setKnown(place.index);
    if (record.isRedacted === true) redacted.add(number);
    else if (entry !== undefined && !(await tree.entryAt(db, place.index))?.equals(entry))
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

  let batch: StoredProof[] = [];
  for await (const record of records) {
    batch.push(record);
    if (batch.length < RECORDS_PER_READ) continue;
    await judgeBatch(batch);
    batch = [];
  }
  await judgeBatch(batch);
  for (const number of redacted)
    found({ name: `record ${number}`, fault: 'looks redacted, and no later record says so' });
  return counts;
}

/** Marks the leaves of removals, and those that a removal names; one that was not made by the service explains nothing. */
async function verifyRemovals(options: VerifyProofOptions, trees: readonly VerifiedTree[]): Promise<void> {
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
        // A removal speaks of what was before it; in the queue it comes after all that has a leaf.
        const isBefore = own === undefined || own.origin > place.origin || own.index > place.index;
        if (isBefore) treeOf(trees, place)?.setKnown(place.index);
      }
    }
  }
}

/** @returns where the removal's own leaf is; undefined while it waits for one */
async function verifyRemovalLeaf(
  { db, log, found }: VerifyProofOptions,
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
  tree.setKnown(place.index);
  if (!(await tree.entryAt(db, place.index))?.equals(entry)) found({ name, fault: 'is not what was logged' });
  return place;
}
