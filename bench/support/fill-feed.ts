/** Fills a feed with council information in minutes: the texts of its records are those that the writer makes, copied in without the writer. */
import { once } from 'node:events';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { prepareChange } from '../../src/raadsfeed/domain/change.ts';
import { recordText } from '../../src/raadsfeed/domain/record-text.ts';
import { documentData, itemData, meetingData, PER_MEETING } from './council-texts.ts';

/** Items of one meeting. */
const ITEMS = 5;
/** Records of one meeting: itself, its items, their documents. */
const RECORDS = 1 + ITEMS + PER_MEETING;
const BATCH = 50_000;

/** Fills a feed up to so many records; those that it has stay. */
export async function fillFeed(url: string, records: number): Promise<void> {
  const client = new pg.Client({ connectionString: url, options: '-c synchronous_commit=off' });
  await client.connect();
  try {
    const { rows } = await client.query<{ head: string }>('select head from raadsfeed.feed');
    for (let head = Number(rows[0]?.head); head < records; head = Math.min(records, head + BATCH))
      await fillBatch(client, head + 1, Math.min(records, head + BATCH));
    await client.query('vacuum analyze');
    await client.query('checkpoint');
  } finally {
    await client.end();
  }
}

async function fillBatch(client: pg.Client, first: number, last: number): Promise<void> {
  await client.query('select raadsfeed.ensure_text_partitions($1::bigint)', [last]);
  await client.query(
    'create temporary table if not exists filling (n bigint, t text, o text, b text, naam text, hash text, a text, z text)',
  );
  const copy = client.query(copyFrom('copy filling from stdin'));
  const storedAt = new Date().toISOString();
  for (let n = first; n <= last; n += 1) {
    const change = changeOf(n);
    if (change.op !== 'upsert') throw new TypeError('only what is there is filled in');
    const { resourceType, resource, organisatienaam, contentHash } = change;
    const { prefix, suffix } = recordText(change, n, storedAt);
    const values = [
      n,
      resourceType,
      resource.organisatiecode,
      resource.bronidentificatie,
      organisatienaam,
      contentHash,
      prefix,
      suffix,
    ];
    // No text of the bench has a tab, a new line or a backslash but JSON's own.
    if (!copy.write(`${values.map((value) => String(value).replaceAll('\\', '\\\\')).join('\t')}\n`))
      await once(copy, 'drain');
  }
  copy.end();
  await once(copy, 'finish');
  await client.query(`
    insert into raadsfeed.organisatie (organisatiecode, naam, laatst_bijgewerkt) select o, min(naam), now() from filling group by o on conflict do nothing;
    insert into raadsfeed.record (sequence_number, op, resource_type, organisatiecode, bronidentificatie, stored_at)
      select n, 'upsert', t, o, b, '${storedAt}' from filling;
    insert into raadsfeed.texts (sequence_number, epoch, record_prefix, record_suffix) select n, 0, a, z from filling;
    insert into raadsfeed.current_records (organisatiecode, resource_type, bronidentificatie, sequence_number, content_hash) select o, t, b, n, hash from filling;
    update raadsfeed.feed set head = ${last}, head_epoch = 0, last_stored_at = '${storedAt}';
    truncate filling`);
}

/** Record number `n`: each meeting, then its items, then its documents, of which the first are under the items. */
function changeOf(n: number) {
  const m = Math.floor((n - 1) / RECORDS);
  const k = (n - 1) % RECORDS;
  if (k === 0) return prepareChange({ op: 'upsert', resourceType: 'Vergadering', data: meetingData(m) });
  if (k <= ITEMS) return prepareChange({ op: 'upsert', resourceType: 'Agendapunt', data: itemData(m, k) });
  const place = k - 1 - ITEMS;
  const agendapunten = place < ITEMS ? [{ bronidentificatie: `a-${m}-${place + 1}` }] : [];
  const data = { ...documentData(m * PER_MEETING + place), agendapunten };
  return prepareChange({ op: 'upsert', resourceType: 'Informatieobject', data });
}
