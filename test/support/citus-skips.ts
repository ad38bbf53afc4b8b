/** Skips, on a Citus coordinator, the tests that only apply to one machine; each with its reason, as in docs/citus.md. */
import { beforeEach } from 'vitest';

const PLANS = 'plans of one machine; EXPLAIN on Citus shows those of shards, and Postgres 15 has no generic ones';
/** By file, and by the name of a test or `*` for the whole file. */
const SKIPPED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'verwerkingenlog/kill.slow.test.ts': {
    '*': 'kills its own single-machine Postgres; citus.slow kills a worker',
  },
  'verwerkingenlog/lookups.test.ts': {
    'has the database refuse a version without a key, whoever adds it':
      'a trigger does that, and Citus has none on distributed tables: there the program checks, as the other tests show',
    'goes on without a key in an older log without keys':
      'runs a single-machine migration again, with its trigger; a distributed database has all migrations already',
  },
  'verwerkingenlog/plans.test.ts': { '*': PLANS },
};

beforeEach(({ task, skip }) => {
  const file = Object.entries(SKIPPED).find(([name]) => task.file.name.endsWith(name))?.[1];
  const reason = file?.['*'] ?? file?.[task.name];
  if (reason !== undefined) skip(reason);
});
