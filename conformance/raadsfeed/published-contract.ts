import { isRecord } from '../../src/lib/json/json-value.ts';
import { type CaseRun, Skipped } from '../case.ts';

export const PUBLISHED = { ask: [{ to: '{base}/openapi.json' }], expect: { status: [200, 404] } };

/**
 * Its security requirement and its operations.
 * @throws {Skipped} when none is published
 */
export function publishedContract({ answers: [answer] }: CaseRun) {
  if (answer?.status === 404 || !isRecord(answer?.json)) throw new Skipped('no contract is published at openapi.json');
  const { paths, security } = answer.json;
  const operations = Object.entries(isRecord(paths) ? paths : {}).flatMap(([path, item]) =>
    Object.entries(isRecord(item) ? item : {}).map(([method, operation]) => ({ path, method, operation })),
  );
  return { security, operations };
}
