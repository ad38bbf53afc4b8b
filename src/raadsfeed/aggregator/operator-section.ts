import type { Db } from '../../database/transaction.ts';
import type { OperatorSection } from '../../lib/operations.ts';
import { readSourceStates, type SourceState } from './store/sources.ts';

/** Failing sources first, then those furthest behind. */
const MOST = 100;

export function sourcesSection(db: Db): OperatorSection {
  return {
    title: 'Sources',
    read: async () => {
      const states = (await readSourceStates(db)).toSorted(
        (a, b) => Number(b.mislukt > 0) - Number(a.mislukt > 0) || b.lagSeconds - a.lagSeconds,
      );
      return {
        columns: ['source', 'state', 'read to its end', 'records behind', 'completeness', 'last fault'],
        rows: states.slice(0, MOST).map((state) => [
          // Credentials and queries of an address must not be shown.
          state.adres.replace(/[?#].*/, '').replace(/\/\/[^/@]*@/, '//'),
          state.toestand === 'actief' ? 'active' : 'paused',
          state.bijgewerkt ?? 'never',
          state.behind ?? 'not known',
          completeness(state),
          fault(state),
        ]),
      };
    },
  };
}

function completeness({ dekking, openGeweigerd, achtergehouden, meldingen }: SourceState): string {
  const parts = [
    ...(dekking === null ? [] : [`${dekking} % of what the supplier shows`]),
    ...(openGeweigerd === 0 ? [] : [`resources refused: ${openGeweigerd}`]),
    ...(achtergehouden === 0 ? [] : [`deletes withheld: ${achtergehouden}`]),
    ...(meldingen === 0 ? [] : [`open issues: ${meldingen}`]),
  ];
  return parts.length === 0 ? 'nothing missing that is known' : parts.join(', ');
}

function fault({ mislukt, fout, foutSinds }: SourceState): string {
  if (mislukt === 0) return '';
  return `${fout ?? 'unknown'} (failures: ${mislukt}, since ${foutSinds?.toISOString() ?? 'unknown'})`;
}
