import { Command } from 'commander';
import type { Terminal } from '../kernel/terminal.ts';
import { logHistoryCommand } from './log-history.ts';
import { logPruneCommand } from './log-prune.ts';
import { logRotateKeyCommand } from './log-rotate-key.ts';
import { logVerifyCommand } from './log-verify.ts';

/** `koppelvlak log …`: what an operator does with the processing log beside serving it. */
export function verwerkingenlogCommand(terminal: Terminal): Command {
  return new Command('log')
    .description('look into the processing log, keep it to its terms, check it')
    .addCommand(logHistoryCommand(terminal))
    .addCommand(logPruneCommand(terminal))
    .addCommand(logVerifyCommand(terminal))
    .addCommand(logRotateKeyCommand(terminal));
}
