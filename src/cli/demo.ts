import { Command } from 'commander';
import type { Terminal } from '../kernel/terminal.ts';
import { reportFailure } from './run-command.ts';

export function demoCommand(terminal: Terminal): Command {
  return new Command('demo')
    .description('start everything on this machine, load example data and play the clients')
    .option('--once', 'end after the tour')
    .option('--empty', 'load no data and play no tour')
    .addHelpText('after', '\nExample:\n  $ koppelvlak demo --once')
    .action((options: { once?: boolean; empty?: boolean }) =>
      reportFailure(terminal, async () => {
        const { runDemo } = await import('../demo/run-demo.ts');
        await runDemo({ once: options.once ?? false, empty: options.empty ?? false }, terminal);
      }),
    );
}
