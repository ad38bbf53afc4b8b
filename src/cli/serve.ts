import { Command } from 'commander';
import { processEnvironment, readConfig } from '../kernel/config/read-config.ts';
import { createLogger } from '../kernel/log.ts';
import { reportFailure, warnOfUnknown } from './run-command.ts';

export function serveCommand(): Command {
  return new Command('serve')
    .description('serve the areas named in AREAS until SIGTERM')
    .addHelpText('after', '\nExample:\n  $ AREAS=raadsfeed koppelvlak serve')
    .action(() =>
      reportFailure(async () => {
        const config = readConfig(processEnvironment(), 'serve');
        const { serve } = await import('../serve.ts');
        const { stopOnSignals } = await import('../stop-on-signals.ts');
        const log = createLogger(config.server.logLevel);
        warnOfUnknown(processEnvironment(), log);
        const service = await serve({ config, log });
        await stopOnSignals({
          stop: service.stop,
          log,
          drainMs: config.server.shutdownDrainMs,
          timeoutMs: config.server.shutdownTimeoutMs,
          lost: service.databaseExited,
        });
      }),
    );
}
