/** What the feed adds to the operator's page. */
import type { Pool } from '../kernel/database/pool.ts';
import type { OperatorSection } from '../kernel/platform.ts';
import type { Clock } from '../kernel/time.ts';
import { readFeedRow } from './store/feed-row.ts';
import { readOrganisations } from './store/state.ts';

/** Organisations that are shown: those that waited longest. */
const MOST = 100;

export function feedSections(pool: Pool, clock: Clock): OperatorSection[] {
  return [
    {
      title: 'Council feed',
      read: async () => {
        const { head, historieVanaf, lastStoredAt } = await readFeedRow(pool);
        const row = [String(head.sequenceNumber), lastStoredAt?.toISOString() ?? 'never', historieVanaf.toISOString()];
        return { columns: ['head', 'last record', 'history since'], rows: [row] };
      },
    },
    {
      title: 'Organisations of the feed',
      read: async () => {
        const now = clock.now().getTime();
        const organisations = (await readOrganisations(pool))
          .map((one) => ({ ...one, updated: one.laatstBijgewerkt?.getTime() ?? 0 }))
          .sort((a, b) => a.updated - b.updated);
        return {
          columns: ['organisation', 'from', 'up to date', 'hours ago'],
          rows: organisations
            .slice(0, MOST)
            .map(({ organisatiecode, naam, herkomst, herkomstSoort, laatstBijgewerkt, updated }) => [
              `${naam} (${organisatiecode})`,
              herkomst ?? herkomstSoort,
              laatstBijgewerkt?.toISOString() ?? 'never',
              laatstBijgewerkt === null ? '' : ((now - updated) / 3_600_000).toFixed(1),
            ]),
        };
      },
    },
  ];
}
