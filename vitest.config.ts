import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // What is waited for may take long on a machine that does other things too.
    expect: { poll: { timeout: 20_000 } },
    reporters: ['default', './test/support/count-reporter.ts'],
  },
});
