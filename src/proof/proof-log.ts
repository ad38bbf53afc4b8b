/** Logs that prove what was recorded and when: what an area adds in its own transactions gets a place in a signed tree. @see docs/proof.md */
import type { FastifyInstance } from 'fastify';
import type { Pool } from '../database/pool.ts';
import type { Db } from '../database/transaction.ts';
import type { Config } from '../settings/config.ts';
import type { ProofRecord } from './record.ts';

export type { ProofRecord };

export const PROOF_LOGS = ['verwerkingen', 'leveringen', 'raadsfeed'] as const;
export type ProofLogName = (typeof PROOF_LOGS)[number];

/** The secret of a record (32 bytes), to be stored encrypted with it, and its entry (33 bytes), which reveals nothing. */
export interface Sealed {
  readonly seed: Uint8Array;
  readonly entry: Uint8Array;
}

export interface Removal {
  readonly kind: string;
  readonly at: Date;
  /** A role or a subject that removes them, never the person concerned. */
  readonly by: string;
  /** `proof_number` of the records; in the feed their `sequenceNumber`. */
  readonly numbers: readonly number[];
}

export interface Shown {
  readonly record: ProofRecord;
  readonly seed: Uint8Array;
  readonly number: number;
  /** Names of the parts that the reader has; for the others the proof has the commitment. */
  readonly shown: ReadonlySet<string>;
}

export interface NumberedEntry {
  readonly number: number;
  readonly entry: Uint8Array;
}

/** How the feed is entered: in the order of its numbers, including records published before the log was switched on. */
export interface NumberedRecords {
  /** The last number; nobody can publish until the transaction ends. */
  lockLast(db: Db): Promise<number>;
  /** Seals the existing records between two numbers, in order, and stores their seeds. */
  seal(db: Db, from: number, upTo: number): Promise<NumberedEntry[]>;
}

export interface StoredProof {
  /** For operators; never a person. */
  readonly name: string;
  readonly number?: number;
  readonly entry?: Uint8Array;
  /** Why its entry cannot be recomputed. */
  readonly fault?: string;
  /** It is a redaction stub: a later record must name its number. */
  readonly isRedacted?: boolean;
  /** Numbers of the feed whose content this record removed. */
  readonly removes?: readonly number[];
  /** For a record without an entry: it may be from before the log was switched on, or from after it was ended. */
  readonly recordedAt?: Date;
}

export interface ProvenLog {
  readonly name: ProofLogName;
  /** Every stored record, in the order of its number where that is the order of the leaves. @param needs.db one snapshot of the database */
  records(needs: {
    readonly config: Config;
    readonly pool: Pool;
    readonly db: Db;
    readonly writer: ProofWriter;
  }): Promise<AsyncIterable<StoredProof>>;
  /** When the last record with an entry was recorded; for a log that can be ended. */
  readonly lastProven?: (db: Db) => Promise<Date | undefined>;
  readonly numbered?: (writer: ProofWriter) => NumberedRecords;
  readonly routes?: (scope: FastifyInstance, pool: Pool, writer: ProofWriter) => void;
}

export interface ProofWriter {
  readonly intervalSeconds: number;
  /** With a new random seed. */
  seal(record: ProofRecord): Sealed;
  /** The same for a record that may have very many parts. */
  sealWithinBudget(record: ProofRecord): Promise<Sealed>;
  /** For logs without keys for identifiers: a seed as text, bound to its record. */
  encryptSeed(record: string, seed: Uint8Array): string;
  /** @throws {Error} when it was not encrypted for this record with this key */
  decryptSeed(record: string, stored: string): Uint8Array;
  /** Adds entries to the queue, in the transaction of their records. */
  append(db: Db, entries: readonly NumberedEntry[]): Promise<void>;
  /** Records, in the transaction that removes records, that they were removed. Call it before they are gone. */
  remove(db: Db, removal: Removal): Promise<void>;
  /** The proof as text (C2SP tlog-proof); undefined when the record is in no published checkpoint yet. */
  prove(db: Db, shown: Shown): Promise<string | undefined>;
}

/**
 * The writer of a log; undefined when it is not switched on.
 * @param use `seal`, the default: for new records, which an ended log does not take. `kept`: for proofs and removals of older ones.
 */
export type ProofWriterOf = (log: ProofLogName, use?: 'seal' | 'kept') => ProofWriter | undefined;

/** A number for an entry, from the sequence that all logs but the feed share; in SQL. */
export const NEXT_PROOF_NUMBER = `nextval('proof.record_numbers')`;

export async function isProofLogOn(db: Db, log: ProofLogName): Promise<boolean> {
  const { rows } = await db.query<{ on: boolean }>({
    name: 'proof-log-on',
    text: 'select exists (select from proof.logs where log = $1::text) as on',
    values: [log],
  });
  return rows[0]?.on === true;
}

/** The writer of a log, needed to remove records. @throws {Error} for operators, when this database has the log and it is not configured */
export async function requireProofWriter(
  db: Db,
  log: ProofLogName,
  proofWriterOf: ProofWriterOf,
): Promise<ProofWriter | undefined> {
  const writer = proofWriterOf(log, 'kept');
  if (writer === undefined && (await isProofLogOn(db, log)))
    throw new Error(
      `the proof log ${log} is kept in this database: PROOF_KEY or PROOF_SEALING_KEY, and PROOF_LOGS, must say so`,
    );
  return writer;
}
