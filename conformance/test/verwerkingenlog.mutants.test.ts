import { describe } from 'vitest';
import { PROCESSING_LOG_SCOPES } from '../../src/lib/processing-log-scopes.ts';
import { startLog } from '../../test/verwerkingenlog/support.ts';
import { keys, remembering } from './mutants/broken-log.ts';
import { LOG_MUTANTS } from './mutants/verwerkingenlog.ts';
import { behindProxy } from './proxy.ts';
import { testMutants } from './run-mutants.ts';
import { NOT_OFFERED, runVerwerkingenlog, tokensOf } from './run-verwerkingenlog.ts';

describe('the suite for a processing log', () => {
  testMutants({
    suite: 'verwerkingenlog',
    mutants: LOG_MUTANTS,
    notOffered: NOT_OFFERED,
    async open() {
      const log = await startLog();
      keys.tokens = await tokensOf(log.tokens);
      keys.all = await log.tokens.token([...PROCESSING_LOG_SCOPES]);
      const { run, close } = await behindProxy({
        target: `${log.server.url}/verwerkingenlog/v1`,
        run: (url, isWanted) => runVerwerkingenlog(url, keys.tokens, isWanted),
        close: log.stop,
      });
      return { run: (mutation, isWanted) => run(remembering(mutation ?? {}), isWanted), close };
    },
  });
});
