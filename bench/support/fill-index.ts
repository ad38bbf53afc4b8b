/**
 * Fills the search index with many documents in minutes: their rows are made by the index's own code and its own expression for the words,
 * copied in without the feed around them, and their index of words is made afterwards. The feed has only what pages look at: that they are
 * current.
 */
import { once } from 'node:events';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { JsonObject } from '../../src/kernel/json-value.ts';
import type { Resource, ResourceType } from '../../src/raadsfeed/domain/resource.ts';
import { toEntry } from '../../src/raadsfeed/search/entry.ts';
import { WORDS } from '../../src/raadsfeed/search/write-index.ts';
import { documentData, meetingData, PER_MEETING } from './council-texts.ts';

/** Numbers of filled rows: no feed of a bench publishes as many. */
export const FIRST_NUMBER = 1_000_000_000;
const BATCH = 10_000;
const COLUMNS = 'o, t, b, n, opgeslagen, titel, datum, soort, vergadering, gremium, gremiumnaam, kort, a, w, x, p';

/** Connections that fill beside each other. */
const WORKERS = 2;

/** Fills in documents with these numbers, and the meetings that they belong to. @returns how long it took, in milliseconds */
export async function fillIndex(
  url: string,
  first: number,
  last: number,
): Promise<{ rowsMs: number; wordsMs: number }> {
  const since = performance.now();
  const clients = Array.from({ length: WORKERS }, () => new pg.Client(url));
  await Promise.all(clients.map((client) => client.connect()));
  const [any] = clients;
  try {
    await any?.query('drop index if exists raadsfeed_zoek.stuk_woorden');
    let next = first;
    const work = async (client: pg.Client): Promise<void> => {
      await client.query(`set synchronous_commit = off; set maintenance_work_mem = '512MB';
        create temporary table vul (o text, t text, b text, n bigint, opgeslagen timestamptz, titel text, datum timestamptz, soort text,
          vergadering text, gremium text, gremiumnaam text, kort jsonb, a text, w text, x text, p text)`);
      while (next < last) {
        const at = next;
        next = Math.min(last, at + BATCH);
        await fillBatch(client, at, next);
      }
    };
    await Promise.all(clients.map(work));
    const rowsMs = performance.now() - since;
    await any?.query('create index stuk_woorden on raadsfeed_zoek.stuk using gin (woorden)');
    return { rowsMs, wordsMs: performance.now() - since - rowsMs };
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}

/** Documents that are filled in already. */
export async function countFilled(url: string): Promise<number> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const { rows } = await client.query('select max(nummer) as last from raadsfeed_zoek.stuk');
    const last = Number(rows[0]?.last ?? 0);
    return last < FIRST_NUMBER ? 0 : (last - FIRST_NUMBER + 1) / 2;
  } finally {
    await client.end();
  }
}

async function fillBatch(client: pg.Client, first: number, last: number): Promise<void> {
  const copy = client.query(copyFrom(`copy vul (${COLUMNS}) from stdin`));
  for (let i = first; i < last; i += 1) {
    const m = Math.floor(i / PER_MEETING);
    const meeting = meetingData(m);
    const body = meeting.georganiseerddoorgremium;
    if (i % PER_MEETING === 0) copy.write(row('Vergadering', FIRST_NUMBER + 2 * i, meeting, {}));
    const known = { gremium: body.gremiumidentificatie, gremiumnaam: body.gremiumnaam };
    if (!copy.write(row('Informatieobject', FIRST_NUMBER + 2 * i + 1, documentData(i), known)))
      await once(copy, 'drain');
  }
  copy.end();
  await once(copy, 'finish');
  await client.query(`
    insert into raadsfeed.organisatie (organisatiecode, naam, laatst_bijgewerkt)
      select distinct o, 'Gemeente ' || right(o, 2)::integer, now() from vul on conflict do nothing;
    insert into raadsfeed.stand (organisatiecode, resource_type, bronidentificatie, sequence_number, content_hash) select o, t, b, n, '' from vul;
    insert into raadsfeed_zoek.verwijzing (organisatiecode, van_type, van, naar_organisatie, naar_type, naar)
      select o, t, b, o, 'Vergadering', vergadering from vul where vergadering is not null;
    insert into raadsfeed_zoek.stuk
        (nummer, organisatiecode, resource_type, bronidentificatie, opgeslagen, titel, datum, soort, vergadering, gremium, gremiumnaam, kort, woorden)
      select n, o, t, b, opgeslagen, titel, datum, soort, vergadering, gremium, gremiumnaam, kort, ${WORDS} from vul;
    truncate vul`);
}

function row(
  resourceType: ResourceType,
  sequenceNumber: number,
  data: JsonObject & { readonly bronidentificatie: string; readonly organisatie: { readonly gemeente: string } },
  known: { readonly gremium?: string; readonly gremiumnaam?: string },
): string {
  const resource: Resource = { organisatiecode: data.organisatie.gemeente, bronidentificatie: data.bronidentificatie };
  const entry = { ...toEntry(resourceType, resource, data), ...known };
  const values = [
    ...[resource.organisatiecode, resourceType, resource.bronidentificatie, String(sequenceNumber)],
    ...[new Date().toISOString(), entry.titel, entry.datum, entry.soort, entry.vergadering, entry.gremium],
    ...[entry.gremiumnaam, JSON.stringify(entry.kort), ...entry.words],
  ];
  // No text of the bench has a tab, a new line or a backslash but JSON's own.
  return `${values.map((value) => value?.replaceAll('\\', '\\\\') ?? '\\N').join('\t')}\n`;
}
