import type { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { isDateTime } from '../time.ts';

/**
 * Gives a validator the formats of JSON Schema, with a `date-time` of RFC 3339: that of `ajv-formats` also takes a blank for the `T`, and
 * `+0100` or `+01` for `+01:00`.
 */
export function addStandardFormats(ajv: Ajv): void {
  addFormats.default(ajv);
  ajv.addFormat('date-time', isDateTime);
}
