/**
 * A consumer of council feeds driven by lines of JSON; see docs/conformance.md. For each
 * `{"do":"follow","feed":"ADDRESS"}` on its standard input it catches up with that feed and prints its copy. Replace
 * `follow` with your own consumer.
 *
 *     koppelvlak-conformance raadsfeed-consumer --program 'node consumer.mjs'
 */
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';

const MAX_BYTES = 32 * 1024 * 1024;
/**
 * By address of a service document: the resources, the cursor to continue from, and the time until which the feed asked
 * to wait.
 */
const copies = new Map();

async function get(copy, address, cursor) {
  const url = new URL(address);
  if (cursor) url.searchParams.set('cursor', cursor);
  if (copy.waitUntil > Date.now()) await wait(copy.waitUntil - Date.now());
  const answer = await fetch(url, { headers: { accept: 'application/json' }, signal: AbortSignal.timeout(10_000) });
  const later = answer.headers.get('retry-after');
  if (later) copy.waitUntil = /^\d+$/.test(later) ? Date.now() + 1000 * later : Date.parse(later);
  const pieces = [];
  let size = 0;
  for await (const piece of answer.body) {
    size += piece.length;
    if (size > MAX_BYTES) throw new Error(`more than ${MAX_BYTES} bytes`);
    pieces.push(piece);
  }
  const body = JSON.parse(Buffer.concat(pieces).toString());
  if (answer.ok) return body;
  const isLost = cursor && (answer.status === 410 || String(body.type).endsWith('ongeldige-cursor'));
  throw Object.assign(new Error(`status ${answer.status}`), { isLost });
}

async function readPage(copy, address, cursor) {
  const page = await get(copy, address, cursor);
  if (!Array.isArray(page?.records) || typeof page.hasMore !== 'boolean') throw new Error('this is not a page');
  if (page.hasMore && (!page.cursor || page.cursor === cursor)) throw new Error('the cursor does not move on');
  return page;
}

function apply(state, record, organisations) {
  const { op, resourceType, resource, sequenceNumber: number, data } = record;
  const key = JSON.stringify([resourceType, resource.organisatiecode, resource.bronidentificatie]);
  if (op === 'redact') {
    const numbers = new Set(record.geredigeerdeSequenceNumbers);
    for (const [one, held] of state) if (numbers.has(held.number)) state.delete(one);
  } else if (!organisations.has(resource.organisatiecode)) {
    process.stderr.write(`record ${number} is of ${resource.organisatiecode}, which the feed does not name\n`);
  } else if (op === 'delete') {
    state.delete(key);
  } else if (op === 'upsert' && data) {
    state.set(key, { number, resourceType, resource, data });
  } else {
    process.stderr.write(`record ${number} cannot be used\n`);
  }
}

async function follow(copy, feed) {
  const service = await get(copy, `${feed}/`);
  const organisations = new Set(service.organisaties.map(({ organisatiecode }) => organisatiecode));
  if (!copy.cursor) {
    const state = new Map();
    const first = await readPage(copy, service.snapshotUrl);
    for (let page = first; ; page = await readPage(copy, service.snapshotUrl, page.cursor)) {
      for (const record of page.records) apply(state, record, organisations);
      if (!page.hasMore) break;
    }
    Object.assign(copy, { state, cursor: first.feedCursor });
  }
  for (let hasMore = true; hasMore; ) {
    const page = await readPage(copy, service.feedUrl, copy.cursor);
    // All of a page or none of it: the resources change together with the cursor.
    const state = new Map(copy.state);
    for (const record of page.records) apply(state, record, organisations);
    Object.assign(copy, { state, cursor: page.cursor });
    hasMore = page.hasMore;
  }
}

async function answerTo({ feed }) {
  const copy = copies.get(feed) ?? { state: new Map(), cursor: undefined, waitUntil: 0 };
  copies.set(feed, copy);
  let fault;
  try {
    await follow(copy, feed);
  } catch (error) {
    fault = error.message;
    if (error.isLost) copy.cursor = undefined;
  }
  return { state: [...copy.state.values()].map(({ number: _, ...resource }) => resource), fault };
}

for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(await answerTo(JSON.parse(line)))}\n`);
