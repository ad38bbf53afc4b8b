import type { Command } from 'commander';
import type { Terminal } from '../../seams/terminal.ts';
import { bronCommand } from './commands/bron.ts';

export function addCommands(program: Command, terminal: Terminal): void {
  program.addCommand(bronCommand(terminal));
}
