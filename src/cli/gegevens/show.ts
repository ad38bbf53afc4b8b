import { Command } from 'commander';
import type { Terminal } from '../../kernel/terminal.ts';
import { CommandError, runCommand } from '../run-command.ts';
import { parseId } from './options.ts';

export function showCommand(terminal: Terminal): Command {
  return new Command('show')
    .description('one levering: where it came from, what it holds, whether it is delivered; not its records')
    .argument('<id>', 'number as shown by `list`', parseId)
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak gegevens show 12')
    .action((id: number, options: { json?: boolean }) =>
      runCommand(terminal, options, async ({ platform, output }) => {
        const { listLeveringen, readHead } = await import('../../gegevens/store/manage-leveringen.ts');
        const [levering] = await listLeveringen(platform.pool, { id, all: true });
        if (levering === undefined) throw new CommandError(`there is no levering ${id}`);
        const kop = await readHead(platform.pool, id);
        output.result({ ...levering, kop }, () => {
          for (const [name, value] of Object.entries(levering)) {
            const shown = value instanceof Date ? value.toISOString() : String(value ?? '-');
            output.line(`${name.padEnd(14)} ${shown}`);
          }
          output.line(`${'kop'.padEnd(14)} ${JSON.stringify(kop, undefined, 2)}`);
        });
      }),
    );
}
