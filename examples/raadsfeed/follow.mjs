/** Follows a council feed into SQLite: `node follow.mjs https://HOST/ori/v1/ copy.sqlite`. Run it every minute; see docs/raadsfeed.md. */
import { DatabaseSync } from 'node:sqlite';

const [address, path] = process.argv.slice(2);
const get = async (url) => {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  return answer.json();
};
const db = new DatabaseSync(path);
db.exec(`pragma secure_delete = on; create table if not exists place (cursor text);
  create table if not exists copy (key text primary key, number integer unique, data text)`);
const apply = ({ op, resourceType, resource, sequenceNumber, data, geredigeerdeSequenceNumbers: numbers }) => {
  const key = JSON.stringify([resourceType, resource.organisatiecode, resource.bronidentificatie]);
  if (op === 'upsert')
    db.prepare('insert or replace into copy values (?, ?, ?)').run(key, sequenceNumber, JSON.stringify(data));
  else if (op === 'delete') db.prepare('delete from copy where key = ?').run(key);
  else for (const number of numbers) db.prepare('delete from copy where number = ?').run(number);
};
const service = await get(address);
const place = db.prepare('select cursor from place').get();
let url = place ? `${service.feedUrl}?cursor=${encodeURIComponent(place.cursor)}` : service.snapshotUrl;
if (!place) db.exec('delete from copy');
for (let first; url; ) {
  const page = await get(url);
  first ??= page;
  db.exec('begin'); // one transaction: the records, and how far they were read
  for (const record of page.records) apply(record);
  if (place || !page.hasMore) {
    db.exec('delete from place');
    db.prepare('insert into place values (?)').run(place ? page.cursor : first.feedCursor);
  }
  db.exec('commit');
  url = page.hasMore ? page.next : null;
}
