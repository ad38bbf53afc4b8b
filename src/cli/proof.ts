import { randomBytes } from 'node:crypto';
import { Command } from 'commander';
import type { Terminal } from '../kernel/terminal.ts';
import { proofCheckCommand } from './proof-check.ts';
import { proofMonitorCommand } from './proof-monitor.ts';
import { proofNewOriginCommand } from './proof-new-origin.ts';
import { proofVerifyCommand } from './proof-verify.ts';
import { runTool } from './run-command.ts';

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
    .addHelpText('after', '\nExample:\n  $ koppelvlak proof key > /etc/koppelvlak/proof-key')
    .action(() => runTool(terminal, {}, async ({ output }) => output.line(randomBytes(32).toString('base64'))));
}
