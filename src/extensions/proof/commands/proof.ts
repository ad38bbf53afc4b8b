import { randomBytes } from 'node:crypto';
import { Command } from 'commander';
import { CommandError, runTool } from '../../../cli/run-command.ts';
import type { Terminal } from '../../../seams/terminal.ts';
import { proofCheckCommand } from './check.ts';
import { proofMonitorCommand } from './monitor.ts';
import { proofNewOriginCommand } from './new-origin.ts';
import { proofVerifyCommand } from './verify.ts';

export function proofCommand(terminal: Terminal): Command {
  const command = new Command('proof').description('logs that nobody can change unseen: keys, proofs, logs of others');
  for (const subcommand of [
    keyCommand(terminal),
    proofCheckCommand(terminal),
    proofVerifyCommand(terminal),
    proofNewOriginCommand(terminal),
    proofMonitorCommand(terminal),
  ])
    command.addCommand(subcommand);
  return command;
}

function keyCommand(terminal: Terminal): Command {
  return new Command('key')
    .description('make a value for PROOF_KEY: 32 random bytes in base64')
    .option('--sealing', 'instead derive PROOF_SEALING_KEY from PROOF_KEY: it seals entries and cannot sign')
    .addHelpText(
      'after',
      '\nExample:\n  $ koppelvlak proof key > /etc/koppelvlak/proof-key' +
        '\n  $ PROOF_KEY=$(cat /etc/koppelvlak/proof-key) koppelvlak proof key --sealing',
    )
    .action((options: { sealing?: boolean }) =>
      runTool(terminal, {}, async ({ config, output }) => {
        if (options.sealing !== true) return output.line(randomBytes(32).toString('base64'));
        const { key } = config.proof;
        if (key === undefined) throw new CommandError('PROOF_KEY is not set: the sealing key follows from it');
        const { deriveSealingKey } = await import('../keys.ts');
        output.line(Buffer.from(deriveSealingKey(Buffer.from(key, 'base64'))).toString('base64'));
      }),
    );
}
