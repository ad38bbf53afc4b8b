import { Command } from 'commander';
import { commandWithResult, runCommand } from '../../commands/run-command.ts';
import { table } from '../../lib/output.ts';
import type { Terminal } from '../../lib/terminal.ts';
import { addCommand, importCommand } from './commands/add.ts';
import { sourceCommands } from './commands/on-source.ts';
import { periodText } from './plan-sources.ts';
import type { SourceState } from './store/sources.ts';

export function bronCommand(terminal: Terminal): Command {
  const bron = new Command('bron').description('the sources of an aggregator');
  const commands = [addCommand(terminal), importCommand(terminal), listCommand(terminal), ...sourceCommands(terminal)];
  for (const command of commands) bron.addCommand(command);
  return bron;
}

function listCommand(terminal: Terminal): Command {
  return commandWithResult('list', 'the sources, with their progress and faults', 'bron list').action(
    (options: { json?: boolean }) =>
      runCommand(terminal, options, async ({ database, output }) => {
        const { readSourceStates } = await import('./store/sources.ts');
        const states = await readSourceStates(database.pool);
        const none = 'No sources; see koppelvlak bron add --help.';
        output.result(states, () => output.line(states.length === 0 ? none : table(HEAD, states.map(stateCells))));
      }),
  );
}

const HEAD = [
  ...['source', 'state', 'organisations', 'days', 'up to date', 'lag', 'behind'],
  ...['refused', 'withheld', 'coverage', 'issues'],
];
const SHOWN_ORGANISATIONS = 3;

function stateCells(state: SourceState): string[] {
  const { organisaties, bijgewerkt, behind } = state;
  const more = organisaties.length - SHOWN_ORGANISATIONS;
  return [
    state.adres,
    describe(state),
    organisaties.slice(0, SHOWN_ORGANISATIONS).join(' ') + (more > 0 ? ` and ${more} more` : ''),
    state.soort === 'feed' ? '' : periodText(state),
    bijgewerkt?.toISOString() ?? 'not yet',
    `${Math.round(state.lagSeconds)} s`,
    behind === null ? '' : String(behind),
    `${state.geweigerd}${state.openGeweigerd > 0 ? ` (${state.openGeweigerd} open)` : ''}`,
    String(state.achtergehouden),
    state.dekking === null ? '' : `${state.dekking} %`,
    String(state.meldingen),
  ];
}

function describe({ toestand, fout, mislukt, fase, bijgewerkt }: SourceState): string {
  if (toestand === 'gepauzeerd') return 'paused';
  if (fout !== null) return `failing (${mislukt}): ${fout}`;
  if (bijgewerkt === null) return 'starting';
  return PHASES[fase ?? 'feed'];
}

const PHASES = {
  stand: 'reading the snapshot',
  historie: 'reading its history for redactions',
  feed: 'following',
} as const;
