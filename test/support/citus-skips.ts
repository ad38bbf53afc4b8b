/** Skips, through a Citus coordinator, the tests that are about one machine; each with its reason, as docs/citus.md has them. */
import { beforeEach } from 'vitest';

const PLANS = 'plans of one machine; EXPLAIN on Citus shows those of shards, and Postgres 15 has no generic ones';
const SCRAMBLED =
  'prepares its data by a statement that Citus refuses (a stable expression over the columns of an UPDATE)';

/** By file, and by the name of a test or `*` for all of the file. */
const SKIPPED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'verwerkingenlog/plans.test.ts': { '*': PLANS },
  'verwerkingenlog/idempotency.test.ts': {
    'frees a key after 24 hours': SCRAMBLED,
    'frees no key sooner for an instance whose clock is ahead of the database’s': SCRAMBLED,
  },
};

beforeEach(({ task, skip }) => {
  const file = Object.entries(SKIPPED).find(([name]) => task.file.name.endsWith(name))?.[1];
  const reason = file?.['*'] ?? file?.[task.name];
  if (reason !== undefined) skip(reason);
});
