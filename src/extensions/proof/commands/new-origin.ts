import { Argument, Command } from 'commander';
import { CommandError, runCommand } from '../../../cli/run-command.ts';
import { PROOF_LOGS, type ProofLogName } from '../../../seams/proof-log.ts';
import type { Terminal } from '../../../seams/terminal.ts';

/** `koppelvlak proof new-origin`: after a restored backup or a failover that lost entries. */
export function proofNewOriginCommand(terminal: Terminal): Command {
  return new Command('new-origin')
    .description('go on under a new origin after a conflict; its first leaf binds the last checkpoint of the old one')
    .addArgument(new Argument('<log>', 'which log').choices(PROOF_LOGS))
    .option('--json', 'one machine-readable result')
    .addHelpText(
      'after',
      `
Everybody who follows the log sees that it broke here, and must be told why. The old log stays readable.

Example:
  $ koppelvlak proof new-origin raadsfeed`,
    )
    .action((log: ProofLogName, options: { json?: boolean }) =>
      runCommand(terminal, options, async ({ config, database: { pool }, output }) => {
        const { beginNewOrigin } = await import('../origins.ts');
        const { openPublishedCheckpoints, statePath } = await import('../state.ts');
        const { key } = config.proof;
        if (key === undefined) throw new CommandError('PROOF_KEY is not set');
        const published = await openPublishedCheckpoints(statePath(config));
        const begun = await beginNewOrigin(pool, log, Buffer.from(key, 'base64'), published);
        output.result(begun, () => {
          output.line(
            `${begun.origin} goes on; of the old origin ${begun.stored} of ${begun.published} leaves are here.`,
          );
          output.line(begun.verifierKey);
        });
      }),
    );
}
