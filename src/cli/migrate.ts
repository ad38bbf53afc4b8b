import { Command } from 'commander';
import type { Terminal } from '../kernel/terminal.ts';
import { runTool } from './run-command.ts';

export function migrateCommand(terminal: Terminal): Command {
  return new Command('migrate')
    .description('bring the database to the form that this version needs')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ DATABASE_URL=postgres://owner@db/koppelvlak koppelvlak migrate')
    .action((options: { json?: boolean }) =>
      runTool(terminal, options, async ({ config, log, output }) => {
        const { openDatabaseServer } = await import('../kernel/database/database-server.ts');
        const { migrate } = await import('../kernel/database/migrate.ts');
        const { MIGRATIONS } = await import('../kernel/database/migrate.ts');
        const database = await openDatabaseServer({ config, log, purpose: 'command' });
        try {
          const applied = await migrate({
            url: database.ownerUrl,
            variable: database.variables.ownerUrl,
            dir: MIGRATIONS,
            log,
          });
          output.result({ applied }, () => {
            output.line(applied.length === 0 ? 'Nothing to do.' : `Applied: ${applied.join(', ')}`);
          });
        } finally {
          await database.stop();
        }
      }),
    );
}
