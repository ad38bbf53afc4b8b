import { UnreadableTable } from '../table-faults.ts';
import type { XmlHandler } from './read-xml.ts';

/** What the format of a cell says about its number: it is a date, or it is shown with so many digits. */
export type CellFormat = 'date' | { readonly digits: number } | undefined;

/** Numbers of the formats of dates that every spreadsheet program knows without their being in the file. */
const BUILT_IN_DATES: ReadonlySet<number> = new Set([
  ...[14, 15, 16, 17, 22],
  ...[27, 28, 29, 30, 31, 32, 33, 34, 35, 36],
  ...[50, 51, 52, 53, 54, 55, 56, 57, 58],
]);
/** As many as a spreadsheet program allows. */
const MAX_STYLES = 65_536;

/** Reads `styles.xml`. @param formats is filled: by style of a cell */
export function stylesHandler(formats: CellFormat[]): XmlHandler {
  const codes = new Map<number, string>();
  let inCells = false;
  return {
    open: (name, attributes) => {
      if (name === 'numFmt') codes.set(Number(attributes.numFmtId), attributes.formatCode ?? '');
      else if (name === 'cellXfs') inCells = true;
      else if (name === 'xf' && inCells) {
        const id = Number(attributes.numFmtId ?? 0);
        const code = codes.get(id);
        formats.push(code === undefined ? (BUILT_IN_DATES.has(id) ? 'date' : undefined) : formatOf(code));
      }
      if (formats.length > MAX_STYLES || codes.size > MAX_STYLES) {
        throw new UnreadableTable(`the workbook has more than ${MAX_STYLES} formats of cells`);
      }
    },
    close: (name) => {
      if (name === 'cellXfs') inCells = false;
    },
  };
}

/** What a format code says: `dd-mm-yyyy`, `000000000`, `[$-413]d mmmm yyyy;@`. */
export function formatOf(code: string): CellFormat {
  // Text in quotes or after a backslash, colours and languages are no part of the form; what follows `;` is for other values.
  const [form = ''] = code.replaceAll(/"[^"]*"|\\.|\[[^\]]*\]|_./g, '').split(';');
  if (/^0+$/.test(form.trim())) return { digits: form.trim().length };
  if (/general/i.test(form)) return undefined;
  const isDate = /[yd]/i.test(form) || (/m/i.test(form) && !/[hs]/i.test(form));
  return isDate ? 'date' : undefined;
}
