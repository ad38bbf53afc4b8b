import { Command } from 'commander';
import { commandGroup } from '../../cli/command-group.ts';
import { createProgress } from '../../cli/output.ts';
import { runCommand } from '../../cli/run-command.ts';
import type { Terminal } from '../../seams/terminal.ts';

export function addCommands(program: Command, terminal: Terminal): void {
  commandGroup(program, 'feed').addCommand(feedReindexCommand(terminal));
}

function feedReindexCommand(terminal: Terminal): Command {
  return new Command('reindex')
    .description('make the search index of the pages anew from the current state, while it is in use')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak feed reindex')
    .action((options: { json?: boolean }) =>
      runCommand(terminal, options, async ({ database, output, interrupted }) => {
        const { followStep, readIndexState, startReindex } = await import('./search/follow-feed.ts');
        await startReindex(database.pool);
        const progress = createProgress(terminal, 'indexed', undefined);
        for (;;) {
          interrupted.throwIfAborted();
          const outcome = await followStep(database.pool);
          const { position, toScan } = await readIndexState(database.pool);
          if (toScan === 0 && outcome === 'done') {
            progress.end();
            output.result({ position }, () => output.line(`The index has everything up to number ${position}.`));
            return;
          }
          progress.update(Math.max(0, position - toScan));
          // A server takes steps too: one of the two works, the other looks again.
          if (outcome === 'busy') await new Promise((resolve) => setTimeout(resolve, BUSY_MS));
        }
      }),
    );
}

/** Milliseconds between attempts while a server does the work. */
const BUSY_MS = 100;
