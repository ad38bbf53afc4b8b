/** What the feed adds to the operator's page. */
import type { Pool } from '../database/pool.ts';
import type { OperatorSection } from '../seams/operations.ts';
import { readFeedRow } from './store/feed-row.ts';
import { readOrganisations } from './store/state.ts';

/** Organisations that are shown: those that waited longest. */
const MOST = 100;

const ORIGINS = { eigen: 'this feed itself', feed: 'another feed', 'leveranciers-api': 'a supplier' } as const;

export function feedSections(pool: Pool): OperatorSection[] {
  return [
    {
      title: 'Council feed',
      read: async () => {
        const { head, historieVanaf, lastStoredAt } = await readFeedRow(pool);
        const row = [head.sequenceNumber, lastStoredAt ?? 'never', historieVanaf];
        return { columns: ['head', 'last record', 'history since'], rows: [row] };
      },
    },
    {
      title: 'Organisations of the feed',
      read: async () => {
        const organisations = (await readOrganisations(pool))
          .map((one) => ({ ...one, updated: one.laatstBijgewerkt?.getTime() ?? 0 }))
          .sort((a, b) => a.updated - b.updated);
        return {
          columns: ['organisation', 'from', 'up to date'],
          rows: organisations
            .slice(0, MOST)
            .map(({ organisatiecode, naam, herkomst, herkomstSoort, laatstBijgewerkt }) => [
              `${naam} (${organisatiecode})`,
              herkomst ?? ORIGINS[herkomstSoort],
              laatstBijgewerkt ?? 'never',
            ]),
        };
      },
    },
  ];
}
