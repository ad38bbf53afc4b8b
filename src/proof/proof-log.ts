/**
 * Logs that prove what was recorded and when. An area says "this entry, in my transaction"; `src/proof` gives it a place in a tree,
 * publishes signed checkpoints and makes the proofs. @see docs/proof.md
 */
import type { FastifyInstance } from 'fastify';
import type { Pool } from '../database/pool.ts';
import type { Db } from '../database/transaction.ts';
import type { Config } from '../settings/config.ts';

export const PROOF_LOGS = ['verwerkingen', 'leveringen', 'raadsfeed'] as const;
export type ProofLogName = (typeof PROOF_LOGS)[number];

/** What a proof log keeps of a record: parts that are shown or hidden together. */
export interface ProofRecord {
  /** The version of the list of members in each part: the first byte of its entry. Absent: 1. */
  readonly format?: number;
  /** New records have a newer format. */
  readonly isOlder?: boolean;
  /** Their names, and what they are as JSON values. Not an object: with a name of its own for each record, that is slow. */
  readonly parts: Iterable<readonly [name: string, json: unknown]>;
  /** Of parts that a record has several of: it gets more of them, without content, so that nobody counts these. */
  readonly padding?: {
    readonly count: number;
    /** Name of the nth part without content, from 0. */
    readonly nameOf: (place: number) => string;
  };
}

/** The secret of a record (32 bytes), to be stored encrypted with it, and its entry (33 bytes), which reveals nothing. */
export interface Sealed {
  readonly seed: Uint8Array;
  readonly entry: Uint8Array;
}

/** Records that leave the database in this transaction. */
export interface Removal {
  /** `bewaartermijn`, `opschoning`: the kind of removal. */
  readonly kind: string;
  readonly at: Date;
  /** Who removes: a role or a subject, never the person concerned. */
  readonly by: string;
  /** `proof_number` of the records; in the feed their `sequenceNumber`. */
  readonly numbers: readonly number[];
}

/** A record with what its proof shows. */
export interface Shown {
  readonly record: ProofRecord;
  readonly seed: Uint8Array;
  /** `proof_number`; in the feed the `sequenceNumber`. */
  readonly number: number;
  /** Names of the parts whose content the reader has; of the others he gets the commitment. */
  readonly shown: ReadonlySet<string>;
}

/** An entry with the number of its record. */
export interface NumberedEntry {
  readonly number: number;
  readonly entry: Uint8Array;
}

/** How the feed is entered: in the order of its numbers, with what was published before the log was switched on. */
export interface NumberedRecords {
  /** The last number, while nobody can publish until the transaction ends. */
  lockLast(db: Db): Promise<number>;
  /** Seals those records from one number up to another that are still there, in order, and stores their seeds. */
  seal(db: Db, from: number, upTo: number): Promise<NumberedEntry[]>;
}

/** A stored record as `proof verify` reads it. */
export interface StoredProof {
  /** For operators; never a person. */
  readonly name: string;
  /** `proof_number`, in the feed the `sequenceNumber`; absent: it has none. */
  readonly number?: number;
  /** Recomputed from the record and its seed. */
  readonly entry?: Uint8Array;
  /** Why it has no entry that could be recomputed. */
  readonly fault?: string;
  /** It is what is left of a redacted record: a later record must name its number. */
  readonly isRedacted?: boolean;
  /** Numbers of the feed whose content this record removed. */
  readonly removes?: readonly number[];
  /** Of one without an entry, by its own moment: it may be from before the log was switched on, or from after it was ended. */
  readonly recordedAt?: Date;
}

/** What is needed to read the records of a log: see `ProvenLog`. */
export interface ReadRecords {
  readonly config: Config;
  readonly pool: Pool;
  /** In one snapshot of the database. */
  readonly db: Db;
  readonly writer: ProofWriter;
}

/** A log as its area registers it. */
export interface ProvenLog {
  readonly name: ProofLogName;
  /** Every stored record for `proof verify`, in the order of its number where that is the order of the leaves. */
  records(needs: ReadRecords): Promise<AsyncIterable<StoredProof>>;
  /** When the last record with an entry was recorded; for a log that can be ended. */
  readonly lastProven?: (db: Db) => Promise<Date | undefined>;
  /** For a log whose leaves are in the order of the numbers of its records. */
  readonly numbered?: (writer: ProofWriter) => NumberedRecords;
  /** Its own addresses beside those of the log. */
  readonly routes?: (scope: FastifyInstance, pool: Pool, writer: ProofWriter) => void;
}

/** What an area does with its log. */
export interface ProofWriter {
  /** Time until the next checkpoint, which a new record needs for its proof. */
  readonly intervalSeconds: number;
  /** With a new random seed. */
  seal(record: ProofRecord): Sealed;
  /** The same for a record that may have very many parts. */
  sealWithinBudget(record: ProofRecord): Promise<Sealed>;
  entryOf(record: ProofRecord, seed: Uint8Array): Uint8Array;
  /** For logs without keys for identifiers: a seed as text, bound to its record. */
  encryptSeed(record: string, seed: Uint8Array): string;
  /** @throws {Error} when it was not encrypted for this record with this key */
  decryptSeed(record: string, stored: string): Uint8Array;
  /** Adds entries to the queue, in the transaction of their records. */
  append(db: Db, entries: readonly NumberedEntry[]): Promise<void>;
  /** Writes down, in the transaction that removes records, that they were removed. Call it before they are gone. */
  remove(db: Db, removal: Removal): Promise<void>;
  /** The proof as text (C2SP tlog-proof); undefined when the record is in no published checkpoint yet. */
  prove(db: Db, shown: Shown): Promise<string | undefined>;
}

/**
 * The writer of a log; undefined when the configuration does not switch it on.
 * @param use `seal`, the default: for new records, which a log that was ended does not take. `kept`: for proofs and removals of older ones.
 */
export type ProofWriters = (log: ProofLogName, use?: 'seal' | 'kept') => ProofWriter | undefined;

/** A number for an entry, from the sequence that all logs but the feed share; in SQL. */
export const NEXT_PROOF_NUMBER = `nextval('proof.record_numbers')`;

/** Whether a log was begun in this database. */
export async function isProofLogOn(db: Db, log: ProofLogName): Promise<boolean> {
  const { rows } = await db.query<{ on: boolean }>({
    name: 'proof-log-on',
    text: 'select exists (select from proof.logs where log = $1::text) as on',
    values: [log],
  });
  return rows[0]?.on === true;
}

/**
 * The writer of a log, for who removes what it holds.
 * @throws {Error} for operators, when the log is kept in this database and the configuration does not know of it
 */
export async function requireProofWriter(
  db: Db,
  log: ProofLogName,
  writers: ProofWriters,
): Promise<ProofWriter | undefined> {
  const writer = writers(log, 'kept');
  if (writer === undefined && (await isProofLogOn(db, log)))
    throw new Error(
      `the proof log ${log} is kept in this database: PROOF_KEY or PROOF_SEALING_KEY, and PROOF_LOGS, must say so`,
    );
  return writer;
}
