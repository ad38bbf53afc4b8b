import { Command } from 'commander';
import type { SourceState } from '../aggregator/store/sources.ts';
import type { Terminal } from '../kernel/terminal.ts';
import { table } from './output.ts';
import { runCommand } from './run-command.ts';

export function bronListCommand(terminal: Terminal): Command {
  return new Command('list')
    .description('the sources, how far they were read and what is wrong with them')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak bron list')
    .action((options: { json?: boolean }) =>
      runCommand(terminal, options, async ({ platform, output }) => {
        const { readSourceStates } = await import('../aggregator/store/sources.ts');
        const states = await readSourceStates(platform.pool);
        output.result(states, () => {
          if (states.length === 0) output.line('No sources; see koppelvlak bron add --help.');
          else output.line(table(HEAD, states.map(row)));
        });
      }),
    );
}

const HEAD = [
  'source',
  'state',
  'organisations',
  'up to date',
  'lag',
  'behind',
  'refused',
  'withheld',
  'coverage',
  'issues',
];
const SHOWN_ORGANISATIONS = 3;

function row(state: SourceState): string[] {
  const { organisaties, bijgewerkt, behind } = state;
  const more = organisaties.length - SHOWN_ORGANISATIONS;
  return [
    state.adres,
    describe(state),
    organisaties.slice(0, SHOWN_ORGANISATIONS).join(' ') + (more > 0 ? ` and ${more} more` : ''),
    bijgewerkt?.toISOString() ?? 'not yet',
    duration(state.lagSeconds),
    behind === null ? '' : String(behind),
    `${state.geweigerd}${state.openGeweigerd > 0 ? ` (${state.openGeweigerd} open)` : ''}`,
    String(state.achtergehouden),
    state.dekking === null ? '' : `${state.dekking} %`,
    `${state.meldingen}${state.meldingenWeggelaten > 0 ? ` (${state.meldingenWeggelaten} dropped)` : ''}`,
  ];
}

function describe({ toestand, fout, mislukt, fase, bijgewerkt, nietsTeLezen }: SourceState): string {
  if (toestand === 'gepauzeerd') return 'paused';
  if (fout !== null) return `failing (${mislukt}): ${fout}`;
  if (nietsTeLezen) return 'nothing to read: all it has is taken from elsewhere';
  if (bijgewerkt === null) return 'starting';
  return PHASES[fase];
}

const PHASES = {
  stand: 'reading the snapshot',
  historie: 'reading its history for redactions',
  feed: 'following',
} as const;

/** @param seconds since the source was read to its end */
function duration(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}
