import type { Command } from 'commander';
import { commandGroup } from '../../commands/run-command.ts';
import type { Terminal } from '../../lib/terminal.ts';
import { checkCommand } from './commands/check.ts';
import { convertCommand } from './commands/convert.ts';
import { generateCommand } from './commands/generate.ts';
import { preflightCommand } from './commands/preflight.ts';
import { requestCommand } from './commands/request.ts';

export function addCommands(program: Command, terminal: Terminal): void {
  const gegevens = commandGroup(program, 'gegevens');
  for (const create of [convertCommand, checkCommand, generateCommand, requestCommand, preflightCommand])
    gegevens.addCommand(create(terminal));
}
