import { Command } from 'commander';
import type { Terminal } from '../kernel/terminal.ts';
import { createProgress } from './progress.ts';
import { CommandError, runCommand } from './run-command.ts';

export function feedVerifyCommand(terminal: Terminal): Command {
  return new Command('verify')
    .description('check every promise of the log on what is stored')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak feed verify')
    .action((options: { json?: boolean }) =>
      runCommand(terminal, options, async ({ platform, output, interrupted }) => {
        const { verifyFeed } = await import('../raadsfeed/verify/verify-feed.ts');
        const progress = createProgress(terminal, 'checked', undefined);
        const result = await verifyFeed(platform.pool, {
          clock: platform.clock,
          signal: interrupted,
          progress: (number) => progress.tell(number),
        });
        progress.end();
        output.result(result, () => {
          for (const { sequenceNumber, fault } of result.faults) {
            output.line(sequenceNumber === undefined ? fault : `${sequenceNumber}: ${fault}`);
          }
          output.line(
            `${result.records} records, ${result.resources} resources, head ${result.head}: ${result.faultCount} faults.`,
          );
        });
        if (result.faultCount > 0) throw new CommandError(`${result.faultCount} promises are broken.`);
      }),
    );
}
