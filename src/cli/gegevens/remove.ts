import { Command } from 'commander';
import type { Terminal } from '../../kernel/terminal.ts';
import { CommandError, runCommand } from '../run-command.ts';
import { parseIds } from './options.ts';

export function removeCommand(terminal: Terminal): Command {
  return new Command('remove')
    .description(
      'stop delivering leveringen, at once and to whoever is paging through them; they stay until they are pruned',
    )
    .argument('<id...>', 'numbers as shown by `list --all`', parseIds)
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak gegevens remove 12 13')
    .action((ids: number[], options: { json?: boolean }) =>
      runCommand(terminal, options, async ({ platform, output }) => {
        const { removeLeveringen } = await import('../../gegevens/store/manage-leveringen.ts');
        const removed = await removeLeveringen(platform.pool, ids);
        output.result({ removed }, () => output.line(`No longer delivered: ${removed.join(', ') || 'none'}`));
        const unknown = ids.filter((id) => !removed.includes(id));
        if (unknown.length > 0) throw new CommandError(`not there or removed before: ${unknown.join(', ')}`);
      }),
    );
}
