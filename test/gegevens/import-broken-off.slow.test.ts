/** An import of a large file that is interrupted half-way. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startProgram } from '../support/program.ts';
import { messageFile, shvMessage } from './support/messages.ts';
import { openSupplier, type Supplier } from './support/supplier.ts';

let supplier: Supplier;
beforeAll(async () => {
  supplier = await openSupplier();
});
afterAll(() => supplier.close());

it.each(['SIGINT', 'SIGKILL'] as const)('leaves nothing half done on %s', async (signal) => {
  const path = messageFile(shvMessage({ leveringen: [{ naam: 'Noord', kvk: '30000001', records: 400_000 }] }));
  const before = await supplier.asOwner('select count(*)::int as n from gegevens.leveringen');
  const { child, ended } = startProgram(['gegevens', 'import', '--variant', 'shv', path], {
    DATABASE_URL: supplier.databaseUrl,
  });
  await expect
    .poll(
      async () => {
        const [copying] = await supplier.asOwner(
          `select bytes_processed::bigint as bytes from pg_stat_progress_copy where relid = 'gegevens.records'::regclass`,
        );
        return Number(copying?.bytes ?? 0);
      },
      { interval: 20 },
    )
    .toBeGreaterThan(1_000_000);
  child.kill(signal);
  const { status, stderr } = await ended;
  expect(status).toBe(signal === 'SIGINT' ? 1 : null);
  if (signal === 'SIGINT') expect(stderr).toMatch(/interrupted/);
  await expect.poll(() => supplier.asOwner('select count(*)::int as n from pg_stat_progress_copy')).toEqual([{ n: 0 }]);
  expect(await supplier.asOwner('select count(*)::int as n from gegevens.leveringen')).toEqual(before);
  expect(await supplier.asOwner('select count(*)::int as n from gegevens.records where number > 1000')).toEqual([
    { n: 0 },
  ]);
});
