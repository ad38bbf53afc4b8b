import type { Command } from 'commander';
import type { Terminal } from '../../lib/terminal.ts';
import { checkCommand } from './commands/check.ts';
import { convertCommand } from './commands/convert.ts';
import { generateCommand } from './commands/generate.ts';
import { preflightCommand } from './commands/preflight.ts';
import { requestCommand } from './commands/request.ts';

export function toolCommands(terminal: Terminal): Command[] {
  return [convertCommand, checkCommand, generateCommand, requestCommand, preflightCommand].map((create) =>
    create(terminal),
  );
}
