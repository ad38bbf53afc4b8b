/** The proof log of the feed, by its public addresses. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { readOpenapi } from '../../src/lib/openapi-document.ts';
import { leafHash } from '../../src/proof/tlog/merkle.ts';
import { checkpointIn } from '../../src/proof/tlog/note.ts';
import { PATIENT, publishLines, vergadering } from '../raadsfeed/support.ts';
import { getText, hasLeaves, judge, type ProofFeed, startProofFeed } from './support.ts';
import { decodeBundle } from './tlog/grown-tree.ts';

let feed: ProofFeed;
let log: string;
let key: string;

beforeAll(async () => {
  feed = await startProofFeed();
  log = `${feed.server.url}/proof/v1/raadsfeed`;
  key = (await getText(`${log}/key`)).text;
});
afterAll(() => feed.stop());

async function recordOf(number: number): Promise<Record<string, unknown>> {
  const { json } = await feed.api.call('GET', '/feed?limit=1000');
  const records = isRecord(json) && Array.isArray(json.records) ? json.records.filter(isRecord) : [];
  const { resourceUrl: _, ...record } = records.find(({ sequenceNumber }) => sequenceNumber === number) ?? {};
  return record;
}

async function proofOf(number: number): Promise<string> {
  let text = '';
  await expect
    .poll(async () => {
      const answer = await feed.get(`/raadsfeed/record/${number}`);
      text = answer.text;
      return answer.status;
    }, PATIENT)
    .toBe(200);
  return text;
}

it('has its contract', async () => {
  const { servers, ...served } = JSON.parse((await feed.get('/openapi.json')).text);
  const { servers: _example, ...written } = readOpenapi(new URL('../../openapi/proof.yaml', import.meta.url));
  expect(served).toEqual(written);
  expect(servers).toEqual([{ url: `${feed.server.url}/proof/v1` }]);
});

it('begins with an empty tree that is signed', async () => {
  expect(checkpointIn((await getText(`${log}/checkpoint`)).text)).toMatchObject({
    origin: '127.0.0.1/proof/v1/raadsfeed',
    size: 0,
  });
});

it('proves each record as served, and nothing that differs from it', async () => {
  await feed.prove([vergadering('een'), vergadering('twee')]);
  await feed.prove([vergadering('drie', { naam: 'Één “naam” \u{1f600} 1e21' })]);
  await hasLeaves(log, 3);
  for (const number of [1, 2, 3]) {
    const proof = await proofOf(number);
    const record = await recordOf(number);
    expect(judge(proof, { record }, key)).toMatchObject({ isProven: true });
    expect(judge(proof, { record: { ...record, op: 'delete' } }, key)).toMatchObject({ isProven: false });
    expect(judge(proof, { record: await recordOf((number % 3) + 1) }, key)).toMatchObject({ isProven: false });
  }
});

it('serves immutable tiles and bundles, with an ETag, to any page', async () => {
  const tile = await fetch(`${log}/tile/0/000.p/2`);
  const entries = await fetch(`${log}/tile/entries/000.p/2`);
  expect(tile.headers.get('cache-control')).toContain('immutable');
  expect(tile.headers.get('access-control-allow-origin')).toBe('*');
  expect(tile.headers.get('content-type')).toBe('application/octet-stream');
  const hashes = Buffer.from(await tile.arrayBuffer());
  const bundle = decodeBundle(Buffer.from(await entries.arrayBuffer()));
  expect(bundle.map(({ length }) => length)).toEqual([33, 33]);
  expect(Buffer.concat(bundle.map(leafHash)).equals(hashes)).toBe(true);
  const again = await getText(`${log}/tile/0/000.p/2`, { 'if-none-match': tile.headers.get('etag') ?? '' });
  expect(again.status).toBe(304);
  for (const path of ['tile/0/000', 'tile/0/001.p/1', 'tile/1/000', 'tile/0/000.p/200', 'tile/0/0', 'nothing', '2/key'])
    expect((await getText(`${log}/${path}`)).status, path).toBe(404);
});

it('answers 404 for unpublished numbers, and 410 without a seed for redacted ones', async () => {
  expect((await feed.get('/raadsfeed/record/99999')).status).toBe(404);
  expect((await feed.get('/raadsfeed/record/0')).status).toBe(404);
  const resource = { organisatiecode: 'gm9901', bronidentificatie: 'een' };
  await feed.prove([{ op: 'redact', resourceType: 'Vergadering', resource, verwijderreden: 'persoonsgegevens' }]);
  expect((await feed.get('/raadsfeed/record/1')).status).toBe(410);
  const { rows } = await feed.pool.query('select seed from raadsfeed.records where sequence_number = 1');
  expect(rows).toEqual([{ seed: null }]);
  expect(judge(await proofOf(4), { record: await recordOf(4) }, key)).toMatchObject({ isProven: true });
});

it('refuses to publish without the key', async () => {
  await expect(publishLines(feed.pool, [vergadering('zonder')])).rejects.toThrow(/PROOF_SEALING_KEY/);
});

it('keeps the last checkpoint outside the database, and signs nothing that does not extend it', async () => {
  const note = await hasLeaves(log, 4);
  expect(JSON.parse(readFileSync(feed.state.path, 'utf8'))).toMatchObject({ '127.0.0.1/proof/v1/raadsfeed': note });
  // Another instance knows a later checkpoint than the database has, as after a restored backup.
  const ahead = `${feed.state.path}.ahead`;
  writeFileSync(ahead, readFileSync(feed.state.path));
  const other = await feed.another({ PROOF_STATE: ahead });
  const second = `${other.server.url}/proof/v1/raadsfeed`;
  await feed.prove([vergadering('vijf')]);
  await hasLeaves(log, 5);
  const last = await hasLeaves(second, 5);
  await feed.pool.query('select 1');
  renameSync(ahead, `${ahead}.kept`);
  await other.server.stop();
  expect(checkpointIn(last).size).toBe(5);
});
