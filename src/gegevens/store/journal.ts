import { hash } from 'node:crypto';
import pg from 'pg';
import type { Pool } from '../../database/pool.ts';
import type { Db, Sent } from '../../database/transaction.ts';
import type { Variant } from '../../lib/exchange-model/mapping.ts';
import type { OperatorSection } from '../../lib/operations.ts';
import { NEXT_PROOF_NUMBER, type ProofWriter, type StoredProof } from '../../proof/proof-log.ts';
import { entryOf, type ProofRecord } from '../../proof/record.ts';
import type { Uncovered } from '../model/selection.ts';

export interface Journalled {
  readonly id: number;
  readonly variant: Variant;
  readonly klaargezetOp: Date;
  /** `null`: it was never sent, or not completely. */
  readonly verzondenOp: Date | null;
  readonly requestId: string;
  readonly oin: string | null;
  readonly subject: string;
  readonly tokenHash: string;
  readonly fscTransactieId: string | null;
  /** `null`: delivered before traces were recorded. */
  readonly traceId: string | null;
  readonly spanId: string | null;
  /** The caller's; `null` in a trace that began here. */
  readonly parentSpanId: string | null;
  readonly vraag: string;
  readonly vraagDigest: string;
  readonly vraagHandtekening: string;
  readonly pagina: number;
  readonly paginaGrootte: number;
  readonly leveringen: readonly number[];
  readonly records: number;
  readonly bytes: number;
  readonly antwoordDigest: string;
  readonly antwoordHandtekening: string;
  readonly ongedekt: readonly Uncovered[];
  /** Absent: no delegation. A line without it has the same proof as before it was recorded. */
  readonly machtiging?: Machtiging | undefined;
}

interface Machtiging {
  /** The caller on behalf of the requester. */
  readonly gemachtigde?: string | undefined;
  /** The peer for whom this service is offered. */
  readonly publicatieNamens?: string | undefined;
}

/** The request, and the answer that is ready to be sent. */
export type JournalLine = Omit<Journalled, 'id' | 'klaargezetOp' | 'verzondenOp'>;
type Place = Pick<Journalled, 'id' | 'klaargezetOp'>;

const COLUMNS: Readonly<Record<keyof JournalLine, readonly [column: string, type: string]>> = {
  variant: ['variant', 'text'],
  requestId: ['request_id', 'uuid'],
  oin: ['oin', 'text'],
  subject: ['subject', 'text'],
  tokenHash: ['token_hash', 'text'],
  fscTransactieId: ['fsc_transaction_id', 'text'],
  traceId: ['trace_id', 'text'],
  spanId: ['span_id', 'text'],
  parentSpanId: ['parent_span_id', 'text'],
  vraag: ['request', 'text'],
  vraagDigest: ['request_digest', 'text'],
  vraagHandtekening: ['request_signature', 'text'],
  pagina: ['page', 'integer'],
  paginaGrootte: ['page_size', 'integer'],
  leveringen: ['leveringen', 'bigint[]'],
  records: ['records', 'integer'],
  bytes: ['bytes', 'bigint'],
  antwoordDigest: ['answer_digest', 'text'],
  antwoordHandtekening: ['answer_signature', 'text'],
  ongedekt: ['uncovered', 'jsonb'],
  machtiging: ['delegation', 'jsonb'],
};
const MEMBERS = Object.entries(COLUMNS);
const NOW = `date_trunc('milliseconds', clock_timestamp())`;
const INSERT = `insert into gegevens.journal
    (id, prepared_at, ${MEMBERS.map(([, [column]]) => column).join(', ')}, seed, proof_number, first_signature_hash)
  overriding system value
  select coalesce($2::bigint, nextval('gegevens.journal_id_seq')), coalesce($3::timestamptz, ${NOW}), l.*,
    $4::text, $5::bigint, $6::bytea
  from json_to_record($1::json) as l (${MEMBERS.map(([member, [, type]]) => `"${member}" ${type}`).join(', ')})
  returning id`;

/**
 * Sends the statements that write a line, in the caller's transaction. The first answer to a signed request has the unique hash of its signature
 * value, so concurrent callers with the same request wait for the first and then fail.
 * @returns its number, once the database has answered; rejects with a `DatabaseError` for which `isAnsweredMeanwhile` is true
 */
export async function writeJournal(
  db: Db,
  line: JournalLine,
  { proof, isFirst }: { readonly proof: ProofWriter | undefined; readonly isFirst: boolean },
): Promise<Sent<number>> {
  const signature = isFirst ? signatureHash(line.vraagHandtekening) : null;
  const insert = async (place?: Place, seed?: string, proofNumber?: number): Promise<number> => {
    const values = [JSON.stringify(line), place?.id, place?.klaargezetOp, seed, proofNumber, signature];
    const { rows } = await db.query<{ id: number }>({ name: 'gegevens-write-journal', text: INSERT, values });
    const [written] = rows;
    if (written === undefined) throw new TypeError('the journal gave no number');
    return written.id;
  };
  if (proof === undefined) return { result: insert() };
  // Its number and time are sealed with it.
  const { rows } = await db.query<Place & { proofNumber: number }>({
    name: 'gegevens-next-entry',
    text: `select nextval('gegevens.journal_id_seq') as id, ${NOW} as "klaargezetOp", ${NEXT_PROOF_NUMBER} as "proofNumber"`,
  });
  const [next] = rows;
  if (next === undefined) throw new TypeError('a sequence gave no number');
  const { proofNumber: number, ...place } = next;
  const { seed, entry } = proof.seal(proofRecordOf({ ...line, ...place, verzondenOp: null }));
  const written = insert(place, proof.encryptSeed(seedName(place.id), seed), number);
  const appended = proof.append(db, [{ number, entry }]);
  return { result: Promise.all([written, appended]).then(([id]) => id) };
}

/** Whether a line could not be written because the same signed request was answered meanwhile. */
export function isAnsweredMeanwhile(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.constraint === 'journal_first_signature';
}

export async function findFirstAnswer(
  db: Db,
  { variant, subject, vraagHandtekening }: Pick<JournalLine, 'variant' | 'subject' | 'vraagHandtekening'>,
): Promise<'none' | 'this caller' | 'another caller or variant'> {
  const { rows } = await db.query<{ same: boolean }>({
    name: 'gegevens-find-first-answer',
    text: `select variant = $2::text and subject = $3::text as same from gegevens.journal
      where first_signature_hash = $1::bytea`,
    values: [signatureHash(vraagHandtekening), variant, subject],
  });
  const [first] = rows;
  if (first === undefined) return 'none';
  return first.same ? 'this caller' : 'another caller or variant';
}

/** @param vraagHandtekening the signature header as received; only its last part, the signature value, counts */
function signatureHash(vraagHandtekening: string): Buffer {
  return hash('sha256', vraagHandtekening.slice(vraagHandtekening.lastIndexOf('.') + 1), 'buffer');
}

/** Records that the last byte of an answer was handed to the connection. */
export async function markSent(db: Db, id: number): Promise<void> {
  await db.query({
    name: 'gegevens-mark-sent',
    text: 'update gegevens.journal set sent_at = clock_timestamp() where id = $1::bigint and sent_at is null',
    values: [id],
  });
}

const LINE = ['id', ...MEMBERS.map(([member, [column]]) => `${column} as "${member}"`)]
  .toSpliced(2, 0, 'prepared_at as "klaargezetOp"', 'sent_at as "verzondenOp"')
  .join(', ');

type StoredLine = Omit<Journalled, 'machtiging'> & { readonly machtiging: Machtiging | null };

function toLine({ machtiging, ...line }: StoredLine): Journalled {
  return machtiging === null ? line : { ...line, machtiging };
}

interface ProvenDelivery {
  readonly line: Journalled;
  readonly seed: string | null;
  readonly proofNumber: number | null;
}

export async function readJournalAfter(db: Db, after: number, limit: number): Promise<ProvenDelivery[]> {
  const { rows } = await db.query<StoredLine & { seed: string | null; proofNumber: number | null }>(
    `select ${LINE}, seed, proof_number as "proofNumber" from gegevens.journal where id > $1::bigint order by id limit $2::int`,
    [after, limit],
  );
  return rows.map(({ seed, proofNumber, ...line }) => ({ line: toLine(line), seed, proofNumber }));
}

/** Newest first. @param id only this line */
export async function readJournal(
  db: Db,
  { id, limit }: { readonly id?: number | undefined; readonly limit: number },
): Promise<Journalled[]> {
  const { rows } = await db.query<StoredLine & Record<string, unknown>>(
    `select ${LINE} from gegevens.journal where $1::bigint is null or id = $1::bigint order by id desc limit $2::int`,
    [id ?? null, limit],
  );
  return rows.map(toLine);
}

const DELIVERY_PART = 'levering';

/** A line of the journal as `--json` prints it, without `verzondenOp`: that is written after the leaf. */
export function proofRecordOf({ verzondenOp: _, ...line }: Journalled): ProofRecord {
  return { parts: [[DELIVERY_PART, JSON.parse(JSON.stringify(line))]] };
}

function seedName(id: number): string {
  return `levering ${id}`;
}

/** Undefined when it is in no published checkpoint yet. @throws {Error} for operators: it was delivered before the log was switched on */
export async function proveDelivery(
  db: Db,
  writer: ProofWriter,
  { line, seed, proofNumber }: ProvenDelivery,
): Promise<string | undefined> {
  if (seed === null || proofNumber === null)
    throw new Error(`delivery ${line.id} is from before the proof log was switched on`);
  return await writer.prove(db, {
    record: proofRecordOf(line),
    seed: writer.decryptSeed(seedName(line.id), seed),
    number: proofNumber,
    shown: new Set([DELIVERY_PART]),
  });
}

export async function lastProven(db: Db): Promise<Date | undefined> {
  const { rows } = await db.query<{ at: Date | null }>(
    'select max(prepared_at) as at from gegevens.journal where proof_number is not null',
  );
  return rows[0]?.at ?? undefined;
}

const BATCH = 500;

export async function* storedDeliveries(db: Db, writer: ProofWriter): AsyncGenerator<StoredProof> {
  for (let after = 0; ; ) {
    const lines = await readJournalAfter(db, after, BATCH);
    for (const proven of lines) yield storedProof(proven, writer);
    const last = lines.at(-1);
    if (last === undefined) return;
    after = last.line.id;
  }
}

function storedProof({ line, seed, proofNumber }: ProvenDelivery, writer: ProofWriter): StoredProof {
  const name = `delivery ${line.id}`;
  if (proofNumber === null) {
    const fault = 'was recorded without an entry';
    return seed === null ? { name, recordedAt: line.klaargezetOp, fault } : { name, fault };
  }
  try {
    const leaf = entryOf(writer.decryptSeed(seedName(line.id), seed ?? ''), proofRecordOf(line));
    return { name, number: proofNumber, entry: leaf };
  } catch {
    return { name, number: proofNumber, fault: 'its seed cannot be read' };
  }
}

/** Deliveries of the last 30 days by day and variant, for the operator's page. Only counts: no recipients or persons. */
export function deliveriesSection(pool: Pool): OperatorSection {
  return {
    title: 'Deliveries of the last 30 days',
    read: async () => {
      const { rows } = await pool.query<(string | number)[]>({
        text: `select (prepared_at at time zone 'Europe/Amsterdam')::date::text, variant, count(*)::float8,
                 sum(records)::float8, to_char(sum(bytes) / 1e6, 'FM999999999990.0'),
                 count(*) filter (where sent_at is null)::float8
               from gegevens.journal
               where prepared_at > now() - interval '30 days'
               group by 1, 2
               order by 1 desc, 2`,
        rowMode: 'array',
      });
      return { columns: ['day', 'variant', 'answers', 'records', 'MB', 'not sent whole'], rows };
    },
  };
}
