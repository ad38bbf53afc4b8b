/** What each change of the drill says of itself, and what the changes of every log share. */
import type pg from 'pg';
import type { ProofLogName } from '../../../src/proof/proof-log.ts';
import type { Check } from './outside-judge.ts';

/** What a try did. */
export interface Tampered {
  /** `proof verify` must give one of these names. */
  readonly names: readonly (string | RegExp)[];
  /** What the outside judge must refuse; absent: the records. */
  readonly breaks?: Check;
  /** Records that are not what was logged: their proofs must be refused too. */
  readonly forged?: readonly string[];
}

/** Makes one change, in a transaction that is rolled back afterwards. */
export type Try = (db: pg.PoolClient) => Promise<Tampered>;

/** A record that was chosen at random. */
export interface Chosen {
  /** As `proof verify` names it. */
  readonly name: string;
  readonly leaf: number;
}

/** How the records of a log are found and removed. */
export interface LogRecords<T extends Chosen = Chosen> {
  readonly log: ProofLogName;
  choose(db: pg.PoolClient): Promise<T>;
  remove(db: pg.PoolClient, chosen: T): Promise<void>;
  /** Removes all that was recorded on the same day. */
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

/** Where the entry with a number is. */
export async function leafOf(db: pg.PoolClient, log: ProofLogName, nr: number): Promise<number> {
  const { leaf } = await one<{ leaf: number }>(
    db,
    `select tile * 256 + array_position(numbers, $2::bigint) - 1 as leaf from proof.bundles
     where log = $1 and numbers @> array[$2::bigint]`,
    [log, nr],
  );
  return Number(leaf);
}
