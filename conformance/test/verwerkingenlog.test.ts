import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROCESSING_LOG_SCOPES } from '../../src/lib/processing-log-scopes.ts';
import { type LogServer, startLog } from '../../test/verwerkingenlog/support.ts';
import { OTHER } from '../commands/token-file.ts';
import { giving, post } from './mutants/broken-log.ts';
import { startOtherLog } from './other/processing-log.ts';
import { type Mutation, startProxy } from './proxy.ts';
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

  it('finds no fault in a second implementation, and skips features that it does not offer', async () => {
    const other = await startOtherLog(
      Object.fromEntries(PROCESSING_LOG_SCOPES.map((scope) => [`token-${scope}`, [scope]])),
    );
    const tokens = Object.fromEntries([...PROCESSING_LOG_SCOPES, OTHER].map((scope) => [scope, `token-${scope}`]));
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

  it('judges a log that answers 200 where it should answer 201, by its actions', async () => {
    const results = await behind(giving(post(), 201, 200));
    const wrong = results.filter(({ id, outcome }) => outcome !== 'passed' && !NOT_OFFERED.includes(id));
    expect(wrong.map(({ id, outcome }) => `${id} ${outcome}`)).toEqual(['B-LOG-01 failed', 'B-HTTP-13 failed']);
  });

  it('fails a log that answers a valid request to log with 500', async () => {
    const results = await behind(giving(post(), 201, 500));
    const failed = results.filter(({ outcome }) => outcome === 'failed').map(({ id, reason }) => [id, reason]);
    expect(failed).toContainEqual(['B-LOG-01', 'POST gets status 500 instead of 201']);
    expect(failed).toContainEqual(['B-LOG-13', 'POST gets status 500 and no action']);
  });

  it('cannot judge an unavailable log', async () => {
    const results = await behind(giving(post(), 201, 503));
    expect(results.find(({ id }) => id === 'B-LOG-13')).toMatchObject({
      outcome: 'inconclusive',
      reason: 'status 503',
    });
  });
});

/** Our own log behind a proxy that answers differently. */
async function behind(mutation: Mutation) {
  const proxy = await startProxy(`${log.server.url}/verwerkingenlog/v1`);
  proxy.mutate(mutation);
  const results = await runVerwerkingenlog(proxy.url, await tokensOf(log.tokens));
  await proxy.stop();
  return results;
}
