/** The outcome that each tampering must have, and code shared by all logs. */
import type pg from 'pg';
import type { ProofLogName } from '../../../src/proof/proof-log.ts';
import type { Check } from './outside-judge.ts';

/** The result of an attempt. */
export interface Tampered {
  /** `proof verify` must report one of these names. */
  readonly names: readonly (string | RegExp)[];
  /** The evidence that the outside judge must refuse; absent: the records. */
  readonly breaks?: Check;
  /** Records that differ from the logged ones: their proofs must be refused too. */
  readonly forged?: readonly string[];
}

/** Makes one change, in a transaction that is rolled back afterwards. */
export type Try = (db: pg.PoolClient) => Promise<Tampered>;

/** A randomly chosen record. */
export interface Chosen {
  /** As `proof verify` names it. */
  readonly name: string;
  readonly leaf: number;
}

/** How to find and remove the records of a log. */
export interface LogRecords<T extends Chosen = Chosen> {
  readonly log: ProofLogName;
  choose(db: pg.PoolClient): Promise<T>;
  remove(db: pg.PoolClient, chosen: T): Promise<void>;
  /** Removes everything recorded on the same day. */
  removeDay(db: pg.PoolClient, chosen: T): Promise<void>;
}

const ORIGIN = '127.0.0.1/proof/v1';

export function treeName(log: ProofLogName): string {
  return `${ORIGIN}/${log}`;
}

export function leafName(log: ProofLogName, leaf: number): string {
  return `leaf ${leaf} of ${treeName(log)}`;
}

/** The first row. @throws {Error} when there is none */
export async function one<T extends pg.QueryResultRow>(
  db: pg.PoolClient,
  text: string,
  values: unknown[] = [],
): Promise<T> {
  const { rows } = await db.query<T>(text, values);
  if (rows[0] === undefined) throw new Error(`nothing found by ${text}`);
  return rows[0];
}

/** The location of the entry with a number. */
export async function leafOf(db: pg.PoolClient, log: ProofLogName, nr: number): Promise<number> {
  const { leaf } = await one<{ leaf: number }>(
    db,
    `select tile * 256 + array_position(numbers, $2::bigint) - 1 as leaf from proof.bundles
     where log = $1 and numbers @> array[$2::bigint]`,
    [log, nr],
  );
  return Number(leaf);
}
