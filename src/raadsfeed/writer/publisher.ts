import type { Pool } from '../../kernel/database/pool.ts';
import { transaction } from '../../kernel/database/transaction.ts';
import type { Clock } from '../../kernel/time.ts';
import type { Change } from '../domain/change.ts';
import { type Outcome, publishBatch } from '../store/publish-batch.ts';
import { rewriteParts } from '../store/text-partitions.ts';
import { touchOrganisations } from '../store/touch-organisations.ts';

/** Changes that one transaction takes at most, and their text in characters: it bounds how long others wait. */
export const BATCH_CHANGES = 1000;
export const BATCH_CHARACTERS = 1024 * 1024;

/** Publishes what is this feed's own. */
export interface Publisher {
  /**
   * Publishes changes in their order, all of them or none; returns what became of each, in the same order. When a redaction is among
   * them, its content is physically gone on return. Every instance hears of them at the commit.
   */
  publish(changes: readonly Change[]): Promise<Outcome[]>;
}

export function createPublisher({ pool, clock }: { pool: Pool; clock: Clock }): Publisher {
  return {
    async publish(changes) {
      const now = clock.now();
      const outcomes = await transaction(pool, async (client) => {
        const found = await publishBatch(client, changes, now);
        await touchOrganisations(client, organisationsOf(changes), now);
        return found;
      });
      // Also when all has been redacted before: that run may have been broken off behind its commit.
      if (changes.some(({ op }) => op === 'redact')) await rewriteParts(pool);
      return outcomes;
    },
  };
}

function organisationsOf(changes: readonly Change[]): { organisatiecode: string; naam: string | undefined }[] {
  const names = new Map<string, string | undefined>();
  for (const change of changes) {
    const { organisatiecode } = change.resource;
    names.set(organisatiecode, change.op === 'upsert' ? change.organisatienaam : names.get(organisatiecode));
  }
  return [...names].map(([organisatiecode, naam]) => ({ organisatiecode, naam }));
}
