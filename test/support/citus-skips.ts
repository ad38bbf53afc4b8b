/** Skips, on a Citus coordinator, the tests that only apply to one machine; each with its reason, as in docs/citus.md. */
import { beforeEach } from 'vitest';

const PLANS = 'plans of one machine; EXPLAIN on Citus shows those of shards, and Postgres 15 has no generic ones';
/** By file, and by the name of a test or `*` for the whole file. */
const SKIPPED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'verwerkingenlog/kill.slow.test.ts': {
    '*': 'kills a Postgres of its own, which is one machine; citus.slow kills a worker',
  },
  'verwerkingenlog/lookups.test.ts': {
    'has the database refuse a version without a key, whoever adds it':
      'a trigger does, and Citus has none on distributed tables: there the program asks, as the other tests show',
    'goes on without a key in an older log without keys':
      'runs a migration of one machine again, with its trigger; what is distributed has all migrations behind it',
  },
  'verwerkingenlog/plans.test.ts': { '*': PLANS },
};

beforeEach(({ task, skip }) => {
  const file = Object.entries(SKIPPED).find(([name]) => task.file.name.endsWith(name))?.[1];
  const reason = file?.['*'] ?? file?.[task.name];
  if (reason !== undefined) skip(reason);
});
