/**
 * Follows a council feed into SQLite: `node follow.mjs https://HOST/ori/v1/ copy.sqlite`, with Node 22.13 or newer. Run it every minute; see
 * docs/raadsfeed.md.
 */
import { DatabaseSync } from 'node:sqlite';

const [address, path] = process.argv.slice(2);
const get = async (url) => {
  const answer = await fetch(url);
  if (answer.ok) return answer.json();
  const text = await answer.text();
  const isExpired = text.includes('/problems/ongeldige-cursor');
  throw Object.assign(new Error(`${answer.status} ${text}`), { isExpired });
};
const db = new DatabaseSync(path);
db.exec(`pragma secure_delete = on; create table if not exists place (cursor text);
  create table if not exists copy (key text primary key, number integer unique, data text);
  create temporary table seen (key text primary key)`);
const apply = ({ op, resourceType, resource, sequenceNumber, data, geredigeerdeSequenceNumbers: numbers }) => {
  const key = JSON.stringify([resourceType, resource.organisatiecode, resource.bronidentificatie]);
  if (op === 'upsert') {
    db.prepare('insert or replace into copy values (?, ?, ?)').run(key, sequenceNumber, JSON.stringify(data));
    db.prepare('insert or ignore into seen values (?)').run(key);
  } else if (op === 'delete') db.prepare('delete from copy where key = ?').run(key);
  else for (const number of numbers) db.prepare('delete from copy where number = ?').run(number);
};
const read = async (start, isSnapshot = false) => {
  for (let first, url = start; url; ) {
    const page = await get(url);
    first ??= page;
    db.exec('begin'); // one transaction: the records, and the cursor after them
    for (const record of page.records) apply(record);
    if (isSnapshot && !page.hasMore) db.exec('delete from copy where key not in (select key from seen)');
    if (!isSnapshot || !page.hasMore) {
      db.exec('delete from place');
      db.prepare('insert into place values (?)').run(isSnapshot ? first.feedCursor : page.cursor);
    }
    db.exec('commit');
    url = page.hasMore ? page.next : null;
  }
};
const service = await get(address);
let place = db.prepare('select cursor from place').get();
try {
  if (place) await read(`${service.feedUrl}?cursor=${encodeURIComponent(place.cursor)}`);
} catch (error) {
  if (!error.isExpired) throw error;
  place = undefined; // the history was pruned, or restored from a backup
}
if (!place) await read(service.snapshotUrl, true);
