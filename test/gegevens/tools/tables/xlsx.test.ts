import { describe, expect, it } from 'vitest';
import { fileNamed, shvMapping, shvTable, textRow, tryTable, workbook, workbookParts, zip } from './support.ts';

const names = textRow(1, 'Tekst', 'Datum', 'Bedrag');
const mapping = (): string =>
  shvTable({ '/omschrijving': 'Tekst', '/startdatum': 'Datum', '/totaalSchuldbedragBijAanvangSchuld': 'Bedrag' });

/** The records of one row of cells. */
async function rowOf(cells: string, more: Omit<Parameters<typeof workbook>[0], 'sheets'> = {}) {
  const sheets = { Blad: `${names}<row r="2">${cells}</row>` };
  const { records, faults } = await tryTable(mapping(), workbook({ sheets, ...more }));
  return { record: records[0], faults };
}

describe('a cell', () => {
  it('is a shared string, in parts, or an inline one', async () => {
    const strings = [
      '<t>een</t>',
      '<r><t>twee </t></r><r><t xml:space="preserve">drie</t></r><rPh><t>x</t></rPh>',
      '<t>_x0041_&amp;é</t>',
    ];
    const rows = [0, 1, 2].map((index) => `<row><c t="s"><v>${index}</v></c></row>`).join('');
    const { records } = await tryTable(mapping(), workbook({ sheets: { Blad: names + rows }, strings }));
    expect(records.map(({ omschrijving }) => omschrijving)).toEqual(['een', 'twee drie', 'A&é']);
    const inline = await rowOf('<c t="inlineStr"><is><r><t>v</t></r><r><t>ier</t></r></is></c>');
    expect(inline.record).toMatchObject({ omschrijving: 'vier' });
    for (const index of ['7', '-1', 'x'])
      expect((await rowOf(`<c t="s"><v>${index}</v></c>`, { strings })).faults).toMatchObject([{ cell: 'A2' }]);
  });

  it('is the stored result of a formula, and a fault without one or with an error', async () => {
    const good = await rowOf('<c t="str"><f>A1</f><v>tekst</v></c><c/><c><f>1+1</f><v>2.5</v></c>');
    expect(good.record).toMatchObject({ omschrijving: 'tekst', totaalSchuldbedragBijAanvangSchuld: 3 });
    const { faults } = await rowOf('<c><f>A1</f></c><c/><c t="e"><v>#N/A</v></c>');
    expect(faults).toEqual([
      {
        sheet: 'Blad',
        row: 2,
        column: 'Tekst',
        cell: 'A2',
        message: expect.stringContaining('formula without a stored result'),
      },
      { sheet: 'Blad', row: 2, column: 'Bedrag', cell: 'C2', message: 'holds an error (#N/A)' },
    ]);
  });

  it.each([
    [1, false, '1900-01-01'],
    [59, false, '1900-02-28'],
    [61, false, '1900-03-01'],
    [46023, false, '2026-01-01'],
    [46023.99999, false, '2026-01-01'],
    [44561, true, '2026-01-01'],
    [0, true, '1904-01-01'],
  ])('is the date of day %d (1904: %j)', async (serial, date1904, day) => {
    // With a date format, the file's own or built-in, and as a bare number where the model requires a date.
    for (const style of ['s="1"', 's="2"', '']) {
      const { record, faults } = await rowOf(`<c/><c ${style}><v>${serial}</v></c>`, {
        date1904,
        formats: ['[$-413]d mmmm yyyy;@'],
      });
      expect([faults, record]).toMatchObject([[], { startdatum: day }]);
    }
  });

  it.each([
    // As ExcelJS writes a Date of midnight in Amsterdam, in winter and in summer.
    [46055 + 23 / 24, '2026-02-03'],
    [46205 + 22 / 24, '2026-07-03'],
    // Times other than midnight there.
    [46205 + 23 / 24, '2026-07-02'],
    [46055 + 23.5 / 24, '2026-02-02'],
  ])('is the date of a UTC timestamp that is midnight in the Netherlands: %d is %s', async (serial, day) => {
    for (const style of ['s="1"', ''])
      expect((await rowOf(`<c/><c ${style}><v>${serial}</v></c>`)).record).toMatchObject({ startdatum: day });
  });

  it.each([60, 0, -1, 2_958_466])('is not a date for day %d', async (serial) => {
    expect((await rowOf(`<c/><c s="1"><v>${serial}</v></c>`)).faults).toMatchObject([{ cell: 'B2' }]);
  });

  it.each([
    ['2026-02-03', '2026-02-03'],
    ['2026-02-03T23:30:00', '2026-02-03'],
    // As SheetJS writes a Date of midnight in Amsterdam.
    ['2026-02-02T23:00:00.000Z', '2026-02-03'],
    ['2026-07-02T22:00:00.000Z', '2026-07-03'],
  ])('is an ISO date of the file itself: %s is %s', async (text, day) => {
    expect((await rowOf(`<c/><c t="d"><v>${text}</v></c>`)).record).toMatchObject({ startdatum: day });
  });

  it('keeps leading zeros: of texts, of a format that shows them, and by `digits`', async () => {
    const sheet = [
      textRow(1, 'BSN', 'Code', 'Postcode'),
      '<row r="2"><c s="1"><v>12</v></c><c><v>14</v></c><c t="inlineStr"><is><t>0123 AB</t></is></c></row>',
      '<row r="3"><c t="inlineStr"><is><t>000000024</t></is></c><c t="inlineStr"><is><t>0344</t></is></c></row>',
    ].join('');
    const { records } = await tryTable(
      shvTable({
        '/gemeentecode': { column: 'Code', digits: 4 },
        '/client/-/Burgerservicenummer': 'BSN',
        '/client/-/Postcode': 'Postcode',
      }),
      workbook({ sheets: { Blad: sheet }, formats: ['000000000'] }),
    );
    expect(records).toEqual([
      { gemeentecode: '0014', client: [{ Burgerservicenummer: '000000012', Postcode: '0123AB' }] },
      { gemeentecode: '0344', client: [{ Burgerservicenummer: '000000024' }] },
    ]);
  });

  it.each([
    ['a shared string', '<c t="s">V</c>'],
    ['an inline string', '<c t="inlineStr">V</c>'],
    ['an empty text of a formula', '<c t="str">V</c>'],
    ['a number', '<c>V</c>'],
    ['a number with a format', '<c s="1">V</c>'],
    ['a boolean', '<c t="b">V</c>'],
    ['a date', '<c t="d">V</c>'],
    ['an error', '<c t="e">V</c>'],
  ])('is absent without a value: %s', async (_, cell) => {
    const strings = ['<t>Tekst</t>', '<t>2026-01-01</t>'];
    for (const value of ['<v></v>', '<v/>', '<v> </v>', '<v>\n</v>', '']) {
      const blank = cell.replace('V', value);
      const cells = `${blank}${blank}<c><v>1</v></c>`;
      const { record, faults } = await rowOf(cells, { strings, formats: ['yyyy-mm-dd'] });
      expect([value, faults, record]).toEqual([
        value,
        [],
        { gemeentecode: '0014', totaalSchuldbedragBijAanvangSchuld: 1 },
      ]);
    }
  });

  it('is a fault if a formula was never calculated, and absent if its result is the empty text', async () => {
    const absent = await rowOf('<c t="str"><f>A1</f><v></v></c><c/><c><v>1</v></c>');
    expect([absent.faults, absent.record]).toEqual([
      [],
      { gemeentecode: '0014', totaalSchuldbedragBijAanvangSchuld: 1 },
    ]);
    const { faults } = await rowOf('<c><f>A1</f><v></v></c><c/><c><v>1</v></c>');
    expect(faults).toMatchObject([{ cell: 'A2', message: expect.stringContaining('without a stored result') }]);
  });

  it.each(['<c t="b"><v>2</v></c>', '<c><v>0x10</v></c>', '<c t="s"><v>0.0</v></c>', '<c t="d"><v>2026-02-30</v></c>'])(
    'is a fault when its value is not of its type: %s',
    async (cell) => {
      expect((await rowOf(cell, { strings: ['<t>a</t>'] })).faults).toMatchObject([{ cell: 'A2' }]);
    },
  );

  it.each(['Standard', 'USD 0.00', '0" d"', '[h]:mm', '\\d0', '#,##0_d'])(
    'is a number in the format %s: house number 7 is not a day in 1900',
    async (code) => {
      const sheets = { Blad: `${textRow(1, 'Nr')}<row r="2"><c s="1"><v>7</v></c></row>` };
      const { records } = await tryTable(
        shvTable({ '/client/-/Huisnummer': 'Nr' }),
        workbook({ sheets, formats: [code] }),
      );
      expect(records).toEqual([{ gemeentecode: '0014', client: [{ Huisnummer: '7' }] }]);
    },
  );

  it('is read as fast with a format code of 100 000 characters', async () => {
    for (const code of ['[', '"', '\\', '_'].map((sign) => sign.repeat(100_000))) {
      const before = process.cpuUsage();
      const { record } = await rowOf('<c/><c/><c s="1"><v>5</v></c>', { formats: [code] });
      const { user } = process.cpuUsage(before);
      expect(record).toMatchObject({ totaalSchuldbedragBijAanvangSchuld: 5 });
      expect(user / 1000).toBeLessThan(1000);
    }
  });

  it('is true or false', async () => {
    const sheets = { Blad: `${textRow(1, 'Crisis')}<row><c t="b"><v>1</v></c></row><row><c t="b"><v>0</v></c></row>` };
    const { records } = await tryTable(shvTable({ '/aanmelding/crisisinterventie': 'Crisis' }), workbook({ sheets }));
    expect(records).toMatchObject([
      { aanmelding: { crisisinterventie: true } },
      { aanmelding: { crisisinterventie: false } },
    ]);
  });
});

describe('merged cells', () => {
  it('have their value in each row, in the first column; otherwise empty rows stay empty', async () => {
    const sheets = {
      Blad: `${textRow(1, 'Titel')}<row r="2"/>${textRow(3, 'Tekst', 'Datum', 'Bedrag')}
        <row r="4"><c r="A4" t="inlineStr"><is><t>een</t></is></c><c r="C4"><v>1</v></c></row>
        <row r="5"><c r="A5"/><c r="C5"><v>2</v></c></row>
        <row r="6"><c r="A6"/></row>
        <row r="7"><c r="B7" t="inlineStr"><is><t>2026-01-01</t></is></c><c r="C7"><v>3</v></c></row>
        <mergeCells count="3"><mergeCell ref="A1:C1"/><mergeCell ref="A4:A6"/><mergeCell ref="B7:C8"/></mergeCells>`,
    };
    const table = { header: 3 };
    const { records, faults } = await tryTable(
      shvTable(
        { '/omschrijving': 'Tekst', '/startdatum': 'Datum', '/totaalSchuldbedragBijAanvangSchuld': 'Bedrag' },
        table,
      ),
      workbook({ sheets }),
    );
    expect(faults).toEqual([]);
    expect(records).toMatchObject([
      { omschrijving: 'een', totaalSchuldbedragBijAanvangSchuld: 1 },
      { omschrijving: 'een', totaalSchuldbedragBijAanvangSchuld: 2 },
      { startdatum: '2026-01-01', totaalSchuldbedragBijAanvangSchuld: 3 },
    ]);
  });
});

it('ignores a merge of one cell or none', async () => {
  const merges = '<mergeCells count="2"><mergeCell ref="A2"/><mergeCell ref=""/><mergeCell/></mergeCells>';
  const sheets = { Blad: `${names}<row r="2"><c t="inlineStr"><is><t>een</t></is></c></row>${merges}` };
  const { records, faults } = await tryTable(mapping(), workbook({ sheets }));
  expect([faults, records]).toEqual([[], [{ gemeentecode: '0014', omschrijving: 'een' }]]);
});

it('finds its parts regardless of case', async () => {
  const parts = workbookParts({
    sheets: { Blad: `${names}<row><c t="s"><v>0</v></c></row>` },
    strings: ['<t>een</t>'],
  });
  const renamed = parts.map((part) => ({ ...part, name: part.name.replace('xl/', 'XL/').replace('.xml', '.XML') }));
  const { records, faults } = await tryTable(mapping(), fileNamed('tabel.xlsx', zip(renamed)));
  expect([faults, records]).toEqual([[], [{ gemeentecode: '0014', omschrijving: 'een' }]]);
});

describe('several sheets', () => {
  const twoSheets = (debts: string) =>
    workbook({
      sheets: { Trajecten: textRow(1, 'Nr', 'Tekst') + textRow(2, 'a', 'x') + textRow(3, 'b', 'y'), Schulden: debts },
    });
  const joined = (sheet = 'schulden') =>
    shvMapping({
      tables: [
        { sheet: 'Trajecten', key: ['Nr'], members: { '/gemeentecode': { value: '0014' }, '/omschrijving': 'Tekst' } },
        { sheet, key: ['Traject'], members: { '/schulden/-/bedrag': 'Bedrag' } },
      ],
    });

  it('make one record by their key', async () => {
    const debts = textRow(1, 'Traject', 'Bedrag') + textRow(2, 'b', '1') + textRow(3, 'a', '2') + textRow(4, 'b', '3');
    const { records, faults } = await tryTable(joined(), twoSheets(debts));
    expect(faults).toEqual([]);
    expect(records).toMatchObject([
      { omschrijving: 'x', schulden: [{ bedrag: 2 }] },
      { omschrijving: 'y', schulden: [{ bedrag: 1 }, { bedrag: 3 }] },
    ]);
  });

  it('are reported together: a missing sheet, an unmatched key, and cells of both', async () => {
    const unknown = await tryTable(joined('Leningen'), twoSheets(textRow(1, 'Traject')));
    expect(unknown.faults).toEqual([
      { sheet: 'Leningen', message: 'the workbook has no such sheet; it has "Trajecten", "Schulden"' },
    ]);
    const debts = textRow(1, 'Traject', 'Bedrag') + textRow(2, 'c', '1') + textRow(3, 'a', 'veel');
    const { faults } = await tryTable(joined(), twoSheets(debts));
    expect(faults).toMatchObject([
      { sheet: 'Schulden', row: 2, cell: 'A2', column: 'Traject', message: 'no row of the main table has this key' },
      { sheet: 'Schulden', row: 3, cell: 'B3', column: 'Bedrag' },
    ]);
  });
});

describe('an unreadable workbook', () => {
  const parts = workbookParts({ sheets: { Blad: names }, strings: ['<t>a</t>'] });
  const replaced = (name: string, data: string | Buffer) =>
    zip(parts.map((part) => (part.name === name ? { ...part, data } : part)));
  const sheet = 'xl/worksheets/sheet1.xml';
  const spaces = Buffer.alloc(8 * 1024 * 1024, 0x20);

  it.each<[string, () => Buffer, RegExp]>([
    ['is not a ZIP file', () => Buffer.from('Tekst;Datum'), /not a complete XLSX \(ZIP\) file/],
    ['is empty', () => Buffer.alloc(0), /not a complete XLSX/],
    ['is truncated', () => zip(parts).subarray(0, 900), /not a complete XLSX/],
    ['is an XLS file, or has a password', () => Buffer.from('d0cf11e0a1b11ae1', 'hex'), /password/],
    ['is another ZIP file', () => zip([{ name: 'brief.txt', data: 'x' }]), /no part xl\/workbook.xml/],
    [
      'is damaged',
      () => zip(parts.map((part) => (part.name === sheet ? { ...part, checksum: 1 } : part))),
      /is damaged/,
    ],
    [
      'has a part that is not UTF-8',
      () => replaced(sheet, Buffer.from('<worksheet>Co\xf6peratie</worksheet>', 'latin1')),
      /sheet1.xml of the XLSX file is not valid UTF-8/,
    ],
    ['has truncated XML', () => replaced(sheet, '<worksheet><sheetData><row>'), /not well-formed/],
    [
      'has a document type',
      () => replaced(sheet, '<!DOCTYPE x [<!ENTITY a "b">]><worksheet>&a;</worksheet>'),
      /document type/,
    ],
    [
      'has a tag without an end',
      () => replaced(sheet, `<worksheet ${'a="1" '.repeat(300_000)}`),
      /a tag or text of more than/,
    ],
    ['is nested endlessly', () => replaced(sheet, '<a>'.repeat(100_000)), /nested too deeply/],
    [
      'has unordered rows',
      () => replaced(sheet, '<worksheet><row r="5"/><row r="4"/></worksheet>'),
      /no number that can follow/,
    ],
    [
      'has a row beyond the last',
      () => replaced(sheet, '<worksheet><row r="1048577"/></worksheet>'),
      /no number that can follow/,
    ],
    [
      'has a cell of two megabytes',
      () => replaced(sheet, `<worksheet><row><c><v>${'9'.repeat(2_000_000)}</v></c></row></worksheet>`),
      /a tag or text of more than/,
    ],
    [
      'is larger than declared once unpacked',
      () => zip([...parts.filter(({ name }) => name !== sheet), { name: sheet, data: spaces, size: 1000 }]),
      /not a complete XLSX.*too many bytes/,
    ],
    [
      'declares more than 4 GB unpacked',
      () => zip(parts.map((part) => (part.name === 'xl/sharedStrings.xml' ? { ...part, size: 2 ** 31 } : part))),
      /more than 1073741824 bytes unpacked/,
    ],
  ])('%s', async (_, make, message) => {
    const { status, faults } = await tryTable(mapping(), fileNamed('tabel.xlsx', make()));
    expect([status, faults.map((fault) => fault.message)]).toEqual([1, [expect.stringMatching(message)]]);
  });
});

it('is recognised by its first bytes, whatever its name', async () => {
  const file = fileNamed('tabel.csv', zip(workbookParts({ sheets: { Blad: names + textRow(2, 'x') } })));
  expect((await tryTable(mapping(), file)).records).toMatchObject([{ omschrijving: 'x' }]);
});
