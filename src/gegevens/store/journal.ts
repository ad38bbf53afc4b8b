import type { Db } from '../../kernel/database/db.ts';
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

/** Writes an entry before anything is sent. @returns its number */
export async function writeJournal(db: Db, entry: JournalEntry): Promise<number> {
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
