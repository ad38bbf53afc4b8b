import { posix } from 'node:path';
import { type OpenOptions, type Row, type TableFile, UnreadableTable } from '../table-file.ts';
import { type Archive, openArchive, readWholeXml, readXml, type XmlElement } from './archive.ts';
import { type CellFormat, collectFormats } from './cell-format.ts';
import { type CellContext, findMergedAreas, RichText, SheetRows } from './sheet-rows.ts';

const MAX_PART_BYTES = 16 * 1024 * 1024;
const MAX_STRINGS_BYTES = 1024 ** 3;
/** For the shared strings of cells, which are held in memory. */
const MAX_TEXT_BYTES = 128 * 1024 * 1024;
const TEXT_OVERHEAD = 32;

interface Sheet {
  readonly name: string;
  readonly part: string;
}

/** Opens a workbook. Its sheets are read as streams. @throws {UnreadableTable} when it is not one */
export async function openXlsx(path: string, { signal, onBytes }: OpenOptions): Promise<TableFile> {
  const archive = await openArchive(path);
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
    const { sheets, ...context } = await readWorkbook(archive);
    return {
      sheets: sheets.map(({ name }) => name),
      readAs: 'XLSX',
      date1904: context.date1904,
      async *rows(name): AsyncGenerator<readonly Row[]> {
        const part = sheets.find((each) => each.name === name)?.part;
        if (part === undefined) throw new UnreadableTable('the workbook has no such sheet', { sheet: name });
        const rows = new SheetRows(context, await findMergedAreas(() => counted(part), part));
        for await (const _ of readXml(counted(part), part, rows)) yield rows.take();
        yield rows.take();
      },
      close: archive.close,
    };
  } catch (error) {
    archive.close();
    throw error;
  }
}

async function readWorkbook(archive: Archive): Promise<CellContext & { readonly sheets: readonly Sheet[] }> {
  const read = (part: string | undefined, mostBytes: number, close: (element: XmlElement) => void): Promise<void> =>
    part === undefined ? Promise.resolve() : readWholeXml(archive.read(part, mostBytes), part, close);
  const ofFile = await relations(archive, '');
  const main = ofFile.find(({ type }) => type === 'officeDocument')?.target ?? 'xl/workbook.xml';
  const parts = await relations(archive, main);
  const partOf = (wanted: string): string | undefined => parts.find(({ type }) => type === wanted)?.target;
  const worksheets = new Map(parts.filter(({ type }) => type === 'worksheet').map(({ id, target }) => [id, target]));
  const sheets: Sheet[] = [];
  let date1904 = false;
  await read(main, MAX_PART_BYTES, ({ name: tag, attributes }) => {
    const { name = '', id = '', date1904: system } = attributes;
    if (tag === 'workbookPr') date1904 = system === '1' || system === 'true';
    const part = worksheets.get(id);
    if (tag === 'sheet' && part !== undefined) sheets.push({ name, part });
  });
  if (sheets.length === 0) throw new UnreadableTable('the workbook has no sheet with cells');
  const strings: string[] = [];
  await read(partOf('sharedStrings'), MAX_STRINGS_BYTES, collectStrings(strings));
  const formats: CellFormat[] = [];
  await read(partOf('styles'), MAX_PART_BYTES, collectFormats(formats));
  return { sheets, strings, formats, date1904 };
}

/** The parts that a part refers to. @param part the empty text for the file as a whole */
async function relations(archive: Archive, part: string) {
  const found: { readonly id: string; readonly type: string; readonly target: string }[] = [];
  const name = posix.join(posix.dirname(part), '_rels', `${posix.basename(part)}.rels`);
  if (!archive.has(name)) return found;
  await readWholeXml(archive.read(name, MAX_PART_BYTES), name, ({ name: tag, attributes }) => {
    const { Id = '', Type = '', Target = '' } = attributes;
    if (tag !== 'Relationship') return;
    const target = Target.startsWith('/') ? Target.slice(1) : posix.join(posix.dirname(part), Target);
    found.push({ id: Id, type: Type.slice(Type.lastIndexOf('/') + 1), target });
  });
  return found;
}

function collectStrings(strings: string[]): (element: XmlElement) => void {
  const text = new RichText();
  let bytes = 0;
  return (element) => {
    text.add(element);
    if (element.name !== 'si') return;
    const whole = text.take();
    bytes += Buffer.byteLength(whole) + TEXT_OVERHEAD;
    if (bytes > MAX_TEXT_BYTES)
      throw new UnreadableTable(`the workbook has more than ${MAX_TEXT_BYTES} bytes of text: save its sheets as CSV`);
    strings.push(whole);
  };
}
