import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOtherIntake } from '../../conformance/other/ldv-intake.ts';
import { type LdvServer, startLdv } from '../ldv/support.ts';
import { NOT_OFFERED, runLdv } from './run-ldv.ts';

let log: LdvServer;
beforeAll(async () => {
  log = await startLdv({ env: { LDV_READ: 'true' } });
});
afterAll(async () => {
  await log?.stop();
});

describe('the suite for an intake of log lines', () => {
  it('finds no fault in our own', async () => {
    const results = await runLdv(`${log.server.url}/ldv/v1`, (scope) => log.tokens.token([scope]));
    expect(results.filter(({ outcome, id }) => outcome !== 'passed' && !NOT_OFFERED.includes(id))).toEqual([]);
  });

  it('finds no fault in a second implementation, and skips what that does not offer', async () => {
    const other = await startOtherIntake(['een-token']);
    const results = await runLdv(other.url, async () => 'een-token');
    await other.stop();
    expect(results.filter(({ outcome }) => outcome !== 'passed' && outcome !== 'skipped')).toEqual([]);
    expect(results.filter(({ outcome }) => outcome === 'skipped').map(({ id }) => id)).toEqual([
      ...['L-OTLP-02', 'L-OTLP-08', 'L-READ-01', 'L-READ-02', 'L-READ-03', 'L-READ-04', 'L-READ-05', 'L-ANS-02'],
      ...['L-ANS-05', 'L-ANS-11', 'L-ANS-14', 'L-ANS-17'],
    ]);
  });
});
