import { posix } from 'node:path';
import type { Row, TableFile } from '../cell.ts';
import { UnreadableTable } from '../table-faults.ts';
import { findMergedAreas } from './merged-areas.ts';
import { readWholeXml, readXml } from './read-xml.ts';
import { SharedStrings, sharedStringsHandler } from './shared-strings.ts';
import { SheetReader, type Workbook } from './sheet-rows.ts';
import { type CellFormat, stylesHandler } from './styles.ts';
import { ZipArchive } from './zip-archive.ts';

/** For the parts that say what is in the workbook. */
const MAX_PART_BYTES = 16 * 1024 * 1024;
const MAX_STRINGS_BYTES = 1024 ** 3;
const MAX_SHEETS = 1000;

interface Sheet {
  readonly name: string;
  readonly part: string;
}

interface XlsxOptions {
  readonly signal: AbortSignal;
  /** @param bytes of sheets, unpacked, so far */
  readonly onBytes: (bytes: number) => void;
}

/**
 * Opens a workbook. Its sheets are read as streams; only the texts that cells share are in memory.
 * @throws {UnreadableTable} when it is none
 */
export async function openXlsx(path: string, { signal, onBytes }: XlsxOptions): Promise<TableFile> {
  const archive = await ZipArchive.open(path);
  let read = 0;
  async function* counted(part: string): AsyncGenerator<Buffer> {
    for await (const chunk of archive.read(part)) {
      signal.throwIfAborted();
      read += chunk.length;
      onBytes(read);
      yield chunk;
    }
  }
  try {
    const { sheets, book } = await readWorkbook(archive);
    return {
      kind: 'xlsx',
      sheets: sheets.map(({ name }) => name),
      readAs: 'XLSX',
      date1904: book.date1904,
      async *rows(name): AsyncGenerator<readonly Row[]> {
        const sheet = sheets.find((each) => each.name === name);
        if (sheet === undefined) throw new UnreadableTable('the workbook has no such sheet', { sheet: name });
        const reader = new SheetReader(book, await findMergedAreas(() => counted(sheet.part), sheet.part));
        for await (const _ of readXml(counted(sheet.part), sheet.part, reader)) yield reader.take();
        yield reader.take();
      },
      close: async () => archive.close(),
    };
  } catch (error) {
    archive.close();
    throw error;
  }
}

async function readWorkbook(archive: ZipArchive): Promise<{ sheets: readonly Sheet[]; book: Workbook }> {
  const main =
    (await relations(archive, '')).find(({ type }) => type === 'officeDocument')?.target ?? 'xl/workbook.xml';
  const parts = await relations(archive, main);
  const named: { readonly name: string; readonly id: string }[] = [];
  let date1904 = false;
  await readWholeXml(archive.read(main, MAX_PART_BYTES), main, {
    open: (tag, { name = '', id = '', date1904: system }) => {
      if (tag === 'workbookPr') date1904 = system === '1' || system === 'true';
      else if (tag === 'sheet' && named.length < MAX_SHEETS) named.push({ name, id });
    },
  });
  const sheets = named.flatMap(({ name, id }) => {
    const part = parts.find((each) => each.id === id && each.type === 'worksheet');
    return part === undefined ? [] : [{ name, part: part.target }];
  });
  if (sheets.length === 0) throw new UnreadableTable('the workbook has no sheet with cells');
  const strings = new SharedStrings();
  const sharedPart = parts.find(({ type }) => type === 'sharedStrings')?.target;
  if (sharedPart !== undefined) {
    await readWholeXml(archive.read(sharedPart, MAX_STRINGS_BYTES), sharedPart, sharedStringsHandler(strings));
  }
  const formats: CellFormat[] = [];
  const stylesPart = parts.find(({ type }) => type === 'styles')?.target;
  if (stylesPart !== undefined) {
    await readWholeXml(archive.read(stylesPart, MAX_PART_BYTES), stylesPart, stylesHandler(formats));
  }
  return { sheets, book: { strings, formats, date1904 } };
}

interface Relation {
  readonly id: string;
  /** The last step of its address. */
  readonly type: string;
  readonly target: string;
}

/** The parts that a part refers to. @param part the empty text for the file as a whole */
async function relations(archive: ZipArchive, part: string): Promise<Relation[]> {
  const found: Relation[] = [];
  const name = posix.join(posix.dirname(part), '_rels', `${posix.basename(part)}.rels`);
  if (!archive.has(name)) return found;
  await readWholeXml(archive.read(name, MAX_PART_BYTES), name, {
    open: (tag, { Id = '', Type = '', Target = '', TargetMode }) => {
      if (tag !== 'Relationship' || TargetMode === 'External') return;
      const target = Target.startsWith('/') ? Target.slice(1) : posix.join(posix.dirname(part), Target);
      found.push({ id: Id, type: Type.slice(Type.lastIndexOf('/') + 1), target });
    },
  });
  return found;
}
