import { Command } from 'commander';
import { runCommand } from './run-command.ts';

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('bring the database to the form that this version needs')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ DATABASE_URL=postgres://owner@db/koppelvlak koppelvlak migrate')
    .action((options: { json?: boolean }) =>
      runCommand(options, async ({ ownerUrl, platform, output }) => {
        const { migrate } = await import('../kernel/database/migrate.ts');
        const { MIGRATIONS } = await import('../kernel/database/migrations-directory.ts');
        const applied = await migrate({ url: ownerUrl, dir: MIGRATIONS, log: platform.log });
        output.result({ applied }, () => {
          output.line(applied.length === 0 ? 'Nothing to do.' : `Applied: ${applied.join(', ')}`);
        });
      }),
    );
}
