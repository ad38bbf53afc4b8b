import process from 'node:process';
import { Command } from 'commander';
import { readConfig } from '../kernel/config/read-config.ts';
import { createLogger } from '../kernel/log.ts';
import type { Terminal } from '../kernel/terminal.ts';
import { reportFailure, warnOfUnknown } from './run-command.ts';

export function serveCommand(terminal: Terminal): Command {
  return new Command('serve')
    .description('serve the areas named in AREAS until SIGTERM')
    .addHelpText('after', '\nExample:\n  $ AREAS=raadsfeed koppelvlak serve')
    .action(() =>
      reportFailure(terminal, async () => {
        const config = readConfig(terminal.env, 'serve');
        const { serve } = await import('../serve.ts');
        const { stopOnSignals } = await import('../stop-on-signals.ts');
        // Of the process itself it writes to the descriptor, without a stream in between.
        const log = createLogger(config.server.logLevel, terminal === process ? undefined : terminal.stdout);
        warnOfUnknown(terminal.env, log);
        const service = await serve({ config, log });
        await stopOnSignals(terminal, {
          stop: service.stop,
          log,
          drainMs: config.server.shutdownDrainMs,
          timeoutMs: config.server.shutdownTimeoutMs,
          lost: service.databaseExited,
        });
      }),
    );
}
