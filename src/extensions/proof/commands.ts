import type { Command } from 'commander';
import type { Terminal } from '../../seams/terminal.ts';
import { proofCommand } from './commands/proof.ts';

export function addCommands(program: Command, terminal: Terminal): void {
  program.addCommand(proofCommand(terminal));
}
