import { describe, expect, it } from 'vitest';
import { callProgram, startProgram } from '../../../support/program.ts';
import { fileNamed, shvMapping, shvTable, tryTable } from './support.ts';

const table = (): string => fileNamed('tabel.csv', 'A;B\n1;2\n');

async function refusalOf(mapping: string, ...words: readonly string[]): Promise<string> {
  const args = ['gegevens', 'import', '--variant', 'shv', '--mapping', mapping, '--dry-run', ...words, table()];
  const { status, stdout, stderr } = await callProgram(args, {});
  expect([status, stdout]).toEqual([1, '']);
  return stderr;
}

describe('an unusable mapping', () => {
  it('reports every fault of its form, with its place', async () => {
    const text = [
      'variant: shv',
      'envelop: {}',
      'envelope: { startdatumLevering: x }',
      'levering: { /a: { column: A, colour: red } }',
      'tables:',
      '  - members:',
      '      /b: { column: B, part: 1 }',
      '      /c: { column: 0 }',
      '    header: eerste',
    ].join('\n');
    const stderr = await refusalOf(fileNamed('mapping.yaml', text));
    expect(stderr).toContain('mapping.yaml is not a usable mapping:');
    expect(stderr).toContain('/: has a member that is not known: "envelop"');
    expect(stderr).toMatch(/\/envelope "startdatumLevering": must match pattern/);
    expect(stderr).toContain('/levering/~1a: has a member that is not known: "colour"');
    expect(stderr).toMatch(/\/tables\/0\/members\/~1b: must have property split/);
    expect(stderr).toMatch(/\/tables\/0\/members\/~1c\/column: must be >= 1/);
    expect(stderr).toMatch(/\/tables\/0\/header: /);
  });

  it.each([
    ['is not YAML', 'variant: shv\n  tables: [', /line 2/],
    ['has a repeated member', 'variant: shv\nvariant: vs\n', /unique.* line 2/],
    ['is a list', '- 1', /must be object/],
    ['is empty', '', /must be object/],
  ])('%s', async (_, text, message) => {
    expect(await refusalOf(fileNamed('mapping.yaml', text))).toMatch(message);
  });

  it('reports every member that the model does not have, and every impossible value', async () => {
    const mapping = shvMapping({
      dates: ['dd-MM', 'yyyy-MM-dd'],
      csv: { delimiter: '"' },
      levering: { '/aanleverende_organisatie/contactpersonen/-/email': 'B' },
      tables: [
        {
          members: {
            '/startdtum': 'A',
            '/client': 'A',
            '/client/Burgerservicenummer': 'A',
            '/client/-': 'A',
            '/intake/-/startdatum': 'A',
            '/omschrijving': { column: 'A', split: ',' },
            '/schulden/-/peildatum': { column: 'B', dates: ['q'] },
            '/client/-/Schoenmaat': 'B',
          },
          items: { '/moratoria': { key: ['A'] } },
        },
        { members: { '/gemeentecode': 'B' } },
      ],
    });
    const stderr = await refusalOf(mapping);
    for (const [place, message] of [
      ['/dates', '"dd-MM" is not a form of dates'],
      ['/csv', 'the delimiter cannot be this'],
      ['/levering/~1aanleverende_organisatie~1contactpersonen~1-~1email', 'a levering has one row'],
      ['/tables/0/members/~1startdtum', 'the model does not describe this member'],
      ['/tables/0/members/~1client', 'is a list: name a member of it'],
      ['/tables/0/members/~1client~1Burgerservicenummer', '/client is a list: its items are -, or 0, 1'],
      ['/tables/0/members/~1client~1-', 'is an item of a list: name a member of it'],
      ['/tables/0/members/~1intake~1-~1startdatum', '/intake is not a list'],
      ['/tables/0/members/~1omschrijving', 'a cell that is split needs a `part`'],
      ['/tables/0/members/~1schulden~1-~1peildatum', '"q" is not a form of dates'],
      [
        '/tables/0/members/~1client~1-~1Schoenmaat',
        'the model does not describe this member; with a `type` it is delivered nevertheless',
      ],
      ['/tables/0/items/~1moratoria', 'no member of the table is in this list'],
      ['/tables/1', 'a table that adds to the records of another one needs a key'],
      ['/tables/0', 'a table that others add to needs a key'],
    ]) {
      expect(stderr).toMatch(new RegExp(`  ${escaped(`${place}: ${message}`)}`));
    }
  });

  it('is for another variant or model', async () => {
    expect(await refusalOf(shvTable({}, {}, { variant: 'vs' }))).toContain(
      'the mapping is for vs, and the import for shv',
    );
    expect(await refusalOf(shvTable({}, {}, { model: '0.9' }))).toContain(
      'the mapping is for model 0.9, and the import by 1.0',
    );
  });

  it('is missing, or larger than a megabyte', async () => {
    expect(await refusalOf('/nergens.yaml')).toContain('ENOENT');
    expect(await refusalOf(fileNamed('mapping.yaml', `# ${'x'.repeat(2_000_000)}`))).toContain(
      'more than 1048576 bytes',
    );
  });

  it('has aliases that multiply its contents', async () => {
    const lines = ['a: &a [x, x, x, x, x, x, x, x, x]'];
    for (let n = 1; n < 9; n += 1) {
      const [from, to] = [String.fromCharCode(96 + n), String.fromCharCode(97 + n)];
      lines.push(`${to}: &${to} [${Array.from({ length: 9 }, () => `*${from}`).join(', ')}]`);
    }
    expect(await refusalOf(fileNamed('mapping.yaml', lines.join('\n')))).toMatch(/alias/);
  });
});

it('is read without validator messages on standard error', async () => {
  const mapping = shvTable({ '/omschrijving': 'A' }, {}, { leveringKey: [{ column: 'B' }] });
  const args = ['gegevens', 'import', '--variant', 'shv', '--mapping', mapping, '--dry-run', table()];
  expect(await startProgram(args, {}).ended).toMatchObject({ status: 0, stderr: '' });
});

it('delivers a member that the model does not describe, with a type', async () => {
  const { records } = await tryTable(shvTable({ '/client/-/Schoenmaat': { column: 'A', type: 'integer' } }), table());
  expect(records).toEqual([{ gemeentecode: '0014', client: [{ Schoenmaat: 1 }] }]);
});

it('needs no database for a dry run, and accepts its options with a mapping only', async () => {
  const run = (...words: readonly string[]) =>
    callProgram(['gegevens', 'import', '--variant', 'shv', ...words], {
      DATABASE_URL: 'postgres://127.0.0.1:1/nergens',
    });
  const mapping = shvTable({ '/omschrijving': 'A' });
  expect((await run('--mapping', mapping, '--dry-run', table())).status).toBe(0);
  for (const words of [
    ['--dry-run', 'a.json'],
    ['a.csv'],
    ['a.XLSX'],
    ['--period', '2026-01-01/2026-03-31', 'a.json'],
  ]) {
    const { status, stderr } = await run(...words);
    expect([status, stderr]).toEqual([2, expect.stringContaining('--mapping is missing')]);
  }
  expect((await run('--mapping', mapping, '--period', '2026', table())).status).toBe(2);
});

it('shows only the form of identifying values, and the rest as it will be', async () => {
  const file = fileNamed('tabel.csv', 'BSN;Straat;Start\n000000012;Élan 12b;2026-01-05\n');
  const mapping = shvTable({
    '/client/-/Burgerservicenummer': 'BSN',
    '/client/-/Straatnaam': { column: 'Straat', type: 'text' },
    '/schulden/-/schuldeiser/naam': 'Straat',
    '/startdatum': 'Start',
  });
  const run = (...words: readonly string[]) =>
    callProgram(['gegevens', 'import', '--variant', 'shv', '--mapping', mapping, '--dry-run', ...words, file], {});
  const { stdout } = await run();
  expect(stdout).toContain(': 1 levering(en), 1 records, 0 zaken; nothing stored\n');
  expect(stdout).toContain('"Burgerservicenummer": "999999999"');
  expect(stdout).toContain('"naam": "Xxxx 99x"');
  expect(stdout).toContain('"startdatum": "2026-01-05"');
  expect(stdout).not.toMatch(/000000012|lan 12b/);
  expect((await run('--show-persons')).stdout).toContain('"Burgerservicenummer": "000000012"');
  expect((await run('--show', '0', '--json')).stdout).toContain('"shown":{"records":[],"zaken":[]}');
});

it('replaces the period of the mapping, and judges the message as a whole', async () => {
  const mapping = shvTable({ '/omschrijving': 'A' });
  expect((await tryTable(mapping, table(), '--period', '2026-04-01/2026-06-30')).faults).toEqual([]);
  const dated = (start: string): string => {
    const envelope = {
      '/startdatumLevering': start,
      '/einddatumLevering': '2026-04-01',
      '/codeGegevensleverancier': 'T',
    };
    return shvTable({ '/omschrijving': 'A' }, {}, { envelope });
  };
  expect((await tryTable(dated('2026-06-30'), table())).faults).toEqual([
    { pointer: '/einddatumLevering', message: 'the period ends before it starts' },
  ]);
  expect((await tryTable(dated('2026-02-30'), table())).faults).toMatchObject([
    { pointer: '/startdatumLevering', message: expect.stringContaining('of the envelope: must match format') },
  ]);
});

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
