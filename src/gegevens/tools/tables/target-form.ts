/** Faults of cells, and members with a form of their own, which a mapping need not describe: spreadsheets and people write them in many ways. */
import { type Cell, cellText } from './table-file.ts';

/** A cell that does not fit its member; the message does not repeat the value. */
export class CellFault {
  readonly message: string;
  /** The character classes of the text: `99-99-9999`, `Aa9`. */
  readonly form: string | undefined;
  /** The remedy when a whole column has the fault. */
  readonly remedy: string | undefined;
  constructor(message: string, text?: string, remedy?: string) {
    const form = text && maskedText(text, { upper: 'A', lower: 'a' }).replaceAll(/\s+/g, ' ');
    this.message = message;
    this.remedy = remedy;
    this.form = form && form.length > MAX_FORM ? `${form.slice(0, MAX_FORM).toWellFormed()}…` : form;
  }
}

const MAX_FORM = 40;

/** A text with placeholders for its letters and digits. */
export function maskedText(text: string, { upper, lower }: { readonly upper: string; readonly lower: string }): string {
  return text.replaceAll(/\p{L}/gu, (letter) => (/\p{Lu}/u.test(letter) ? upper : lower)).replaceAll(/\d/g, '9');
}

/** A number of a fixed length, a postal code, or a date of birth of which day and month may be unknown. */
export type TargetForm =
  | { readonly kind: 'number'; readonly name: string; readonly digits: number; readonly isMunicipality?: boolean }
  | { readonly kind: 'postcode' }
  | { readonly kind: 'birth' };

const BSN: TargetForm = { kind: 'number', name: 'BSN', digits: 9 };
const POSTCODE: TargetForm = { kind: 'postcode' };

/** By the letters of the member's name, in any case: a model's schema only says that it is text. */
const FORMS: ReadonlyMap<string, TargetForm> = new Map<string, TargetForm>([
  ['burgerservicenummer', BSN],
  ['bsn', BSN],
  ['kvknummer', { kind: 'number', name: 'KvK number', digits: 8 }],
  ['oin', { kind: 'number', name: 'OIN', digits: 20 }],
  ['gemeentecode', { kind: 'number', name: 'municipality code', digits: 4, isMunicipality: true }],
  ['postcode', POSTCODE],
  ['geboortedatum', { kind: 'birth' }],
]);

/** @param steps to the member */
export function formOfTarget(steps: readonly string[]): TargetForm | undefined {
  return FORMS.get((steps.at(-1) ?? '').toLowerCase().replaceAll(/[^a-z]/g, ''));
}

/** Separators that people put between groups of digits. */
const SEPARATORS = /[\s.\p{Pd}\u200b]/gu;
const EXPONENT = /^\d+(?:[.,]\d*)?e[+-]?\d+$/i;
const DECIMALS = /^\d+\.\d{1,2}$/;
/** A spreadsheet keeps fifteen digits of a number. */
const MAX_EXACT = 10 ** 15;
const LOST_DIGITS = 'is a number in exponent form: its last digits are lost';
const AS_TEXT = 'give the column the format of text in the spreadsheet, type the numbers again, and export it';

/** Reads a number of a fixed length as text: removes separators, restores lost zeros. @param digits instead of those of the form */
export function readFixedNumber(
  cell: Cell,
  { name, digits: own, isMunicipality = false }: TargetForm & { readonly kind: 'number' },
  digits = own,
): string | CellFault {
  const text = cellText(cell) ?? '';
  if (text.length === digits && /^\d+$/.test(text)) return text;
  const damaged = damageOf(cell, text);
  if (damaged !== undefined) return damaged;
  if (isMunicipality && text.toLowerCase() === 'onbekend') return 'Onbekend';
  if (DECIMALS.test(text))
    return new CellFault('is a number with decimals', text, 'export the column as whole numbers or as text');
  const bare = text.replaceAll(SEPARATORS, '');
  const number = isMunicipality ? bare.replace(/^gm/i, '').replace(/^0+(?=\d{4})/, '') : bare;
  if (/^\d+$/.test(number) && number.length <= digits) return number.padStart(digits, '0');
  const remedy = '`remove`, `pattern`, `values` or `empty` in the mapping says what else is in the column';
  return new CellFault(`is not a ${name}: a number of at most ${digits} digits`, text, remedy);
}

/** Reads a postal code: a Dutch one in capitals without separators; any other unchanged. */
export function readPostcode(cell: Cell): string | CellFault {
  const text = cellText(cell) ?? '';
  const damaged = damageOf(cell, text);
  if (damaged !== undefined) return damaged;
  const bare = text.replaceAll(SEPARATORS, '').toUpperCase();
  return /^\d{4}[A-Z]{2}$/.test(bare) ? bare : text.replaceAll(/\s+/g, ' ');
}

/** The damage that a spreadsheet did to an identifying number. */
function damageOf(cell: Cell, text: string): CellFault | undefined {
  if (text.startsWith("'")) {
    const remedy = 'export the column without it, or set `remove: "\'"` in the mapping';
    return new CellFault(
      'begins with an apostrophe, which a spreadsheet puts before a number that is text',
      text,
      remedy,
    );
  }
  return isInexact(cell) || EXPONENT.test(text) ? new CellFault(LOST_DIGITS, text, AS_TEXT) : undefined;
}

/** A key that lost its last digits matches several records. A code may look like `12E3`; a spreadsheet writes `1,2E+04`. */
export function damageOfKey(cell: Cell | undefined): CellFault | undefined {
  const text = cellText(cell) ?? '';
  const isDamaged = cell !== undefined && (isInexact(cell) || /^\d[.,]\d+E\+\d+$/.test(text));
  return isDamaged ? new CellFault(LOST_DIGITS, text, AS_TEXT) : undefined;
}

function isInexact(cell: Cell): boolean {
  return typeof cell === 'object' && cell.kind === 'number' && Math.abs(cell.value) >= MAX_EXACT;
}
