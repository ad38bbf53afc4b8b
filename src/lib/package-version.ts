import { readFileSync } from 'node:fs';
import { isRecord } from './json/json-value.ts';

export function packageVersion(): string {
  const description: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return isRecord(description) ? String(description.version) : 'unknown';
}
