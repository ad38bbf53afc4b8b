/** The evidence that a service with this database would show an outsider: leaves, tiles, records and proofs, as currently stored. */
import pg from 'pg';
import type { Db } from '../../../src/database/transaction.ts';
import {
  proofRecordOf as deliveryRecordOf,
  proveDelivery,
  readJournalAfter,
  storedDeliveries,
} from '../../../src/gegevens/store/journal.ts';
import { canonicalJson } from '../../../src/lib/json/canonical-json.ts';
import { isRecord } from '../../../src/lib/json/json-value.ts';
import type { ProofLogName, ProofWriter, StoredProof } from '../../../src/proof/proof-log.ts';
import type { ProofRecord } from '../../../src/proof/record.ts';
import { readRemovals, removalEntry } from '../../../src/proof/removals.ts';
import { ENTRY_BYTES, findLeaves, MissingTileError, readBundles, tileReader } from '../../../src/proof/store/leaves.ts';
import { readLog } from '../../../src/proof/store/logs.ts';
import { checkpointIn } from '../../../src/proof/tlog/note.ts';
import { tilePath } from '../../../src/proof/tlog/tiles.ts';
import { RECORD_PART, readRecordProof, storedRecords } from '../../../src/raadsfeed/store/proof.ts';
import type { IdentityKeys } from '../../../src/verwerkingenlog/domain/encryption.ts';
import { provenVersions, storedVersions } from '../../../src/verwerkingenlog/store/proof.ts';
import { readVersie } from '../../../src/verwerkingenlog/store/versions.ts';
import { tilesOf } from '../tlog/grown-tree.ts';
import type { ClaimedLeaf, Evidence, ServedProof } from './outside-judge.ts';

/** A log, and the means to read it. */
export interface ReadLog {
  readonly log: ProofLogName;
  readonly writer: ProofWriter;
  readonly keys: IdentityKeys;
  readonly proofKey: Uint8Array;
}

/** Every stored record of a log. */
export function storedProofs(db: Db, { log, writer, keys }: ReadLog): AsyncIterable<StoredProof> {
  if (log === 'raadsfeed') return storedRecords(db, writer);
  return log === 'leveringen' ? storedDeliveries(db, writer) : storedVersions(db, keys);
}

/**
 * @param published the checkpoint kept outside
 * @param records as `storedProofs` reads them
 * @param names of records to prove; those without a proof are omitted
 */
export async function collectEvidence(
  db: Db,
  one: ReadLog,
  published: string,
  records: readonly StoredProof[],
  names: readonly string[],
): Promise<Evidence> {
  const stored = await readLog(db, one.log);
  if (stored === undefined) throw new Error(`the proof log ${one.log} is not in the database`);
  const { size } = checkpointIn(published);
  const tiles: Record<string, string> = {};
  for (const tile of tilesOf(size)) {
    try {
      const [hashes] = await tileReader(db, stored)([tile]);
      if (hashes !== undefined) tiles[tilePath(tile)] = base64(hashes);
    } catch (error) {
      if (!(error instanceof MissingTileError)) throw error;
    }
  }
  const bundles = await readBundles(db, stored, 0, size);
  const octets = Buffer.concat(bundles.map(({ entries }) => entries));
  const proofs: ServedProof[] = [];
  for (const name of names) {
    const proof = await servedProof(db, one, name);
    if (proof !== undefined) proofs.push(proof);
  }
  return {
    key: stored.verifierKey,
    published,
    head: stored.checkpoint ?? '',
    tiles,
    entries: Array.from({ length: octets.length / ENTRY_BYTES }, (_, i) =>
      base64(octets.subarray(i * ENTRY_BYTES, (i + 1) * ENTRY_BYTES)),
    ),
    records: await placed(
      db,
      one.log,
      records.map(({ number, entry }) => ({ number, entry })),
    ),
    removals: await removalsOf(db, one),
    proofs,
  };
}

/** In the order given. */
async function placed(
  db: Db,
  log: ProofLogName,
  records: readonly { readonly number: number | undefined; readonly entry: Uint8Array | undefined }[],
): Promise<ClaimedLeaf[]> {
  const places = await findLeaves(
    db,
    log,
    records.flatMap(({ number }) => number ?? []),
  );
  return records.map(({ number, entry }) => ({
    index: (number === undefined ? undefined : places.get(number)?.index) ?? null,
    entry: entry === undefined ? null : base64(entry),
  }));
}

/** Entries are recomputed from the records: the operator can do so and show it. */
async function removalsOf(db: Db, { log, proofKey }: ReadLog): Promise<Evidence['removals']> {
  const removals = await readRemovals(db, log, 0, 1000);
  const leaves = await placed(
    db,
    log,
    removals.map(({ number, content }) => ({ number, entry: removalEntry(proofKey, log, number, content) })),
  );
  // A removal from the feed has no leaf: its row is only sealed.
  return log === 'raadsfeed'
    ? []
    : leaves.map((leaf, i) => ({ ...leaf, names: namedBy(removals[i]?.content ?? '{}') }));
}

function namedBy(content: string): number[] {
  const json: unknown = JSON.parse(content);
  const runs = isRecord(json) && Array.isArray(json.bladen) ? json.bladen : [];
  return runs.flatMap((run: unknown) => {
    const [, first = 0, last = -1] = Array.isArray(run) ? run.map(Number) : [];
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

/** The proof of a record, named as in `proof verify`; undefined when the service would have none. */
async function servedProof(db: Db, one: ReadLog, name: string): Promise<ServedProof | undefined> {
  try {
    const served = await proofOf(db, one, name);
    if (served?.proof === undefined || served.proof === null) return undefined;
    const parts = Array.from(served.parts, ([part, value]) => [part, canonicalJson(value)]);
    return { parts: Object.fromEntries(parts), proof: served.proof };
  } catch (error) {
    // An unreadable seed makes no proof.
    if (error instanceof pg.DatabaseError) throw error;
    return undefined;
  }
}

async function proofOf(
  db: Db,
  { log, writer, keys }: ReadLog,
  name: string,
): Promise<(Pick<ProofRecord, 'parts'> & { readonly proof: string | null | undefined }) | undefined> {
  const words = name.split(' ');
  if (log === 'verwerkingen') {
    const stored = await readVersie(db, words[3] ?? '', Number(words[1]));
    const [proven] = stored === undefined ? [] : await provenVersions(db, writer, [stored], keys);
    return proven === undefined ? undefined : { parts: Object.entries(proven.parts), proof: proven.bewijs };
  }
  const number = Number(words[1]);
  if (log === 'leveringen') {
    const [proven] = await readJournalAfter(db, number - 1, 1);
    if (proven?.line.id !== number) return undefined;
    return { parts: deliveryRecordOf(proven.line).parts, proof: await proveDelivery(db, writer, proven) };
  }
  const found = await readRecordProof(db, writer, number);
  if (found.found !== 'record') return undefined;
  const proof = await writer.prove(db, { ...found, number, shown: new Set([RECORD_PART]) });
  return { parts: found.record.parts, proof };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
