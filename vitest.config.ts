import process from 'node:process';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

/** There are more processes than processors: further threads of the garbage collector would only compete with each other. */
const execArgv: string[] = ['--single-threaded-gc'];

const every = {
  // Through a Citus coordinator some tests have no meaning.
  setupFiles: process.env.TEST_CITUS_URL === undefined ? [] : ['test/support/citus-skips.ts'],
  pool: 'forks',
  execArgv,
  // Only for what hangs: a busy machine is no failure.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 60_000 } },
} as const;

/** They mock modules, send signals to their own process, or measure how soon it cuts a connection. */
const ISOLATED = ['raadsfeed/aggregator/notubiz/retry', 'gegevens/keys', 'plugins/limits', 'plugins/client-limits'].map(
  (file) => `test/${file}.test.ts`,
);

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    // Of a test most is waiting: for time-outs, for sources, for the database.
    maxWorkers: 6,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', './test/support/count-reporter.ts'],
    projects: [
      { test: { ...every, name: 'isolated', include: ISOLATED } },
      {
        // A process runs many files, one after the other: to import the server anew for each takes longer than most tests do.
        test: {
          ...every,
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.{slow,release}.test.ts', ...ISOLATED],
          isolate: false,
        },
      },
      // The conformance suites' own: `npm run test:conformance`.
      {
        test: {
          ...every,
          name: 'conformance',
          include: ['conformance/test/**/*.test.ts'],
          exclude: ['conformance/test/**/*.{slow,release,mutants}.test.ts'],
          isolate: false,
        },
      },
      // What kills, fills memory or disk, goes on for long or needs a browser: `npm run test:slow`.
      { test: { ...every, name: 'slow', include: ['{test,conformance/test}/**/*.slow.test.ts'], isolate: false } },
      // Our own service with one rule broken each time: `npm run conformance:mutants`.
      { test: { ...every, name: 'mutants', include: ['conformance/test/**/*.mutants.test.ts'], isolate: false } },
      // What installs, packs and restores the whole: `npm run test:release`, which a release runs too (`npm run evidence`).
      { test: { ...every, name: 'release', include: ['test/**/*.release.test.ts'], isolate: false } },
    ],
  },
});
