/** A second quarter with the mapping of the first: its period, and records outside it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CallOptions, callProgram, type Ended } from '../../../support/program.ts';
import { openSupplier, type Supplier } from '../../support/supplier.ts';
import { fileNamed, shvMapping, textRow, workbook } from './support.ts';

const members = {
  '/gemeentecode': { value: '0344' },
  '/startdatum': 'Start',
  '/einddatum': 'Einde',
  '/client/-/Burgerservicenummer': 'BSN',
};
const tables = [{ key: ['Dossier', 'BSN'], members }];
const mapping = shvMapping({ tables });
const {
  '/startdatumLevering': _start,
  '/einddatumLevering': _end,
  ...envelope
} = {
  '/startdatumLevering': '',
  '/einddatumLevering': '',
  '/aanleverdatumEnTijd': '2026-07-02T09:00:00+02:00',
  '/codeGegevensleverancier': 'Test 1.0',
};
const withoutPeriod = shvMapping({ tables, envelope });
const rows = (...more: readonly string[]): string =>
  `Dossier;BSN;Start;Einde\n${more.map((row) => `${row}\n`).join('')}`;
const FIRST = ['1;999990019;2025-11-01;', '2;999991905;2026-01-15;2026-02-10', '3;999990020;2026-03-01;'] as const;
/** Trajectories active in the second quarter, two of which began in it. */
const SECOND = [
  '1;999990019;2025-11-01;',
  '3;999990020;2026-03-01;',
  '4;123456782;2026-05-04;',
  '5;000000012;2026-06-30;',
];
const words = ['--variant', 'shv', '--mapping', mapping];
const Q1 = '2026-01-01/2026-03-31';
const Q2 = '2026-04-01/2026-06-30';

let supplier: Supplier;
beforeAll(async () => {
  supplier = await openSupplier();
});
afterAll(() => supplier.close());

const run = (command: string, args: readonly string[], options: CallOptions = {}): Promise<Ended> =>
  callProgram(['gegevens', command, ...args], { DATABASE_URL: supplier.databaseUrl }, options);
async function stored(): Promise<readonly { periodeStart: string; records: number }[]> {
  const { leveringen } = JSON.parse((await run('list', ['--json'])).stdout);
  return leveringen.map(({ periodeStart, records }: { periodeStart: string; records: number }) => ({
    periodeStart,
    records,
  }));
}
const onlyFirst = [{ periodeStart: '2026-01-01', records: 3 }];

describe('the file of the second quarter, with --period forgotten', () => {
  it('does not replace the first', async () => {
    expect(await run('import', [...words, fileNamed('trajecten.csv', rows(...FIRST))])).toMatchObject({ status: 0 });
    const file = fileNamed('trajecten.csv', rows(...SECOND));
    for (const more of [[], ['--replace']]) {
      const { status, stdout, stderr } = await run('import', [...words, ...more, file]);
      expect([status, stderr]).toEqual([1, expect.stringContaining('1 of 1 files not stored')]);
      expect(stdout).toBe(
        [
          `${file}: nothing stored, 2 blocking findings; --force stores it nevertheless`,
          'blocking rule 16, 2 times: a record belongs to the period of its delivery: a trajectory runs in it, a signal or its case falls in it',
          '  trajecten.csv, row 4, column Dossier, column BSN  /leveringen/0/schuldhulptrajecten/2/startdatum  is after the period of its delivery',
          '  trajecten.csv, row 5, column Dossier, column BSN  /leveringen/0/schuldhulptrajecten/3/startdatum  is after the period of its delivery',
          '2 blocking, 0 warnings',
          '',
        ].join('\n'),
      );
      expect(await stored()).toEqual(onlyFirst);
    }
  });

  it('is refused if its name indicates another period, with both to choose from', async () => {
    const file = fileNamed('trajecten 2e kwartaal 2026.csv', rows(...FIRST));
    const { status, stdout } = await run('import', [...words, file]);
    expect([status, stdout]).toEqual([
      1,
      `${file}: nothing stored, 1 fault(s)\n  the period of the mapping is ${Q1}, but the name of the file says ${Q2}; pass --period ${Q2} or --period ${Q1}\n`,
    ]);
    const chosen = await run('import', [...words, '--period', Q1, file]);
    expect(chosen).toMatchObject({ status: 0 });
    expect(await stored()).toEqual(onlyFirst);
  });

  it('is refused if none of its records begins in the period', async () => {
    const old = fileNamed('oud.csv', rows('1;999990019;2025-11-01;'));
    const reason = `the period of the mapping is ${Q1}, but no record begins in it: the newest records are of 2025-10-01/2025-12-31; pass --period 2025-10-01/2025-12-31 or --period ${Q1}`;
    for (const command of ['import', 'check']) {
      const { status, stdout, stderr } = await run(command, [...words, old]);
      expect([command, status, stdout + stderr]).toEqual([command, 1, expect.stringContaining(reason)]);
    }
    const dry = await run('import', [...words, '--dry-run', old]);
    expect([dry.status, dry.stdout]).toEqual([0, expect.stringContaining(`note: ${reason}`)]);
    expect(await stored()).toEqual(onlyFirst);
  });

  it('prompts for it on a terminal', async () => {
    const file = fileNamed('2026-q2.csv', rows(...SECOND));
    for (const [input, status] of [
      ['2026-06-30/2026-04-01\n', 1],
      ['', 1],
      [`${Q1}\n`, 1],
      ['\n', 0],
    ] as const) {
      const ended = await run('import', [...words, file], { input, isTerminal: true });
      expect(ended.stderr).toContain(
        `2026-q2.csv: the period of the mapping is ${Q1}, but the name of the file says ${Q2}.\nPeriod [${Q2}]: `,
      );
      expect([input, ended.status]).toEqual([input, status]);
      if (status === 1) expect(await stored()).toEqual(onlyFirst);
    }
    expect(await stored()).toEqual([{ periodeStart: '2026-04-01', records: 4 }, ...onlyFirst]);
  });
});

describe('a mapping without a period', () => {
  const without = ['--variant', 'shv', '--mapping', withoutPeriod];

  it.each([
    ['2026Q2.csv', `; the name of the file says ${Q2}; pass --period ${Q2}`],
    ['20260401-20260630.csv', `; the name of the file says ${Q2}; pass --period ${Q2}`],
    ['q1-q2.csv', `; the newest records are of ${Q2}; pass --period ${Q2}`],
  ])('is refused with the options to pass: %s', async (name, reason) => {
    const file = fileNamed(name, rows(...SECOND));
    const { status, stdout } = await run('import', [...without, file]);
    expect([status, stdout]).toEqual([
      1,
      `${file}: nothing stored, 1 fault(s)\n  the mapping has no period${reason}\n`,
    ]);
  });

  it('uses the given period, or the answer on a terminal', async () => {
    const file = fileNamed('t.csv', rows(...SECOND));
    expect(await run('check', [...without, '--period', Q2, file])).toMatchObject({ status: 0 });
    const asked = await run('check', [...without, '--json', file], { input: '\n', isTerminal: true });
    expect(asked).toMatchObject({ status: 0, stderr: expect.stringContaining(`Period [${Q2}]: `) });
    expect(JSON.parse(asked.stdout).period).toEqual({ start: '2026-04-01', end: '2026-06-30' });
  });
});

describe('gegevens check of a table', () => {
  const before = ['1;999990019;2025-11-01;', '2;999991905;2026-01-15;2025-12-31', '9;999990018;2026-02-01;'];

  it('names file, row and key column, and their values if allowed', async () => {
    const unchanged = await stored();
    const file = fileNamed('t.csv', rows(...before));
    const hidden = await callProgram(['gegevens', 'check', ...words, file], {});
    expect([hidden.status, hidden.stderr]).toEqual([1, 'koppelvlak: 2 blocking findings\n']);
    expect(hidden.stdout).toContain(
      '  t.csv, row 3, column Dossier, column BSN  /leveringen/0/schuldhulptrajecten/1/einddatum  ends before it begins\n',
    );
    expect(hidden.stdout).toContain('warning  rule 15, 1 time');
    for (const number of ['999991905', '999990018']) expect(hidden.stdout).not.toContain(number);
    const shown = await callProgram(['gegevens', 'check', ...words, '--show-persons', file], {});
    expect(shown.stdout).toContain('  t.csv, row 3, column Dossier "2", column BSN "999991905"  /leveringen/0/');
    expect(await stored()).toEqual(unchanged);
  });

  it('has the rows in JSON and on a page, which is Dutch', async () => {
    const [file, other] = [
      fileNamed('t.csv', rows(...before)),
      fileNamed('ander.csv', rows('7;999990019;2026-04-01;', ...FIRST)),
    ];
    const { stdout } = await callProgram(['gegevens', 'check', ...words, '--json', file, other], {});
    const key = [{ column: 'Dossier' }, { column: 'BSN' }];
    expect(JSON.parse(stdout).findings).toContainEqual({
      rule: 16,
      severity: 'blocking',
      count: 2,
      places: [
        't.csv#/leveringen/0/schuldhulptrajecten/1/einddatum',
        'ander.csv#/leveringen/0/schuldhulptrajecten/0/startdatum',
      ],
      rows: [
        { file: 't.csv', row: 3, key },
        { file: 'ander.csv', row: 2, key },
      ],
    });
    const page = await callProgram(['gegevens', 'check', ...words, '--html', file], {});
    expect(page.stdout).toContain('<li>t.csv, rij 3, kolom Dossier, kolom BSN <code>/leveringen/0/');
  });

  it('names the sheet, and the row of a record without a key', async () => {
    const sheet = [textRow(2, 'Start'), textRow(3, '2026-02-01'), textRow(5, '2026-04-01')].join('');
    const noKey = shvMapping({
      tables: [{ sheet: 'Blad', members: { '/gemeentecode': { value: '0344' }, '/startdatum': 'Start' } }],
    });
    const { stdout } = await callProgram(
      ['gegevens', 'check', '--variant', 'shv', '--mapping', noKey, workbook({ sheets: { Blad: sheet } })],
      {},
    );
    expect(stdout).toContain(
      '  tabel.xlsx, sheet Blad, row 5  /leveringen/0/schuldhulptrajecten/1/startdatum  is after',
    );
  });

  it('shows faults as an import does, and requires a mapping', async () => {
    const bad = fileNamed('t.csv', rows('1;999990019;1 mrt;'));
    expect(await callProgram(['gegevens', 'check', ...words, bad], {})).toMatchObject({
      status: 1,
      stderr: `koppelvlak: ${bad} cannot be checked, 1 fault(s)\n  row 2, column Start  is not a date of the form yyyy-MM-dd, d-M-yyyy\n`,
    });
    expect(await callProgram(['gegevens', 'check', '--variant', 'shv', bad], {})).toMatchObject({
      status: 2,
      stderr: `koppelvlak: ${bad} is a table: --mapping is missing\n`,
    });
    expect(await callProgram(['gegevens', 'check', ...words], {})).toMatchObject({ status: 2 });
  });
});

it('does a dry run and checks at once with --dry-run --check', async () => {
  const file = fileNamed('t.csv', rows(...SECOND));
  const tried = [...words, '--dry-run', '--check', '--show', '0'];
  const { status, stdout, stderr } = await callProgram(['gegevens', 'import', ...tried, file], {});
  expect([status, stderr]).toEqual([1, 'koppelvlak: 1 of 1 files would not be stored without --force\n']);
  expect(stdout).toContain('1 levering(en), 4 records, 0 zaken; nothing stored\n');
  expect(stdout).toMatch(/\nmunicipality .*\n-.*\n0344 +4 /);
  expect(stdout).toContain('blocking rule 16, 2 times');
  const json = await callProgram(['gegevens', 'import', ...tried, '--json', '--period', Q2, file], {});
  expect([json.status, JSON.parse(json.stdout).files[0].check.findings]).toEqual([0, []]);
});

it.each(['import', 'check'])('says in the help of %s that it accepts tables', async (command) => {
  const { stdout } = await callProgram(['gegevens', command, '--help'], {});
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain('with --mapping, CSV and XLSX files');
});
