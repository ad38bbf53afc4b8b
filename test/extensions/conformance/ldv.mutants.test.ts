import { afterAll, beforeAll, describe } from 'vitest';
import { type LdvServer, startLdv } from '../ldv/support.ts';
import { keys, LDV_MUTANTS } from './mutants/ldv.ts';
import { type BreakingProxy, startProxy } from './proxy.ts';
import { NOT_OFFERED, runLdv } from './run-ldv.ts';
import { testMutants } from './run-mutants.ts';

let log: LdvServer;
let proxy: BreakingProxy;
beforeAll(async () => {
  log = await startLdv({ env: { LDV_READ: 'true' } });
  proxy = await startProxy(`${log.server.url}/ldv/v1`);
  keys.all = await log.tokens.token(['create:normal', 'read:confidential']);
});
afterAll(async () => {
  await proxy?.stop();
  await log?.stop();
});

describe('the suite for an intake of log lines', () => {
  testMutants({
    suite: 'ldv',
    mutants: LDV_MUTANTS,
    notOffered: NOT_OFFERED,
    run: (mutant) => {
      proxy.mutate(mutant?.mutation ?? {});
      return runLdv(proxy.url, (scope) => log.tokens.token([scope]));
    },
  });
});
