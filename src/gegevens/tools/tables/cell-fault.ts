import { maskedText } from './mask.ts';

/** A cell that cannot be read as what its member needs; the message does not repeat the value. */
export class CellFault {
  readonly message: string;
  /** What kind of characters the text consists of: `99-99-9999`, `Aa9`. */
  readonly form: string | undefined;
  /** What to change when it is so in a whole column. */
  readonly remedy: string | undefined;
  constructor(message: string, text?: string, remedy?: string) {
    this.message = message;
    this.remedy = remedy;
    this.form = text === undefined ? undefined : maskedForm(text);
  }
}

const MAX_FORM = 40;

function maskedForm(text: string): string {
  const form = maskedText(text, { upper: 'A', lower: 'a' }).replaceAll(/\s+/g, ' ');
  return form.length <= MAX_FORM ? form : `${form.slice(0, MAX_FORM).toWellFormed()}…`;
}
