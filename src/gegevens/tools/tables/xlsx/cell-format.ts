import type { XmlElement } from './archive.ts';

/** The meaning of a cell format for its number: a date, or a number of digits. */
export type CellFormat = 'date' | { readonly digits: number } | undefined;

/** Numbers of the built-in date formats, which are not in the file. */
const BUILT_IN_DATES: ReadonlySet<number> = new Set([14, 15, 16, 17, 22]);

/** Reads `styles.xml`. @param formats is filled: by style of a cell */
export function collectFormats(formats: CellFormat[]): (element: XmlElement) => void {
  const codes = new Map<number, string>();
  return ({ name, attributes, parent }) => {
    if (name === 'numFmt') codes.set(Number(attributes.numFmtId), attributes.formatCode ?? '');
    if (name !== 'xf' || parent?.name !== 'cellXfs') return;
    const id = Number(attributes.numFmtId ?? 0);
    const code = codes.get(id);
    formats.push(code === undefined ? (BUILT_IN_DATES.has(id) ? 'date' : undefined) : formatOf(code));
  };
}

/** The longest format code that a workbook may have. */
const MAX_CODE = 255;
/** Only the parts of a date and time, and the signs between them; `j` and `u` are year and hour in Dutch codes. */
const DATE_AND_TIME = /^(?:[yjmdhus]|s\.0+|am\/pm|a\/p|[-/.,: ()])*$/i;

/** Interprets a format code: `dd-mm-yyyy`, `000000000`, `[$-413]d mmmm yyyy;@`. */
export function formatOf(code: string): CellFormat {
  if (code.length > MAX_CODE) return undefined;
  const form = ofPositiveNumbers(code).trim();
  if (/^0+$/.test(form)) return { digits: form.length };
  if (!DATE_AND_TIME.test(form)) return undefined;
  const isDate = /[yjd]/i.test(form) || (/m/i.test(form) && !/[hus]/i.test(form));
  return isDate ? 'date' : undefined;
}

/** The first section of a code without its literal text: in quotes, in brackets, after `\\`, `_` or `*`. */
function ofPositiveNumbers(code: string): string {
  let form = '';
  for (let at = 0; at < code.length; at += 1) {
    const sign = code.charAt(at);
    if (sign === ';') break;
    if (sign === '"' || sign === '[') {
      const end = code.indexOf(sign === '"' ? '"' : ']', at + 1);
      // `[hh]:mm` is a number of hours.
      if (sign === '[' && /^(?:h+|m+|s+)$/i.test(code.slice(at + 1, end))) form += 'h';
      at = end === -1 ? code.length : end;
    } else if (sign === '\\' || sign === '_' || sign === '*') at += 1;
    else form += sign;
  }
  return form;
}
