import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { DATE_TIME } from '../time.ts';

/** Compiled on first use: a program starts sooner. */
let isMoment: ValidateFunction<string> | undefined;

/**
 * Gives a validator the formats of JSON Schema, with a `date-time` of RFC 3339: `ajv-formats` alone also takes a blank for the `T`, and
 * `+0100` or `+01` for `+01:00`.
 */
export function addStandardFormats(ajv: Ajv): void {
  addFormats.default(ajv);
  ajv.addFormat('date-time', (text: string) => {
    isMoment ??= addFormats.default(new Ajv()).compile<string>({ type: 'string', format: 'date-time' });
    return DATE_TIME.test(text) && isMoment(text);
  });
}
