/** The worked examples of docs/gegevens.md, over HTTP and a real Postgres. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../../../src/lib/json/json-value.ts';
import { callProgram, type Ended } from '../../../support/program.ts';
import { openSupplier, type Supplier } from '../../support/supplier.ts';
import { fileNamed, shvTable, textRow, workbook } from './support.ts';

const EXAMPLES = join(import.meta.dirname, '../../../../examples/tables/gegevens');

let supplier: Supplier;
beforeAll(async () => {
  supplier = await openSupplier();
});
afterAll(() => supplier.close());

const run = (...words: readonly string[]): Promise<Ended> =>
  callProgram(['gegevens', 'import', ...words], { DATABASE_URL: supplier.databaseUrl });

const stored = async (): Promise<unknown> =>
  (
    await supplier.asOwner(
      'select (select count(*) from gegevens.records) r, (select count(*) from gegevens.imports) i',
    )
  )[0];

describe.each([
  { variant: 'shv', table: 'shv-trajecten.csv', records: 3, zaken: 0 },
  { variant: 'vs', table: 'vs-signalen.xlsx', records: 4, zaken: 2 },
] as const)('the example $table', ({ variant, table, records, zaken }) => {
  const [name = ''] = table.split('.');
  const json = join(EXAMPLES, `${name}.json`);

  it('is delivered exactly as the equivalent JSON file', async () => {
    expect(await run('--variant', variant, json)).toMatchObject({ status: 0 });
    const expected = (await supplier.get({}, { variant })).gegevens;
    const mapping = join(EXAMPLES, `${name}.mapping.yaml`);
    const { status, stdout, stderr } = await run(
      '--variant',
      variant,
      '--mapping',
      mapping,
      '--json',
      join(EXAMPLES, table),
    );
    expect([status, stderr]).toEqual([0, expect.stringMatching(/^Database \S+ on .+\n$/)]);
    expect(JSON.parse(stdout)).toMatchObject({
      files: [
        {
          file: join(EXAMPLES, table),
          leveringen: 2,
          records,
          zaken,
          period: { start: '2026-01-01', end: '2026-03-31' },
        },
      ],
    });
    const { gegevens } = await supplier.get({}, { variant });
    expect(gegevens).toEqual(expected);
    // And equals the file's contents, except for the supplier's code, which is the service's own.
    const said: unknown = JSON.parse(readFileSync(json, 'utf8'));
    if (!isRecord(said)) throw new TypeError('the example is not a message');
    const leveringen = (one: Record<string, unknown>) =>
      Array.isArray(one.leveringen) ? one.leveringen.filter(isRecord) : [];
    const byTeller = (one: Record<string, unknown>) =>
      leveringen(one)
        .map(({ teller: _, ...rest }) => rest)
        .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
    expect(byTeller(gegevens)).toEqual(byTeller(said));
    // The table's file is recorded, with its own size.
    const [last] = await supplier.asOwner(
      'select file_name as bestand, bytes from gegevens.imports order by id desc limit 1',
    );
    expect(last).toEqual({ bestand: table, bytes: expect.anything() });
    expect(Number(last?.bytes)).toBe(readFileSync(join(EXAMPLES, table)).length);
  });
});

describe('an import of a table', () => {
  it('stores nothing when there is a fault, and reports all of them', async () => {
    const before = await stored();
    const sheets = {
      Een: textRow(1, 'Start', 'Einde') + textRow(2, 'x', '2026-01-01') + textRow(3, '2026-01-01', 'y'),
    };
    const mapping = shvTable({ '/startdatum': 'Start', '/einddatum': 'Einde' });
    const file = workbook({ sheets });
    const { status, stdout, stderr } = await run('--variant', 'shv', '--mapping', mapping, file);
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/^Database .+\nkoppelvlak: 1 of 1 files not stored\n$/),
    ]);
    expect(stdout).toBe(
      [
        `${file}: nothing stored, 2 fault(s)`,
        '  sheet Een, row 2, column Start (A2)  is not a date of the form yyyy-MM-dd, d-M-yyyy',
        '  sheet Een, row 3, column Einde (B3)  is not a date of the form yyyy-MM-dd, d-M-yyyy',
        '',
      ].join('\n'),
    );
    expect(await stored()).toEqual(before);
  });

  it('requires --replace as for a JSON file, and accepts several files', async () => {
    const rows = (count: number) => `T\n${'x\n'.repeat(count)}`;
    const mapping = shvTable({ '/omschrijving': 'T' });
    const words = ['--variant', 'shv', '--mapping', mapping];
    const [many, few] = [fileNamed('veel.csv', rows(20)), fileNamed('weinig.csv', rows(2))];
    expect((await run(...words, many, '/nergens.csv')).stdout).toMatch(/20 records\n\/nergens.csv: ENOENT/);
    expect((await run(...words, few)).stdout).toContain('nothing stored; --replace is needed');
    expect((await run(...words, '--replace', few)).stdout).toContain('20 records by 2');
  });

  it('has an empty levering when there is nothing to deliver, and a fault when no row names the municipality', async () => {
    const empty = fileNamed('leeg.csv', 'T;Naam\n');
    const fixed = await run('--variant', 'shv', '--replace', '--mapping', shvTable({ '/omschrijving': 'T' }), empty);
    expect(fixed.stdout).toContain('1 levering(en), 0 records');
    const levering = { '/aanleverende_organisatie/(Statutaire) Naam': 'Naam' };
    const none = await run(
      '--variant',
      'shv',
      '--mapping',
      shvTable({ '/omschrijving': 'T' }, {}, { levering }),
      empty,
    );
    expect(none.stdout).toContain('nothing stored, 1 fault(s)\n  no rows');
  });
});
