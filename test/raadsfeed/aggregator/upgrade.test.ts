/** A source that the version without periods left, read after the upgrade. */
import pg from 'pg';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Pool } from '../../../src/database/pool.ts';
import { type ProgramOnDatabase, programOnDatabase } from '../../cli/program.ts';
import { servicePool } from '../support.ts';
import { documentOf, meetingOf } from './notubiz/supplier/answers.ts';
import { type NotubizServer, startNotubiz } from './notubiz/supplier/server.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

/** The tables as they were before `1130-suppliers`. */
const FORMER_TABLES = `
  alter table aggregator.bron drop column tot, drop column options;
  alter table aggregator.windows drop column complete_at, drop column has_confidential;
  alter table aggregator.coverage drop constraint coverage_pkey, drop column registers, add primary key (bron_id, maand);
  drop table aggregator.supplier_pace, aggregator.supplier_blocks, aggregator.numbered_addresses;
  drop table gegevens.forced_imports, verwerkingenlog.idempotency_hashing;
  alter table verwerkingenlog.ldv_keys drop column hashed_with;
  delete from koppelvlak.migraties where name >= '1130-suppliers';`;

let program: ProgramOnDatabase;
let pool: Pool;
let supplier: NotubizServer;

beforeEach(async () => {
  supplier = await startNotubiz();
  program = await programOnDatabase({ NOTUBIZ_URL: supplier.base });
  pool = servicePool(program.databaseUrl, 2);
});
afterEach(async () => {
  await pool.end();
  await program.drop();
  await supplier.close();
});

async function records(): Promise<unknown[]> {
  const { rows } = await pool.query(
    'select sequence_number, op, resource_type, bronidentificatie from raadsfeed.record order by 1',
  );
  return rows;
}

it('withdraws nothing of the quarter in which its first day lies', async () => {
  for (let id = 1; id <= 20; id += 1) {
    const day = id === 1 ? '2025-01-14' : `2025-03-${String(id).padStart(2, '0')}`;
    const plannings = [{ start_date: `${day} 19:30:00`, end_date: null }];
    supplier.organisation.addMeeting(meetingOf(id, { plannings, documents: [documentOf(id)] }));
  }
  // Earlier versions began with the quarter, whatever the first day was.
  const source = ['notubiz:281', '--organisatie', 'gm0363', '--naam', 'Gemeente Amsterdam', '--yes'];
  await program.run('bron', 'add', ...source, '--from', '2025-01-01');
  expect(await program.json('bron', 'sync', 'notubiz:281')).toMatchObject({ status: 0, result: { published: 40 } });
  await pool.query("update aggregator.bron set vanaf = '2025-02-15'");
  const owner = new pg.Client({ connectionString: program.databaseUrl });
  await owner.connect();
  await owner.query(FORMER_TABLES).finally(() => owner.end());
  const before = await records();

  expect(await program.run('migrate')).toMatchObject({ status: 0 });
  await pool.query('update aggregator.windows set next_full_at = now()');
  expect(await program.json('bron', 'sync', 'notubiz:281')).toMatchObject({
    status: 0,
    result: { complete: true, published: 0, deleted: 0, withheld: 0 },
  });
  expect(await records()).toEqual(before);
  expect((await program.json('bron', 'list')).result).toMatchObject([{ vanaf: '2025-01-01', dekking: 100 }]);
  expect((await program.json('bron', 'check', 'notubiz:281')).result).toMatchObject({ percentage: 100, shown: 40 });
});
