import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import { stringify } from 'yaml';
import { isRecord } from '../../../../src/lib/json/json-value.ts';
import { callProgram } from '../../../support/program.ts';

/** A new file with its own name. */
export function fileNamed(name: string, content: string | Buffer): string {
  const path = join(mkdtempSync(join(tmpdir(), 'tabel-')), name);
  writeFileSync(path, content);
  return path;
}

/** The common part of every test mapping; the rest is given. */
export function shvMapping(content: Readonly<Record<string, unknown>> = {}): string {
  return fileNamed('mapping.yaml', stringify({ ...shvDefaults, ...content }));
}

const shvDefaults = {
  variant: 'shv',
  csv: { delimiter: ';' },
  envelope: {
    '/startdatumLevering': '2026-01-01',
    '/einddatumLevering': '2026-03-31',
    '/aanleverdatumEnTijd': '2026-04-02T09:00:00+02:00',
    '/codeGegevensleverancier': 'Test 1.0',
  },
  levering: {
    '/aanleverende_organisatie/(Statutaire) Naam': { value: 'Noord' },
    '/aanleverende_organisatie/KvK-nummer': { value: '40000048' },
    '/aanleverende_organisatie/contactpersonen/0/email': { value: 'ddas@noord.example' },
  },
};

/** One table without a key: `columns` are the members filled by the columns of the same name. */
export function shvTable(members: Readonly<Record<string, unknown>>, table: object = {}, content: object = {}): string {
  return shvMapping({
    tables: [{ members: { '/gemeentecode': { value: '0014' }, ...members }, ...table }],
    ...content,
  });
}

interface DryRun {
  readonly status: number | null;
  readonly records: readonly Record<string, unknown>[];
  readonly zaken: readonly unknown[];
  readonly leveringen: number;
  readonly faults: readonly Record<string, unknown>[];
  readonly stderr: string;
}

/** The message that an import of a table would store, and its faults. */
export async function tryTable(mapping: string, file: string, ...words: readonly string[]): Promise<DryRun> {
  const args = ['--mapping', mapping, '--dry-run', '--show', '1000', '--show-persons', '--json', ...words, file];
  const variant = words.includes('--variant') ? [] : ['--variant', 'shv'];
  const { status, stdout, stderr } = await callProgram(['gegevens', 'import', ...variant, ...args], {});
  if (stdout === '') throw new Error(stderr);
  const { files } = JSON.parse(stdout);
  const [result] = Array.isArray(files) ? files.filter(isRecord) : [];
  const shown = isRecord(result?.shown) ? result.shown : {};
  const list = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.filter(isRecord) : []);
  return {
    status,
    stderr,
    records: list(shown.records),
    zaken: list(shown.zaken),
    leveringen: Number(result?.leveringen),
    faults: list(result?.faults),
  };
}

export interface ZipPart {
  readonly name: string;
  readonly data: Buffer | string;
  /** Overrides of the archive's metadata, to make it false. */
  readonly size?: number;
  readonly checksum?: number;
}

/** A ZIP file, byte by byte, so that it can be invalid too. */
export function zip(parts: readonly ZipPart[]): Buffer {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const { name, data, size, checksum } of parts) {
    const bytes = Buffer.from(data);
    const packed = deflateRawSync(bytes);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(0x0800, 2);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(checksum ?? crc32(bytes), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(size ?? bytes.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const before = Buffer.from([0x50, 0x4b, 3, 4]);
    local.push(before, fields, Buffer.from(name), packed);
    const after = Buffer.alloc(14);
    after.writeUInt32LE(offset, 10);
    central.push(Buffer.from([0x50, 0x4b, 1, 2, 20, 0]), fields, after, Buffer.from(name));
    offset += before.length + fields.length + name.length + packed.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006', 'latin1');
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...local, directory, end]);
}

interface WorkbookWishes {
  /** By sheet name: the XML of its rows, and what follows them. */
  readonly sheets: Readonly<Record<string, string>>;
  readonly strings?: readonly string[];
  /** Format codes: a cell's style is their number, from 1. */
  readonly formats?: readonly string[];
  readonly date1904?: boolean;
  readonly more?: readonly ZipPart[];
}

const MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** The parts of a workbook. A sheet is the XML of its rows: `<row r="1"><c r="A1" t="s"><v>0</v></c></row>`. */
export function workbookParts({
  sheets,
  strings,
  formats = [],
  date1904 = false,
  more = [],
}: WorkbookWishes): ZipPart[] {
  const names = Object.keys(sheets);
  const relation = (id: string, type: string, target: string): string =>
    `<Relationship Id="${id}" Type="${RELATIONS}/${type}" Target="${target}"/>`;
  const relations = (inner: string): string =>
    `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${inner}</Relationships>`;
  return [
    { name: '_rels/.rels', data: relations(relation('r', 'officeDocument', 'xl/workbook.xml')) },
    {
      name: 'xl/workbook.xml',
      data: `<workbook ${MAIN} xmlns:r="${RELATIONS}"><workbookPr${date1904 ? ' date1904="1"' : ''}/><sheets>${names
        .map((name, index) => `<sheet name="${name}" sheetId="${index + 1}" r:id="s${index}"/>`)
        .join('')}</sheets></workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      data: relations(
        [
          ...names.map((_, index) => relation(`s${index}`, 'worksheet', `worksheets/sheet${index + 1}.xml`)),
          relation('st', 'styles', 'styles.xml'),
          ...(strings === undefined ? [] : [relation('sh', 'sharedStrings', '/xl/sharedStrings.xml')]),
        ].join(''),
      ),
    },
    {
      name: 'xl/styles.xml',
      data: `<styleSheet ${MAIN}><numFmts>${formats
        .map((code, index) => `<numFmt numFmtId="${200 + index}" formatCode="${code.replaceAll('"', '&quot;')}"/>`)
        .join('')}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>${formats
        .map((_, index) => `<xf numFmtId="${200 + index}"/>`)
        .join('')}<xf numFmtId="14"/></cellXfs></styleSheet>`,
    },
    ...(strings === undefined
      ? []
      : [
          {
            name: 'xl/sharedStrings.xml',
            data: `<sst ${MAIN}>${strings.map((each) => `<si>${each}</si>`).join('')}</sst>`,
          },
        ]),
    ...names.map((name, index) => ({
      name: `xl/worksheets/sheet${index + 1}.xml`,
      data: `<worksheet ${MAIN}><sheetData>${sheets[name]}</worksheet>`.replace(
        /^(.*?)(<mergeCells.*)?<\/worksheet>$/s,
        '$1</sheetData>$2</worksheet>',
      ),
    })),
    ...more,
  ];
}

export function workbook(wishes: WorkbookWishes): string {
  return fileNamed('tabel.xlsx', zip(workbookParts(wishes)));
}

/** A row of texts. */
export function textRow(number: number, ...texts: readonly string[]): string {
  const cells = texts.map((text) => `<c t="inlineStr"><is><t xml:space="preserve">${text}</t></is></c>`);
  return `<row r="${number}">${cells.join('')}</row>`;
}
