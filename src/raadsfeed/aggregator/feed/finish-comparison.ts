import { transaction } from '../../../kernel/database/transaction.ts';
import type { Removal } from '../../domain/change.ts';
import { publishBatch } from '../../store/publish.ts';
import { BATCH_CHANGES } from '../../writer/publisher.ts';
import type { AggregatorNeeds } from '../needs.ts';
import type { Lease } from '../source.ts';
import { endComparison } from '../store/end-comparison.ts';
import { addIssues } from '../store/issues.ts';
import type { OwnedOrganisation } from '../store/organisations.ts';
import { countPublished } from '../store/save-progress.ts';
import { countGone, findGone } from '../store/seen.ts';
import { cleanFiles } from './redactions.ts';

/** More than this part of an organisation goes only with an operator's word. */
const MASS_DELETE = 10;

/**
 * Deletes what a new snapshot, and the feed after it, did not show any more. It is done when the feed has been read to its end: what
 * changes while a snapshot is read may stand in the feed only.
 * @returns how many deletes were published, and how many wait for an operator's word
 */
export async function finishComparison(
  lease: Lease,
  organisations: readonly OwnedOrganisation[],
  needs: AggregatorNeeds,
): Promise<{ deleted: number; withheld: number }> {
  const { source } = lease;
  const counts = await countGone(
    needs.pool,
    source.id,
    organisations.map(({ organisatiecode }) => organisatiecode),
  );
  const tooMany = counts.filter(({ total, gone }) => gone * MASS_DELETE > total && !source.magMassaal);
  let deleted = 0;
  for (const { organisatiecode, gone } of counts) {
    if (gone === 0 || tooMany.some((other) => other.organisatiecode === organisatiecode)) continue;
    deleted += await deleteGone(lease, organisatiecode, needs);
  }
  await transaction(needs.pool, async (client) => {
    const issues = tooMany.map(({ organisatiecode, total, gone }) => ({
      what: 'mass-delete-withheld',
      where: organisatiecode,
      detail: `${gone} of ${total} resources are not in the source any more; deleting them takes an operator's word`,
      times: 1,
      blocking: true,
    }));
    await addIssues(client, source.id, issues, needs.clock.now());
    await endComparison(client, lease, tooMany);
  });
  return { deleted, withheld: tooMany.reduce((sum, { gone }) => sum + gone, 0) };
}

const MISSED =
  'Niet meer aanwezig bij de bron, en de geschiedenis van de bron zegt niet waarom: de inhoud is daarom uit de historie gehaald.';

async function deleteGone(lease: Lease, organisatiecode: string, needs: AggregatorNeeds): Promise<number> {
  const { pool, clock } = needs;
  const toelichting = `Niet meer aanwezig bij de bron ${lease.source.feedUrl ?? lease.source.adres}.`;
  let deleted = 0;
  for (;;) {
    const count = await transaction(pool, async (client) => {
      const gone = await findGone(client, lease.source.id, organisatiecode, BATCH_CHANGES);
      const removals = gone.map(
        (named): Removal => ({ op: 'delete', ...named, verwijderreden: 'overig', toelichting }),
      );
      // What of its history was not seen may have been a redaction: it must not stay readable here.
      const redactions = lease.source.historieGemist
        ? gone.map(
            (named): Removal => ({
              op: 'redact',
              ...named,
              verwijderreden: 'niet_langer_openbaar',
              toelichting: MISSED,
            }),
          )
        : [];
      if (removals.length > 0) await publishBatch(client, [...removals, ...redactions], clock.now());
      await countPublished(client, lease, removals.length + redactions.length);
      return removals.length;
    });
    if (count === 0) break;
    deleted += count;
  }
  if (deleted > 0 && lease.source.historieGemist) await cleanFiles(needs);
  return deleted;
}
