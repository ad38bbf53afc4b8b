import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';

/** `ajv-formats` also takes a blank for the `T`, and `+0100` or `+01` for `+01:00`. @see RFC 3339 section 5.6 */
const FORM = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;
/** Compiled by the first who needs it: a program starts sooner. */
let isMoment: ValidateFunction<string> | undefined;

/** Gives a validator the formats of JSON Schema, with a `date-time` that is one of RFC 3339. */
export function addStandardFormats(ajv: Ajv): void {
  addFormats.default(ajv);
  ajv.addFormat('date-time', (text: string) => {
    isMoment ??= addFormats.default(new Ajv()).compile<string>({ type: 'string', format: 'date-time' });
    return FORM.test(text) && isMoment(text);
  });
}
