/** The keys of log lines of LDV: by client, trace and span a line is stored once. They live as long as their line. */

import type { Db } from '../../../database/transaction.ts';
import type { KeyOfLine, LineKey } from '../../domain/line-key.ts';
import { contentOf, type LdvLine, readLine } from '../stored-line.ts';

export function lineKeyOf({ client, span }: LdvLine, hash: (text: string) => string): LineKey {
  return {
    key: hash(`ldv-sleutel\n${client}\n${span.traceId}\n${span.spanId}`),
    content: hash(`ldv-inhoud\n${contentOf(span)}`),
  };
}

export const keyOfLine: KeyOfLine = (line, hash) => lineKeyOf(readLine(line), hash);

/** In one order, so that two requests cannot deadlock. @param hashedWith the log key; `null`: the one that their versions are encrypted with */
export async function takeLineKeys(
  db: Db,
  wanted: readonly (LineKey & { readonly actieId: string })[],
  hashedWith: string | null,
): Promise<Set<string>> {
  const { rows } = await db.query<{ key: string }>({
    name: 'verwerkingenlog-ldv-take-keys',
    text: `insert into verwerkingenlog.ldv_keys (key_hash, content_hash, actie_id, hashed_with)
      select s.*, $4::text from unnest($1::uuid[], $2::uuid[], $3::uuid[]) as s(key_hash, content_hash, actie_id)
      order by key_hash on conflict do nothing returning key_hash as key`,
    values: [
      wanted.map(({ key }) => key),
      wanted.map(({ content }) => content),
      wanted.map(({ actieId }) => actieId),
      hashedWith,
    ],
  });
  return new Set(rows.map(({ key }) => key));
}

export async function readLineKeys(db: Db, keys: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await db.query<{ key: string; content: string }>({
    name: 'verwerkingenlog-ldv-read-keys',
    text: 'select key_hash as key, content_hash as content from verwerkingenlog.ldv_keys where key_hash = any($1::uuid[])',
    values: [keys],
  });
  return new Map(rows.map(({ key, content }) => [key, content]));
}
