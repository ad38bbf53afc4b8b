import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OTHER } from '../../../src/extensions/conformance/commands/token-file.ts';
import { SCOPES } from '../../../src/extensions/conformance/verwerkingenlog/subject.ts';
import { startOtherLog } from '../../conformance/other/processing-log.ts';
import { type LogServer, startLog } from '../../verwerkingenlog/support.ts';
import { NOT_OFFERED, runVerwerkingenlog, tokensOf } from './run-verwerkingenlog.ts';

let log: LogServer;
beforeAll(async () => {
  log = await startLog();
});
afterAll(async () => {
  await log?.stop();
});

describe('the suite for a processing log', () => {
  it('finds no fault in our own', async () => {
    const results = await runVerwerkingenlog(`${log.server.url}/verwerkingenlog/v1`, await tokensOf(log.tokens));
    expect(results.filter(({ outcome, id }) => outcome !== 'passed' && !NOT_OFFERED.includes(id))).toEqual([]);
  });

  it('finds no fault in a second implementation, and skips what that does not offer', async () => {
    const other = await startOtherLog(Object.fromEntries(SCOPES.map((scope) => [`token-${scope}`, [scope]])));
    const tokens = Object.fromEntries([...SCOPES, OTHER].map((scope) => [scope, `token-${scope}`]));
    const results = await runVerwerkingenlog(other.url, tokens);
    const { 'register:write': _, ...fewer } = tokens;
    const [access] = await runVerwerkingenlog(other.url, fewer, (id) => id === 'B-ACC-08');
    await other.stop();
    expect(access?.outcome, 'without a token for a scope that it does not have').toBe('passed');
    expect(results.filter(({ outcome }) => outcome !== 'passed' && outcome !== 'skipped')).toEqual([]);
    expect(results.filter(({ outcome }) => outcome === 'skipped').map(({ id }) => id)).toEqual([
      ...['B-ACC-17', 'B-ACC-18', 'B-CHG-14', 'B-CHG-15', 'B-PAG-01', 'B-PAG-02', 'B-PAG-03', 'B-PAG-04'],
      ...Array.from({ length: 11 }, (_, i) => `B-EXT-${String(i + 1).padStart(2, '0')}`),
      ...['B-HTTP-12', 'B-HTTP-17'],
    ]);
  });
});
