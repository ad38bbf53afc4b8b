import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from '../../kernel/database/pool.ts';
import { type Db, transaction } from '../../kernel/database/transaction.ts';
import type { Uncovered } from '../domain/choose-leveringen.ts';
import type { Variant } from '../domain/model/mapping.ts';

/** What was asked and what stands ready to be delivered. */
export interface JournalEntry {
  readonly variant: Variant;
  readonly requestId: string;
  readonly oin: string | undefined;
  readonly subject: string;
  readonly tokenHash: string;
  readonly fscTransactieId: string | undefined;
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
}

/** To whom a signed request was answered first. */
export interface Answered {
  readonly variant: Variant;
  readonly subject: string;
}

export function isSameCaller(a: Answered, b: Answered): boolean {
  return a.variant === b.variant && a.subject === b.subject;
}

/** @param handtekening the signature header as received; its last part, the signature value, is what counts */
export async function findAnswered(db: Db, handtekening: string): Promise<Answered | undefined> {
  const { rows } = await db.query<{ variant: Variant; subject: string }>({
    name: 'gegevens-find-answered',
    text: `select variant, subject from gegevens.journaal
      where hashtextextended(split_part(vraag_handtekening, '.', 3), 0) = hashtextextended($1::text, 0)
        and split_part(vraag_handtekening, '.', 3) = $1::text
      order by id limit 1`,
    values: [signatureValue(handtekening)],
  });
  return rows[0];
}

const LOCK_ATTEMPTS = 200;
const LOCK_WAIT_MS = 20;

/**
 * Writes an entry before anything is sent.
 * @returns its number; undefined when the same signed request was answered to another caller, or in the other variant, meanwhile
 * @throws {Error} when the same signed request is being written all the time; what the database throws
 */
export async function writeJournal(pool: Pool, entry: JournalEntry): Promise<number | undefined> {
  for (let attempt = 0; attempt < LOCK_ATTEMPTS; attempt += 1) {
    // Two who come with the same signed request at once must not both be the first. Who waits holds no connection meanwhile.
    if (attempt > 0) await delay(LOCK_WAIT_MS);
    const written = await transaction(pool, async (client) => {
      const { rows } = await client.query<{ mine: boolean }>({
        name: 'gegevens-lock-signature',
        text: 'select pg_try_advisory_xact_lock(hashtextextended($1::text, 0)) as mine',
        values: [signatureValue(entry.vraagHandtekening)],
      });
      if (rows[0]?.mine !== true) return 'busy';
      const answered = await findAnswered(client, entry.vraagHandtekening);
      return answered === undefined || isSameCaller(answered, entry) ? await insertEntry(client, entry) : undefined;
    });
    if (written !== 'busy') return written;
  }
  throw new Error('the same signed request is being written by others all the time');
}

function signatureValue(handtekening: string): string {
  return handtekening.split('.')[2] ?? '';
}

async function insertEntry(db: Db, entry: JournalEntry): Promise<number> {
  const { rows } = await db.query<{ id: number }>({
    name: 'gegevens-write-journal',
    text: `insert into gegevens.journaal
        (variant, request_id, oin, subject, token_hash, fsc_transactie_id, vraag, vraag_digest, vraag_handtekening, pagina,
         pagina_grootte, leveringen, records, bytes, antwoord_digest, antwoord_handtekening, ongedekt)
      values ($1::text, $2::uuid, $3::text, $4::text, $5::text, $6::text, $7::text, $8::text, $9::text, $10::int,
         $11::int, $12::bigint[], $13::int, $14::bigint, $15::text, $16::text, $17::jsonb)
      returning id`,
    values: [
      entry.variant,
      entry.requestId,
      entry.oin ?? null,
      entry.subject,
      entry.tokenHash,
      entry.fscTransactieId ?? null,
      entry.vraag,
      entry.vraagDigest,
      entry.vraagHandtekening,
      entry.pagina,
      entry.paginaGrootte,
      entry.leveringen,
      entry.records,
      entry.bytes,
      entry.antwoordDigest,
      entry.antwoordHandtekening,
      JSON.stringify(entry.ongedekt),
    ],
  });
  return rows[0]?.id ?? 0;
}

/** Notes that the last byte of an answer was handed to the connection. */
export async function noteSent(db: Db, id: number): Promise<void> {
  await db.query({
    name: 'gegevens-note-sent',
    text: 'update gegevens.journaal set verzonden_op = clock_timestamp() where id = $1::bigint and verzonden_op is null',
    values: [id],
  });
}
