/** The trace of removed records: an entry `verwijdering` that names the leaves whose records are gone, when and by whom. */
import type { Db } from '../database/transaction.ts';
import { CanonicalFormError, canonicalJson } from '../lib/json/canonical-json.ts';
import { isRecord } from '../lib/json/json-value.ts';
import { deriveSealingKey, sealingKeyOf } from './keys.ts';
import { NEXT_PROOF_NUMBER, type ProofLogName, type Removal } from './proof-log.ts';
import { entryOf, partSalt } from './record.ts';
import { findLeaves, type Place } from './store/leaves.ts';
import { addToQueue } from './store/logs.ts';

export interface StoredRemoval {
  readonly number: number;
  readonly log: ProofLogName;
  readonly content: string;
  readonly entry: Uint8Array;
}

/** The entry of a `verwijdering`, from its JSON text. Its seed derives from the key: the database alone cannot make one. */
export function removalEntry(proofKey: Uint8Array, log: ProofLogName, number: number, content: string): Uint8Array {
  return sealRemoval(sealingKeyOf(deriveSealingKey(proofKey), log).removals, number, content);
}

function sealRemoval(key: Uint8Array, number: number, content: string): Uint8Array {
  return entryOf(partSalt(key, String(number)), { parts: [['verwijdering', JSON.parse(content)]] });
}

/** The contents of a `verwijdering` say nothing about the persons in the records. */
export async function recordRemoval(db: Db, key: Uint8Array, log: ProofLogName, removal: Removal): Promise<void> {
  if (removal.numbers.length === 0) return;
  const places = await findLeaves(db, log, removal.numbers);
  const text = canonicalJson({
    soort: removal.kind,
    op: removal.at.toISOString(),
    door: removal.by,
    bladen: runsOf([...places.values()]),
    // Not sequenced yet.
    wachtend: removal.numbers.filter((number) => !places.has(number)).sort((a, b) => a - b),
  });
  const { rows } = await db.query<{ number: number }>(`select ${NEXT_PROOF_NUMBER} as number`);
  if (rows[0] === undefined) throw new TypeError('a sequence gave no number');
  const { number } = rows[0];
  const entry = sealRemoval(key, number, text);
  await db.query(
    'insert into proof.removals (number, log, content, entry) values ($1::bigint, $2::text, $3::text, $4::bytea)',
    [number, log, text, Buffer.from(entry)],
  );
  if (log !== 'raadsfeed') await addToQueue(db, log, [{ number, entry }]);
}

/** The first and last leaf of each run, in order of index, which does not reveal which leaves belonged together. */
function runsOf(places: readonly Place[]): [origin: number, first: number, last: number][] {
  const runs: [number, number, number][] = [];
  for (const { origin, index } of places.toSorted((a, b) => a.origin - b.origin || a.index - b.index)) {
    const last = runs.at(-1);
    if (last !== undefined && last[0] === origin && last[2] === index - 1) last[2] = index;
    else runs.push([origin, index, index]);
  }
  return runs;
}

export async function readRemovals(db: Db, log: ProofLogName, after: number, limit: number): Promise<StoredRemoval[]> {
  const { rows } = await db.query<StoredRemoval & Record<string, unknown>>(
    `select number, log, content, entry from proof.removals
     where log = $1::text and number > $2::bigint order by number limit $3::integer`,
    [log, after, limit],
  );
  return rows;
}

/** The leaves that a removal names, and the numbers still waiting; undefined when the key of this service did not seal it. */
export function openRemoval(
  { log, number, content, entry }: StoredRemoval,
  proofKey: Uint8Array,
): { readonly leaves: readonly Place[]; readonly waiting: readonly number[] } | undefined {
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
