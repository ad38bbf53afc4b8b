import type { Db } from '../../kernel/database/transaction.ts';
import type { Uncovered } from '../domain/choose-leveringen.ts';
import type { Variant } from '../domain/model/mapping.ts';

/** One delivery as the journal has it. */
export interface Journalled {
  readonly id: number;
  readonly variant: Variant;
  readonly klaargezetOp: Date;
  /** `null`: it never left, or not whole. */
  readonly verzondenOp: Date | null;
  readonly requestId: string;
  readonly oin: string | null;
  readonly subject: string;
  readonly tokenHash: string;
  readonly fscTransactieId: string | null;
  readonly vraag: string;
  readonly vraagDigest: string;
  readonly vraagHandtekening: string;
  readonly pagina: number;
  readonly paginaGrootte: number;
  readonly leveringen: number[];
  readonly records: number;
  readonly bytes: number;
  readonly antwoordDigest: string;
  readonly antwoordHandtekening: string;
  /** Days asked for that no delivery covered. */
  readonly ongedekt: Uncovered[];
}

export interface JournalQuery {
  readonly variant?: Variant | undefined;
  readonly oin?: string | undefined;
  /** From this moment on. */
  readonly since?: Date | undefined;
  readonly id?: number | undefined;
  /** Most entries. */
  readonly limit: number;
}

/** Entries of the journal, newest first. */
export async function readJournal(db: Db, { variant, oin, since, id, limit }: JournalQuery): Promise<Journalled[]> {
  const { rows } = await db.query<Journalled & Record<string, unknown>>(
    `select id, variant, klaargezet_op as "klaargezetOp", verzonden_op as "verzondenOp", request_id as "requestId", oin, subject,
       token_hash as "tokenHash", fsc_transactie_id as "fscTransactieId", vraag, vraag_digest as "vraagDigest",
       vraag_handtekening as "vraagHandtekening", pagina, pagina_grootte as "paginaGrootte", leveringen, records, bytes,
       antwoord_digest as "antwoordDigest", antwoord_handtekening as "antwoordHandtekening", ongedekt
     from gegevens.journaal
     where ($1::text is null or variant = $1::text) and ($2::text is null or oin = $2::text)
       and ($3::timestamptz is null or klaargezet_op >= $3::timestamptz) and ($4::bigint is null or id = $4::bigint)
     order by id desc limit $5::int`,
    [variant ?? null, oin ?? null, since ?? null, id ?? null, limit],
  );
  return rows;
}
