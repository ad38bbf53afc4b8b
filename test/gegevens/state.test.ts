import { afterAll, beforeAll, expect, it } from 'vitest';
import { pruneLeveringen, removeLeveringen } from '../../src/gegevens/store/manage-leveringen.ts';
import { messageFile, shvMessage } from './support/messages.ts';
import { type Asked, openSupplier, type Supplier } from './support/supplier.ts';

/** Milliseconds by which the server's clock is ahead. */
let ahead = 0;
const now = (): Date => new Date(Date.now() + ahead);
let supplier: Supplier;
beforeAll(async () => {
  supplier = await openSupplier({ clock: { now }, env: { 'gegevens.pagePinMinutes': '60' } });
});
afterAll(() => supplier.close());

async function load(naam: string, records: readonly string[]): Promise<void> {
  await supplier.import('shv', messageFile(shvMessage({ leveringen: [{ naam, records }] })));
}

async function marks(body: Record<string, unknown>, asked?: Asked): Promise<string[]> {
  const { text } = await supplier.get(body, asked);
  return [...text.matchAll(/"omschrijving":"([^"]*)"/g)].map(([, mark = '']) => mark);
}

it('serves every page from the state of the first, whatever is imported meanwhile, on any instance', async () => {
  await load('Staat', ['a1', 'a2', 'a3']);
  const other = await supplier.another();
  const page = (number: number, server = supplier.server) =>
    marks({ aanleverende_organisatie: 'staat', page: number, pageSize: 1 }, { server });
  expect(await page(1)).toEqual(['a1']);
  await load('Staat', ['b1', 'b2']);
  expect(await page(2)).toEqual(['a2']);
  expect(await page(3, other)).toEqual(['a3']);
  // Requests without paging see the current data and do not affect paging ones.
  expect(await marks({ aanleverende_organisatie: 'STAAT' })).toEqual(['b1', 'b2']);
  expect(await page(2, other)).toEqual(['a2']);
  // A first page starts over.
  expect(await page(1, other)).toEqual(['b1']);
  expect(await page(2)).toEqual(['b2']);
  // A page past the end returns the first one, without starting over or advancing: the state is unchanged.
  await load('Staat', ['c1', 'c2', 'c3']);
  expect(await page(9)).toEqual(['b1']);
  expect(await page(2)).toEqual(['b2']);
});

it('has a paging state for each filter', async () => {
  await load('Apart', ['a1', 'a2']);
  const whole = { aanleverende_organisatie: 'apart', pageSize: 1 };
  const dated = { ...whole, aanleverperiodeStartdatum: '2026-01-01' };
  expect(await marks({ ...whole, page: 1 })).toEqual(['a1']);
  await load('Apart', ['b1', 'b2']);
  expect(await marks({ ...dated, page: 1 })).toEqual(['b1']);
  expect(await marks({ ...whole, page: 2 })).toEqual(['a2']);
  expect(await marks({ ...dated, page: 2 })).toEqual(['b2']);
});

it('pins a state for the configured time, and no longer', async () => {
  await load('Tijd', ['a1', 'a2']);
  const body = { aanleverende_organisatie: 'tijd', pageSize: 1 };
  expect(await marks({ ...body, page: 1 })).toEqual(['a1']);
  await load('Tijd', ['b1', 'b2']);
  ahead += 50 * 60_000;
  expect(await marks({ ...body, page: 2 })).toEqual(['a2']);
  ahead += 11 * 60_000;
  expect(await marks({ ...body, page: 2 }, { headers: await fresh() })).toEqual(['b2']);
});

it('pins no state for a page past the end', async () => {
  await load('Ver', ['a1', 'a2']);
  const body = { aanleverende_organisatie: 'ver', pageSize: 1 };
  expect(await marks({ ...body, page: 9 }, { headers: await fresh() })).toEqual(['a1']);
  await load('Ver', ['b1', 'b2']);
  expect(await marks({ ...body, page: 2 }, { headers: await fresh() })).toEqual(['b2']);
});

it('ends the paging of removed data at once, on every instance, including earlier versions', async () => {
  await load('Weg', ['a1', 'a2']);
  const other = await supplier.another();
  const body = { aanleverende_organisatie: 'weg', pageSize: 1 };
  const page = async (number: number, server = supplier.server) =>
    await supplier.ask({ ...body, page: number }, { server, headers: await fresh() });
  const idOf = async (mark: string): Promise<number> => {
    const { rows } = await supplier.pool.query<{ id: number }>(
      `select l.id from gegevens.leveringen l join gegevens.records r on r.import_id = l.import_id and r.levering = l.number
       where l.name = 'Weg' and r.text like '%"' || $1 || '"%'`,
      [mark],
    );
    return rows[0]?.id ?? 0;
  };
  expect((await page(1)).text).toContain('"a1"');
  expect((await page(2, other)).text).toContain('"a2"');
  await load('Weg', ['b1', 'b2']);
  expect((await page(2)).text).toContain('"a2"');
  const earlier = await idOf('a1');
  expect(await removeLeveringen(supplier.pool, [earlier, 999_999])).toEqual([earlier]);
  expect(await removeLeveringen(supplier.pool, [earlier])).toEqual([]);
  for (const server of [supplier.server, other]) expect((await page(2, server)).text).toContain('"b2"');
  await removeLeveringen(supplier.pool, [await idOf('b1')]);
  for (const server of [supplier.server, other]) expect((await page(2, server)).status).toBe(422);
});

const pruning = { minAgeMs: 0, signal: new AbortController().signal, progress: () => undefined };

it('prunes nothing by a clock that is ahead of the database’s', async () => {
  await load('Klok', ['a1']);
  await load('Klok', ['b1']);
  const pruneAhead = (seconds: number, dryRun: boolean) =>
    pruneLeveringen(supplier.pool, { ...pruning, now: new Date(Date.now() + seconds * 1000), dryRun });
  for (const dryRun of [true, false]) {
    await expect(pruneAhead(6, dryRun)).rejects.toThrow('6 seconds ahead of the database');
  }
  expect((await pruneAhead(4, true)).map(({ organisatie }) => organisatie)).toContain('Klok');
});

it('prunes earlier versions, but none that a requester is paging through', async () => {
  await load('Snoei', ['a1', 'a2']);
  const body = { aanleverende_organisatie: 'snoei', pageSize: 1 };
  expect(await marks({ ...body, page: 1 }, { headers: await fresh() })).toEqual(['a1']);
  await load('Snoei', ['b1', 'b2']);
  const prune = async (dryRun: boolean) => {
    const pruned = await pruneLeveringen(supplier.pool, { ...pruning, now: new Date(), dryRun });
    return pruned.map(({ organisatie }) => organisatie);
  };
  await supplier.asOwner(`update gegevens.leveringen set withdrawn_at = withdrawn_at - interval '1 hour'`);
  expect(await prune(true)).not.toContain('Snoei');
  await supplier.asOwner(`update gegevens.pinned_states set expires_at = clock_timestamp() - interval '1 second'`);
  expect(await prune(true)).toContain('Snoei');
  expect(await prune(false)).toContain('Snoei');
  const { rows } = await supplier.pool.query(
    `select (select count(*) from gegevens.leveringen where withdrawn_at is not null) as oud,
       (select count(*) from gegevens.pinned_states) as standen,
       (select count(*) from (
          select import_id, levering from gegevens.records union all select import_id, levering from gegevens.record_periods
          union all select import_id, levering from gegevens.case_records
          union all select import_id, levering from gegevens.case_signals) r where not exists (
          select from gegevens.leveringen l where l.import_id = r.import_id and l.number = r.levering)) as wees,
       (select count(*) from gegevens.imports i where not exists (
          select from gegevens.leveringen l where l.import_id = i.id)) as leeg`,
  );
  expect(rows).toEqual([{ oud: 0, standen: 0, wees: 0, leeg: 0 }]);
  expect(await marks(body, { headers: await fresh() })).toEqual(['b1']);
});

/** A token for the server's clock. */
function fresh(): Promise<{ authorization: string }> {
  const seconds = Math.ceil((now().getTime() - Date.now()) / 1000) + 3600;
  return supplier.tokens.bearer(['read'], { seconds });
}
