import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LdvServer, startLdv } from '../../test/verwerkingenlog/ldv/support.ts';
import { LDV } from '../ldv/suite.ts';
import { startCollectorLike } from './other/collector.ts';
import { startOtherIntake } from './other/ldv-intake.ts';
import { startProxy } from './proxy.ts';
import { NOT_OFFERED, runLdv } from './run-ldv.ts';

let log: LdvServer;
beforeAll(async () => {
  log = await startLdv();
});
afterAll(async () => {
  await log?.stop();
});

describe('the suite for an intake of log lines', () => {
  it('finds no fault in our own', async () => {
    const results = await runLdv(`${log.server.url}/ldv/v1`, (scope) => log.tokens.token([scope]));
    expect(results.filter(({ outcome, id }) => outcome !== 'passed' && !NOT_OFFERED.includes(id))).toEqual([]);
  });

  it('finds no fault in a second implementation, and skips features that it does not offer', async () => {
    const other = await startOtherIntake(['een-token']);
    const results = await runLdv(other.url, async () => 'een-token');
    await other.stop();
    expect(results.filter(({ outcome }) => outcome !== 'passed' && outcome !== 'skipped')).toEqual([]);
    expect(results.filter(({ outcome }) => outcome === 'skipped').map(({ id }) => id)).toEqual([
      ...['L-OTLP-02', 'L-OTLP-08', 'L-ANS-02', 'L-ANS-05', 'L-ANS-11', 'L-ANS-14', 'L-ANS-17'],
    ]);
  });

  it('fails no must case on an intake that answers as an OpenTelemetry Collector does', async () => {
    const collector = await startCollectorLike();
    const results = await runLdv(collector.url, async () => 'een-token');
    await collector.stop();
    const wrong = results.filter(({ outcome }) => outcome !== 'passed' && outcome !== 'skipped').map(({ id }) => id);
    // None of them a must: it validates no span, has no `Allow` and no contract of ours.
    expect(wrong).toEqual(['L-LINE-08', 'L-LINE-09', 'L-LINE-10', 'L-ANS-08', 'L-ANS-09', 'L-ANS-12', 'L-ANS-13']);
    const musts = LDV.chapters.flatMap(({ cases }) =>
      cases.filter(({ level }) => level === 'must').map(({ id }) => id),
    );
    expect(wrong.filter((id) => musts.includes(id))).toEqual([]);
  });

  it('reports the faults of a failing log, and that an unavailable one cannot be judged', async () => {
    const proxy = await startProxy(`${log.server.url}/ldv/v1`);
    const outcomeWith = async (status: number) => {
      proxy.mutate({ answer: (answer) => void Object.assign(answer, { status, json: {} }) });
      const [first] = await runLdv(
        proxy.url,
        (scope) => log.tokens.token([scope]),
        (id) => id === 'L-OTLP-01',
      );
      return [first?.outcome, first?.reason];
    };
    expect(await outcomeWith(500)).toEqual(['failed', 'the answer has status 500 instead of 200']);
    expect(await outcomeWith(503)).toEqual(['inconclusive', 'status 503']);
    await proxy.stop();
  });
});
