/**
 * `koppelvlak bron switch` and `check` as programs, and which source an organisation belongs to: nothing is published twice, nothing is
 * lost.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Pool } from '../../../src/database/pool.ts';
import { type ProgramOnDatabase, programOnDatabase } from '../../cli/program.ts';
import { publishLines, servicePool, vergadering } from '../support.ts';
import { FakeSource } from './fake-source.ts';
import { documentOf, meetingOf } from './notubiz/supplier/answers.ts';
import { type NotubizServer, startNotubiz } from './notubiz/supplier/server.ts';

let program: ProgramOnDatabase;
let pool: Pool;
let supplier: NotubizServer;
let feed: FakeSource;

beforeEach(async () => {
  supplier = await startNotubiz();
  program = await programOnDatabase({ 'aggregator.notubizUrl': supplier.base });
  pool = servicePool(program.databaseUrl, 2);
  feed = await new FakeSource('gm0363').listen();
});
afterEach(async () => {
  await pool.end();
  await program.drop();
  await feed.close();
  await supplier.close();
});

/** The contents of the feed: the number of records, and the origin of its resources. */
async function feedState(): Promise<{ head: number; resources: string[]; origins: (string | null)[] }> {
  const { rows } = await pool.query<{ head: number; name: string | null }>(
    `select f.head, s.bronidentificatie as name from raadsfeed.feed f left join raadsfeed.current_records s on true order by name`,
  );
  const organisations = await pool.query<{ herkomst: string | null }>(
    'select coalesce(herkomst, herkomst_soort) as herkomst from raadsfeed.organisaties order by organisatiecode',
  );
  return {
    head: rows[0]?.head ?? -1,
    resources: rows.flatMap(({ name }) => name ?? []),
    origins: organisations.rows.map(({ herkomst }) => herkomst),
  };
}

const NOTUBIZ = ['notubiz:281', '--organisatie', 'gm0363', '--naam', 'Gemeente Amsterdam', '--from', '2025-01-01'];
const DAYS = ['--from', '2025-01-01', '--to', '2025-03-31'];

describe('bron switch', () => {
  it('switches from one feed to another without republishing what both have', async () => {
    const second = await new FakeSource('gm0363').listen();
    try {
      for (let i = 1; i <= 12; i += 1) for (const one of [feed, second]) one.document(`d-${i}`);
      second.document('d-13');
      await program.run('bron', 'add', feed.url);
      await program.run('bron', 'sync', feed.url);
      const before = await feedState();
      expect(before).toMatchObject({ head: 12, origins: [`${feed.url}/feed`] });

      const plan = { organisations: [{ organisatiecode: 'gm0363', same: 12, deleted: [], isMassDelete: false }] };
      const dry = await program.json('bron', 'switch', feed.url, second.url, '--dry-run');
      expect(dry).toMatchObject({ status: 0, result: { ...plan, switched: false } });
      expect(await feedState()).toEqual(before);
      expect(await program.run('bron', 'switch', feed.url, second.url)).toMatchObject({
        status: 0,
        stdout: `gm0363: 12 the same, 0 to delete, 1 to add\n  + Informatieobject/d-13\nSwitched to ${second.url}.\n`,
      });
      expect(await program.json('bron', 'sync', second.url)).toMatchObject({
        status: 0,
        result: { published: 1, deleted: 0 },
      });
      expect(await feedState()).toMatchObject({ head: 13, origins: [`${second.url}/feed`] });
      expect((await program.json('bron', 'list')).result).toMatchObject([{ adres: second.url }]);
    } finally {
      await second.close();
    }
  });

  it("switches from a supplier to the organisation's own feed with the same identifiers", async () => {
    supplier.organisation.addMeeting(meetingOf(11, { documents: [documentOf(2)] }));
    await program.run('bron', 'add', ...NOTUBIZ);
    expect(await program.json('bron', 'sync', 'notubiz:281', ...DAYS)).toMatchObject({ status: 0 });
    const before = await feedState();
    expect(before).toMatchObject({ head: 2, origins: ['leveranciers-api'], resources: ['document-2', 'meeting-11'] });
    await copyOwnFeed();
    expect(await program.json('bron', 'switch', 'notubiz:281', feed.url)).toMatchObject({
      status: 0,
      result: { switched: true, organisations: [{ same: 2, deleted: [], added: [] }] },
    });
    expect(await program.json('bron', 'sync', feed.url)).toMatchObject({ status: 0, result: { published: 0 } });
    expect(await feedState()).toEqual({ ...before, origins: [`${feed.url}/feed`] });
  });

  it('fails on an endless snapshot of the new source', async () => {
    feed.document('d-1');
    await program.run('bron', 'add', feed.url);
    await program.run('bron', 'sync', feed.url);
    const endless = await new FakeSource('gm0363').listen();
    let pages = 0;
    endless.rule = ({ path, json }) => {
      if (path !== '/snapshot') return false;
      pages += 1;
      json({ records: [], feedCursor: '1.0', cursor: `1.${pages}`, hasMore: true, next: null });
      return true;
    };
    try {
      expect(await program.run('bron', 'switch', feed.url, endless.url)).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('have no records'),
      });
    } finally {
      await endless.close();
    }
  });

  it('exits with 2 on wrong usage, and with 1 when it cannot be done', async () => {
    feed.document('d-1');
    await program.run('bron', 'add', feed.url);
    for (const words of [[feed.url], [feed.url, feed.url], [feed.url, 'notubiz:281'], ['x', feed.url]])
      expect(await program.run('bron', 'switch', ...words)).toMatchObject({ status: 2, stdout: '' });
    expect(await program.run('bron', 'switch', 'notubiz:281', feed.url)).toMatchObject({ status: 1 });
    const other = await new FakeSource('gm0001').listen();
    try {
      const { status, stderr } = await program.run('bron', 'switch', other.url, feed.url);
      expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining('not among the sources') });
      await program.run('bron', 'sync', feed.url);
      expect(await program.run('bron', 'switch', feed.url, other.url)).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('names none of gm0363'),
      });
    } finally {
      await other.close();
    }
  });
});

/** The organisation's own feed, with the resources currently in ours. */
async function copyOwnFeed(): Promise<void> {
  const { rows } = await pool.query<{ type: string; name: string; hash: string; rest: string }>(
    `select s.resource_type as type, s.bronidentificatie as name, s.content_hash as hash, t.record_suffix as rest
       from raadsfeed.current_records s join raadsfeed.texts t using (sequence_number)`,
  );
  for (const { type, name, hash, rest } of rows) {
    const data: unknown = JSON.parse(rest.slice(rest.indexOf('"data":') + 7, -1));
    feed.add({ op: 'upsert', contentHash: hash, data }, name, type);
  }
}

describe('bron check', () => {
  it('measures, names missing items, and keeps the last figure for bron list', async () => {
    const confidential = { confidential: 1 };
    supplier.organisation.addMeeting(meetingOf(11, { documents: [documentOf(2), documentOf(3, confidential)] }));
    supplier.organisation.addMeeting(meetingOf(12, { ...confidential, documents: [documentOf(4)] }));
    await program.run('bron', 'add', ...NOTUBIZ);
    const days = ['--from', '2025-01-01', '--to', '2025-03-31'];
    const nothing = await program.run('bron', 'check', 'notubiz:281', ...days);
    expect(nothing).toMatchObject({ status: 1, stderr: expect.stringContaining('0 % is covered') });
    expect(nothing.stdout).toMatch(/^2025-01 +2 +0 +2 +0$/m);
    expect(nothing.stdout).toContain('missing: Vergadering/meeting-11\n');
    expect(nothing.stderr).toContain('the feed lacks resources that the supplier shows');
    // A meeting without further details, and a document of the other.
    expect(nothing.stdout).toContain('\nleft out: 2 confidential, 0 of other bodies, 0 of other days\n');
    expect((await program.json('bron', 'list')).result).toMatchObject([{ dekking: 0 }]);

    await program.run('bron', 'sync', 'notubiz:281', ...DAYS);
    const again = await program.run('bron', 'check', 'notubiz:281', ...days);
    expect(again).toMatchObject({ status: 0, stdout: expect.stringContaining('100 % of 2') });
    expect((await program.run('bron', 'list')).stdout).toMatch(/ 100 % +0$/m);
  });

  it('is not available for a feed, requires dates, and says so with status 2', async () => {
    await program.run('bron', 'add', feed.url);
    await program.run('bron', 'add', ...NOTUBIZ);
    for (const words of [[feed.url], ['notubiz:281', '--from', 'x'], []])
      expect(await program.run('bron', 'check', ...words)).toMatchObject({ status: 2, stdout: '' });
  });
});

describe('bron add', () => {
  it('refuses a choice of bodies for NotuBiz, which would have no effect', async () => {
    const refused = await program.run('bron', 'add', ...NOTUBIZ, '--bodies', 'Raad');
    expect(refused).toMatchObject({ status: 2, stderr: expect.stringContaining('is read without --bodies') });
  });
});

describe('an organisation that this feed publishes itself', () => {
  it('is taken from no source: that is reported, and nothing of it is published', async () => {
    await publishLines(pool, [vergadering('v-1', {}, { gemeente: 'gm0363', naam: 'Gemeente Amsterdam' })]);
    feed.document('d-1');
    await program.run('bron', 'add', feed.url);
    expect(await program.json('bron', 'sync', feed.url)).toMatchObject({
      status: 0,
      result: { read: 0, published: 0 },
    });
    const issues = await program.run('bron', 'issues', feed.url);
    expect(issues.stdout).toMatch(/organisation-elsewhere +gm0363 .* is taken from this feed itself/);
    expect(await feedState()).toEqual({ head: 1, resources: ['v-1'], origins: ['eigen'] });
    expect(await program.run('bron', 'add', ...NOTUBIZ)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('gm0363 has a source already: this feed itself'),
    });
  });
});
