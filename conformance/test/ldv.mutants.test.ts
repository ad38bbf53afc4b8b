import { describe } from 'vitest';
import { startLdv } from '../../test/verwerkingenlog/ldv/support.ts';
import { keys, LDV_MUTANTS } from './mutants/ldv.ts';
import { behindProxy } from './proxy.ts';
import { NOT_OFFERED, runLdv } from './run-ldv.ts';
import { testMutants } from './run-mutants.ts';

describe('the suite for an intake of log lines', () => {
  testMutants({
    suite: 'ldv',
    mutants: LDV_MUTANTS,
    notOffered: NOT_OFFERED,
    async open() {
      const { server, tokens, stop } = await startLdv();
      keys.all = await tokens.token(['create:normal']);
      return behindProxy({
        target: `${server.url}/ldv/v1`,
        run: (url, isWanted) => runLdv(url, (scope) => tokens.token([scope]), isWanted),
        close: stop,
      });
    },
  });
});
