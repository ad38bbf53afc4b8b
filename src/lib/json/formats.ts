import type { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { isDateTime } from '../time.ts';

/** The formats of JSON Schema, with the `date-time` of RFC 3339: that of `ajv-formats` also takes a blank for the `T`, and `+01` for `+01:00`. */
export function addStandardFormats(ajv: Ajv): void {
  addFormats.default(ajv);
  ajv.addFormat('date-time', isDateTime);
}
