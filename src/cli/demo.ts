import { Command } from 'commander';
import { reportFailure } from './run-command.ts';

export function demoCommand(): Command {
  return new Command('demo')
    .description('start everything on this machine, load example data and play the clients')
    .option('--once', 'end after the tour')
    .option('--empty', 'load no data and play no tour')
    .addHelpText('after', '\nExample:\n  $ koppelvlak demo --once')
    .action((options: { once?: boolean; empty?: boolean }) =>
      reportFailure(async () => {
        const { runDemo } = await import('../demo/run-demo.ts');
        await runDemo({ once: options.once ?? false, empty: options.empty ?? false });
      }),
    );
}
