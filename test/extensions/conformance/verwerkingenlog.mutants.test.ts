import { afterAll, beforeAll, describe } from 'vitest';
import { SCOPES } from '../../../src/extensions/conformance/verwerkingenlog/subject.ts';
import { type LogServer, startLog } from '../../verwerkingenlog/support.ts';
import { keys, remembering } from './mutants/broken-log.ts';
import { LOG_MUTANTS } from './mutants/verwerkingenlog.ts';
import { type BreakingProxy, startProxy } from './proxy.ts';
import { testMutants } from './run-mutants.ts';
import { NOT_OFFERED, runVerwerkingenlog, tokensOf } from './run-verwerkingenlog.ts';

let log: LogServer;
let proxy: BreakingProxy;
beforeAll(async () => {
  log = await startLog();
  proxy = await startProxy(`${log.server.url}/verwerkingenlog/v1`);
  keys.tokens = await tokensOf(log.tokens);
  keys.all = await log.tokens.token([...SCOPES]);
});
afterAll(async () => {
  await proxy?.stop();
  await log?.stop();
});

describe('the suite for a processing log', () => {
  testMutants({
    suite: 'verwerkingenlog',
    mutants: LOG_MUTANTS,
    notOffered: NOT_OFFERED,
    run: (mutant) => {
      proxy.mutate(remembering(mutant?.mutation ?? {}));
      return runVerwerkingenlog(proxy.url, keys.tokens);
    },
  });
});
