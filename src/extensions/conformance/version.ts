import { readFileSync } from 'node:fs';
import { isRecord } from '../../lib/json/json-value.ts';

const description: unknown = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));

/** Of this package: reports name it. */
export const VERSION =
  isRecord(description) && typeof description.version === 'string' ? description.version : 'unknown';
