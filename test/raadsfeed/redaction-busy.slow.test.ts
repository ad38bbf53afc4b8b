/** Redactions while others read, write and redact. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/time.ts';
import { verifyFeed } from '../../src/raadsfeed/verify/verify-feed.ts';
import { filesWith } from './database-files.ts';
import {
  asPage,
  document,
  type FeedServer,
  PATIENT,
  publishLines,
  readRecords,
  redactAndDie,
  removal,
  servicePool,
  startFeed,
  vergadering,
} from './support.ts';

const SECRET = 'Persoonsgegeven-Van-Pietersen';

let feed: FeedServer;
beforeAll(async () => {
  feed = await startFeed();
});
afterAll(() => feed.stop());

const verified = async () => {
  const options = { clock: systemClock, signal: new AbortController().signal, progress: () => undefined };
  return (await verifyFeed(feed.pool, options)).faults;
};

it('leaves nothing of any of them when several processes redact, publish and read at once', async () => {
  const ids = Array.from({ length: 40 }, (_, i) => `d-${i}`);
  // Twice, with others in between.
  for (const version of [1, 2]) {
    await feed.publish(ids.map((id) => document(id, { omschrijving: `${SECRET} ${version}` })));
    await feed.publish(Array.from({ length: 1000 }, (_, i) => vergadering(`vul-${version}-${i}`)));
  }
  const other = await feed.another();
  let isReading = true;
  const readers = [feed.mount, other.mount].map(async (mount) => {
    while (isReading) {
      const path = `/feed?limit=${1 + Math.floor(Math.random() * 500)}&resourceType=Informatieobject`;
      expect((await fetch(mount + path)).status).toBe(200);
    }
  });
  const writers = Array.from({ length: 5 }, async (_, writer) => {
    const pool = servicePool(feed.databaseUrl, 2);
    for (const [i, id] of ids.entries()) {
      if (i % 5 !== writer) continue;
      const [outcome] = await publishLines(pool, [removal('redact', 'Informatieobject', id)]);
      expect(outcome).toMatchObject({ redacted: [expect.any(Number), expect.any(Number)] });
      await publishLines(pool, [vergadering(`na-${id}`)]);
    }
    await pool.end();
  });
  await Promise.all(writers);
  isReading = false;
  await Promise.all(readers);
  expect(await filesWith(feed.databaseUrl, SECRET)).toEqual([]);
  expect((await readRecords(feed.api, '/feed?resourceType=Informatieobject')).map(({ op }) => op)).toEqual(
    Array.from({ length: 120 }, () => 'redact'),
  );
  expect(await verified()).toEqual([]);
});

it('leaves the bytes of every other record unchanged', async () => {
  const recordsOf = async () => (await feed.api.call('GET', '/feed?limit=60')).text.split(',"cursor":')[0] ?? '';
  const before = await recordsOf();
  await feed.publish([vergadering('vul-1-0', { locatie: 'Raadzaal' }), removal('redact', 'Vergadering', 'vul-1-15')]);
  const [after, other] = [await recordsOf(), before.split('"bronidentificatie":"vul-1-15"')];
  expect(after).not.toBe(before);
  // Only the redacted record differs, from its `op` to the end of its data.
  const same = (text: string): string => text.replace(/\{"sequenceNumber":56,.*?\}(?=,\{"sequenceNumber":57,)/, '');
  expect(other.length).toBeGreaterThan(1);
  expect(same(after)).toBe(same(before));
});

/** The running feed may rewrite its files between the commit and the check: then another document is tried. */
async function redactedAndLeft(name: string): Promise<string> {
  for (let attempt = 1; attempt <= 10; attempt++) {
    const id = `${name}-${attempt}`;
    await feed.publish([document(id, { omschrijving: SECRET }), vergadering(`achter-${id}`)]);
    await redactAndDie(feed.pool, id);
    if ((await filesWith(feed.databaseUrl, SECRET)).length > 0) return id;
  }
  throw new Error('every redaction was finished by the running feed');
}

it('is completed by the same line, published again, when it was interrupted after its commit', async () => {
  const id = await redactedAndLeft('d-weer');
  expect(await feed.publish([removal('redact', 'Informatieobject', id)])).toEqual(['no-op']);
  expect(await filesWith(feed.databaseUrl, SECRET)).toEqual([]);
});

it('is completed by the next service that starts, when its process died after its commit', async () => {
  await redactedAndLeft('d-dood');
  await feed.another();
  await expect.poll(() => filesWith(feed.databaseUrl, SECRET), PATIENT).toEqual([]);
});

it('between two pages of a snapshot takes its content out of the rest, and is in the feed after it', async () => {
  const busy = await startFeed();
  await busy.publish(Array.from({ length: 10 }, (_, i) => document(`s-${i}`, { omschrijving: SECRET })));
  const first = asPage((await busy.api.call('GET', '/snapshot?limit=5')).json);
  await busy.publish(['s-1', 's-8'].map((id) => removal('redact', 'Informatieobject', id)));
  const rest = asPage((await busy.api.call('GET', `/snapshot?limit=5&cursor=${first.cursor}`)).json);
  expect(rest.records.map(({ resource }) => resource.bronidentificatie)).toEqual(['s-5', 's-6', 's-7', 's-9']);
  expect(rest).toMatchObject({ feedCursor: first.feedCursor, hasMore: false });
  const after = asPage((await busy.api.call('GET', `/feed?cursor=${first.feedCursor}`)).json);
  expect(after.records).toMatchObject([
    { op: 'redact', geredigeerdeSequenceNumbers: [2] },
    { op: 'redact', geredigeerdeSequenceNumbers: [9] },
  ]);
  await busy.stop();
});
