import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readMappingFile } from '../../../../src/gegevens/tools/tables/mapping-file.ts';
import { planTables } from '../../../../src/gegevens/tools/tables/plan.ts';
import { readTables } from '../../../../src/gegevens/tools/tables/read-tables.ts';
import { loadModel } from '../../../../src/lib/exchange-model/model.ts';
import { fileNamed, shvMapping, shvTable, tryTable } from './support.ts';

const EXAMPLE = join(import.meta.dirname, '../../../../examples/tables/gegevens/vs-signalen.xlsx');
const csv = (...lines: readonly string[]): string => fileNamed('tabel.csv', `${lines.join('\r\n')}\r\n`);
const client = { '/client/-/Burgerservicenummer': 'BSN', '/client/-/Postcode': 'Postcode' };

describe('how a CSV file is written', () => {
  it('is Windows-1252 if the mapping says so', async () => {
    const file = fileNamed('tabel.csv', Buffer.from('Omschrijving\r\nCaf\xe9 \x80 5 \x91s\r\n', 'latin1'));
    const mapping = shvTable({ '/omschrijving': 'Omschrijving' }, {}, { csv: { encoding: 'windows-1252' } });
    expect((await tryTable(mapping, file)).records).toEqual([{ gemeentecode: '0014', omschrijving: 'Café € 5 ‘s' }]);
  });

  it('is UTF-8 by default, and other bytes are a fault', async () => {
    const file = fileNamed('tabel.csv', Buffer.from('Omschrijving\nCaf\xe9\n', 'latin1'));
    const { status, faults } = await tryTable(shvTable({ '/omschrijving': 'Omschrijving' }), file);
    expect(status).toBe(1);
    expect(faults).toEqual([{ row: 2, column: 'Omschrijving', message: expect.stringContaining('not valid UTF-8') }]);
  });

  it.each<[string, object]>([
    ['a key', { key: ['Naam'] }],
    ['that selects rows', { where: { column: 'Naam', notIn: ['x'] } }],
    ['no member', {}],
  ])('is UTF-8 in a column that is %s too', async (_, table) => {
    const file = fileNamed('tabel.csv', Buffer.from('Naam;T\nCaf\xe9;a\nCaf\xe8;b\n', 'latin1'));
    const { faults } = await tryTable(shvTable({ '/omschrijving': 'T' }, table), file);
    const message = expect.stringContaining('not valid UTF-8');
    expect(faults).toEqual([
      { row: 2, column: 'Naam', message },
      { row: 3, column: 'Naam', message },
    ]);
    const header = fileNamed('tabel.csv', Buffer.from('T;Caf\xe9\na;b\n', 'latin1'));
    expect((await tryTable(shvTable({ '/omschrijving': 'T' }), header)).faults).toEqual([
      { row: 1, column: 'B', message },
    ]);
  });

  it.each([
    ['of the whole file', Buffer.from('T\r\na\r\nCoöperatie Zuid\r\n')],
    ['without a final line end', Buffer.from('T\r\na\r\nCoöperatie Zuid')],
    ['after lines that are Windows-1252', Buffer.concat([Buffer.from('T\nCaf\xe9\n', 'latin1'), Buffer.from('€ 5\n')])],
    ['with accents that are characters of their own', Buffer.from('T\na\nCoo\u0308peratie\n')],
    ['after Mac line ends', Buffer.from('T\ra\rCoöperatie Zuid\r')],
    ['beyond the first chunk', Buffer.from(`T\n${'x'.repeat(300_000)}\nCoöperatie Zuid\n`)],
  ])('is not Windows-1252 in a line of UTF-8 %s', async (_, bytes) => {
    const mapping = shvTable({ '/omschrijving': 'T' }, {}, { csv: { encoding: 'windows-1252' } });
    const { status, faults } = await tryTable(mapping, fileNamed('tabel.csv', bytes));
    const message = 'line 3 of the file is UTF-8, and the mapping says windows-1252: set csv.encoding to utf-8';
    expect(status).toBe(1);
    expect(faults.at(-1)).toEqual({ message });
  });

  it('is Windows-1252 in a line whose bytes happen to be UTF-8 of another script', async () => {
    const file = fileNamed('tabel.csv', Buffer.from('T\nCAF\xc9\x94\nCAF\xc9\xa0\n', 'latin1'));
    const mapping = shvTable({ '/omschrijving': 'T' }, {}, { csv: { encoding: 'windows-1252' } });
    expect((await tryTable(mapping, file)).records.map(({ omschrijving }) => omschrijving)).toEqual(['CAFÉ”', 'CAFÉ']);
  });

  it.each([
    ['sep=,', ';'],
    ['sep=\t', '|'],
    ['\ufeffSEP=|', undefined],
  ])('states its delimiter in the first line, %j, which is not a row', async (first, mapped) => {
    const delimiter = first.at(-1);
    const rows = [first, ['Start', 'T'].join(delimiter), ['x', 'a'].join(delimiter)];
    const content = mapped === undefined ? { csv: {} } : { csv: { delimiter: mapped } };
    const mapping = shvTable({ '/startdatum': 'Start', '/omschrijving': 'T' }, { header: 1 }, content);
    expect((await tryTable(mapping, csv(...rows))).faults).toMatchObject([{ row: 2, column: 'Start' }]);
    const good = csv(...rows.slice(0, 2), ['2026-01-05', 'a'].join(delimiter));
    expect((await tryTable(mapping, good)).records).toMatchObject([{ startdatum: '2026-01-05', omschrijving: 'a' }]);
  });

  it.each([
    ['T;U\na;b\nc;d\r\n', 'line 1 in LF, line 3 in CR LF'],
    ['T;U\r\na;b\r\nc;d\ne;f\r\n', 'line 1 in CR LF, line 3 in LF'],
    ['T;U\r\r\na;b\r\r\n', 'line 1 in CR, line 2 in CR LF'],
    ['T;U\n"a\r\nb";c\nd\re;f\n', 'line 1 in LF, line 4 in CR'],
    ['sep=;\r\nT;U\na;b\r\n', 'line 2 in LF, line 3 in CR LF'],
  ])('has one kind of line end: %j', async (text, ends) => {
    const { status, faults } = await tryTable(shvTable({ '/omschrijving': 'T' }), fileNamed('tabel.csv', text));
    expect(status).toBe(1);
    expect(faults.at(-1)).toEqual({
      message: `its lines end in different ways: ${ends}; save it with one of them`,
    });
  });

  it.each(['\n', '\r', '\r\n'])('has any kind of line end, %j, and others within quotes', async (end) => {
    const file = fileNamed('tabel.csv', ['T;U', '"a\nb\r\nc\rd";x', 'e;y', ''].join(end));
    const { records, faults } = await tryTable(shvTable({ '/omschrijving': 'T' }), file);
    expect([faults, records.map(({ omschrijving }) => omschrijving)]).toEqual([[], ['a\nb\r\nc\rd', 'e']]);
  });

  it('may begin with a byte order mark', async () => {
    const file = csv('\ufeffOmschrijving;Postcode', 'é;x');
    const { records } = await tryTable(shvTable({ '/omschrijving': 'Omschrijving' }), file);
    expect(records).toMatchObject([{ omschrijving: 'é' }]);
  });

  it.each([
    [';', undefined],
    [',', ','],
    ['\t', '\t'],
    ['~', '~'],
  ])('has the delimiter %j', async (delimiter, named) => {
    const file = csv(['BSN', 'Postcode'].join(delimiter), ['000000012', '0123 AB'].join(delimiter));
    const mapping = shvTable(client, {}, { csv: named === undefined ? {} : { delimiter: named } });
    const { records } = await tryTable(mapping, file);
    expect(records).toMatchObject([{ client: [{ Burgerservicenummer: '000000012', Postcode: '0123AB' }] }]);
  });

  it('reports how it was read when a column is missing', async () => {
    const mapping = shvTable({ '/omschrijving': 'BSN' }, {}, { csv: {} });
    const message = expect.stringContaining('no such column; 1 columns were read as utf-8, delimiter ";"');
    expect((await tryTable(mapping, csv('BSN,a', '1,2'))).faults).toMatchObject([{ row: 1, column: 'BSN', message }]);
  });

  it('has quoted cells over several lines, and rows are counted as in a spreadsheet', async () => {
    const file = csv('BSN;Omschrijving', '1;"een ""twee""\r\ndrie; vier"', '2;"x', 'y"', '3;z');
    const { records, faults } = await tryTable(
      shvTable({ '/omschrijving': 'Omschrijving', '/startdatum': 'BSN' }),
      file,
    );
    expect(records.map(({ omschrijving }) => omschrijving)).toEqual(['een "twee"\r\ndrie; vier', 'x\r\ny', 'z']);
    expect(faults.map(({ row }) => row)).toEqual([2, 3, 4]);
  });

  it('has empty rows anywhere', async () => {
    const file = csv('', ';;', 'BSN;Postcode', ';', '000000012;0123 AB', '', '   ; ', '000000024;0123 AC', '');
    const { records, faults } = await tryTable(shvTable(client), file);
    expect([records.length, faults]).toEqual([2, []]);
  });

  it('has its header row further down', async () => {
    const below = csv('Overzicht', '', 'bsn ;POST  CODE', '1;0123 AB');
    const columns = { '/omschrijving': 'BSN', '/client/-/Postcode': 'Post code' };
    expect((await tryTable(shvTable(columns, { header: 3 }), below)).records).toMatchObject([{ omschrijving: '1' }]);
    const numbered = shvTable({ '/omschrijving': 2 });
    expect((await tryTable(numbered, csv('T;T', '1;een', '2;twee'))).records).toMatchObject([
      { omschrijving: 'een' },
      { omschrijving: 'twee' },
    ]);
  });
});

describe('an unreadable CSV file', () => {
  const mapping = (): string => shvTable(client);

  it.each([
    ['is truncated within quotes', 'BSN;Postcode\n1;"a\n2;b\n', /row has|never closed/],
    ['has a quote within a cell', 'BSN;Postcode\n1;a\n2;b"c"\n', /quote within a cell/],
    ['is UTF-16', Buffer.from('\ufeffBSN;Postcode\n1;2', 'utf16le'), /not UTF-8 or Windows-1252/],
    ['is empty', '', /no header row/],
  ])('%s', async (_, text, message) => {
    const { status, faults } = await tryTable(mapping(), fileNamed('tabel.csv', text));
    expect(status).toBe(1);
    expect(faults.map((fault) => fault.message)).toEqual([expect.stringMatching(message)]);
  });

  it('is truncated within a row, or has an extra delimiter', async () => {
    const file = fileNamed('tabel.csv', 'BSN;Postcode;Nr\n1;0123 AB;5\n2;0123 AB;5;6\n3;0123 AB;5;\n4;01');
    const { faults } = await tryTable(mapping(), file);
    expect(faults.map(({ row, message }) => [row, message])).toEqual([
      [3, expect.stringContaining('4 cells, and 3 columns')],
      [5, expect.stringContaining('2 cells, and 3 columns')],
    ]);
  });

  it('has an unclosed quote for more than a megabyte', async () => {
    const file = fileNamed('tabel.csv', `BSN;Postcode\n1;"${'x\n'.repeat(1_000_000)}`);
    const { faults } = await tryTable(mapping(), file);
    expect(faults).toMatchObject([{ row: 2, message: expect.stringContaining('bytes') }]);
  });

  it('lacks a column of the mapping, or has it twice', async () => {
    const { faults } = await tryTable(
      shvTable({ '/omschrijving': 'Naam', '/startdatum': 'Start', '/einddatum': 'Einde' }),
      csv('Start;Einde;start;Los;Los', '1;2;3;4;5'),
    );
    expect(faults).toEqual([
      { row: 1, column: 'Naam', message: expect.stringContaining('no such column') },
      { row: 1, column: 'Start', message: '2 columns of this name: A, C' },
    ]);
  });
});

describe('rows and records', () => {
  const debts = () =>
    shvTable(
      { ...client, '/schulden/-/bedrag': 'Bedrag', '/schulden/-/zakelijkeSchuld': { value: false } },
      { key: ['Nr'], items: { '/client': { key: ['BSN'] } } },
    );
  const rows = ['Nr;BSN;Postcode;Bedrag', 'a;1;0123 AB;10', 'a;2;;20', 'b;3;;', 'a;1;;30'];

  it('are one record when their key is the same; items with a key are one item', async () => {
    const { records, faults } = await tryTable(debts(), csv(...rows.slice(0, 4)));
    expect(faults).toEqual([]);
    expect(records).toMatchObject([
      {
        client: [{ Burgerservicenummer: '000000001', Postcode: '0123AB' }, { Burgerservicenummer: '000000002' }],
        schulden: [
          { bedrag: 10, zakelijkeSchuld: false },
          { bedrag: 20, zakelijkeSchuld: false },
        ],
      },
      { client: [{ Burgerservicenummer: '000000003' }] },
    ]);
    // A constant makes no item.
    expect(records[1]).not.toHaveProperty('schulden');
  });

  it('are gathered from anywhere in the table', async () => {
    const { records, faults } = await tryTable(debts(), csv(...rows));
    expect(faults).toEqual([]);
    expect(records).toMatchObject([{ schulden: [{ bedrag: 10 }, { bedrag: 20 }, { bedrag: 30 }] }, {}]);
  });

  it('are a fault when rows of one record differ', async () => {
    const mapping = shvTable({ '/omschrijving': 'Tekst' }, { key: ['Nr'] });
    const { faults } = await tryTable(mapping, csv('Nr;Tekst', 'a;x', 'a;', 'a;y', ';z'));
    expect(faults).toEqual([
      { row: 4, column: 'Tekst', message: 'differs from row 2, of the same record' },
      { row: 5, column: 'Nr', message: 'the key of the record is empty' },
    ]);
  });

  it('are read if a column says so, and one cell can make several items', async () => {
    const mapping = shvMapping({
      tables: [
        { key: ['Nr'], where: { column: 'Soort', in: ['t'] }, members: { '/gemeentecode': 'Waarde' } },
        {
          key: ['Nr'],
          where: { column: 'Soort', in: ['S'] },
          members: { '/schulden/-/bedrag': { column: 'Waarde', split: '+' } },
        },
      ],
    });
    const { records } = await tryTable(mapping, csv('Soort;Nr;Waarde', 'S;1;10 + 20', 'T;1;0014', 'X;1;?'));
    expect(records).toEqual([{ gemeentecode: '0014', schulden: [{ bedrag: 10 }, { bedrag: 20 }] }]);
  });

  it('make a levering for each different organisation, in the order of the file', async () => {
    const levering = {
      '/aanleverende_organisatie/(Statutaire) Naam': 'Organisatie',
      '/aanleverende_organisatie/contactpersonen/0/email': { value: 'a@b.example' },
    };
    const mapping = shvTable({ '/omschrijving': 'Tekst' }, {}, { levering });
    const { leveringen } = await tryTable(mapping, csv('Organisatie;Tekst', 'Noord;1', 'Zuid;2', 'Noord;3'));
    expect(leveringen).toBe(2);
  });

  it('have numbered items, without gaps for empty ones', async () => {
    const mapping = shvTable({ '/client/1/Burgerservicenummer': 'Partner', '/client/0/Burgerservicenummer': 'BSN' });
    const { records } = await tryTable(mapping, csv('BSN;Partner', '1;2', ';3'));
    expect(records).toMatchObject([
      { client: [{ Burgerservicenummer: '000000001' }, { Burgerservicenummer: '000000002' }] },
      { client: [{ Burgerservicenummer: '000000003' }] },
    ]);
  });
});

it('stop when interrupted, with that reason', async () => {
  const file = fileNamed('tabel.csv', `T\n${'x\n'.repeat(200_000)}`);
  const plan = planTables(readMappingFile(shvTable({ '/omschrijving': 'T' })), loadModel('shv'));
  for (const path of [file, fileNamed('t.xlsx', readFileSync(EXAMPLE))]) {
    const interruption = new AbortController();
    const onBytes = (): void => interruption.abort(new Error('interrupted'));
    const { signal } = interruption;
    const reading = readTables({ plan, path, envelop: {}, signal, onBytes, samples: 0 });
    await expect(reading).rejects.toThrow('interrupted');
  }
});

it('report all faults at once, with row and column, and repeat no value', async () => {
  const mapping = shvTable({
    '/startdatum': 'Start',
    '/totaalSchuldbedragBijAanvangSchuld': 'Schuld',
    '/aanmelding/crisisinterventie': 'Crisis',
    '/uitstroom/reden': { column: 'Reden', values: { A: 'Afgerond', X: 'Weg' } },
    '/gemeentecode': 'Gemeente',
  });
  const { faults, stderr } = await tryTable(
    mapping,
    csv(
      'Start;Schuld;Crisis;Reden;Gemeente',
      '30-02-2026;veel;geheim;B;0014',
      '1-2-2026;1;ja;X;0014',
      '1-2-2026;1;ja;A;',
    ),
  );
  expect(faults).toEqual([
    { row: 2, column: 'Start', message: 'is not a date of the form yyyy-MM-dd, d-M-yyyy' },
    { row: 2, column: 'Schuld', message: 'is not a number with a comma before its decimals' },
    { row: 2, column: 'Crisis', message: expect.stringContaining('is not one of ja') },
    { row: 2, column: 'Reden', message: 'is not among the values that the mapping knows' },
    {
      row: 3,
      column: 'Reden',
      pointer: '/uitstroom/reden',
      message: expect.stringMatching(/^must be one of "Overleden"/),
    },
    { row: 4, column: 'Gemeente', pointer: '', message: "must have required property 'gemeentecode'" },
  ]);
  expect(JSON.stringify([faults, stderr])).not.toMatch(/veel|geheim/);
});
