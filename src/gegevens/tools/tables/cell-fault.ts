import { maskedText } from './mask.ts';

/** A cell that does not fit its member; the message does not repeat the value. */
export class CellFault {
  readonly message: string;
  /** The character classes of the text: `99-99-9999`, `Aa9`. */
  readonly form: string | undefined;
  /** The remedy when a whole column has the fault. */
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
