import { expect, it } from 'vitest';
import { createDatabase } from '../../support/database.ts';
import { runAggregatorDrill } from './kill-drill.ts';

it('is the merge of its sources, no record twice, however often it is killed', async () => {
  const databases = await Promise.all([createDatabase(), createDatabase(), createDatabase()]);
  const [first = '', second = '', third = ''] = databases.map(({ url }) => url);
  try {
    const result = await runAggregatorDrill({
      sourceUrls: [first, second],
      aggregatorUrl: third,
      kills: 3,
      longestLifeMs: 1500,
      longestPauseMs: 800,
      report: () => undefined,
    });
    expect(result.faults).toEqual([]);
    expect(result.published).toBeGreaterThan(0);
  } finally {
    for (const database of databases) await database.drop();
  }
});
