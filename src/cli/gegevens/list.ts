import { Command } from 'commander';
import type { Variant } from '../../gegevens/domain/model/mapping.ts';
import { table } from '../output.ts';
import { runCommand } from '../run-command.ts';
import { variantOption } from './options.ts';

interface Options {
  readonly variant?: Variant;
  readonly all?: boolean;
  readonly json?: boolean;
}

export function listCommand(): Command {
  return new Command('list')
    .description('what is delivered, by period and organisation')
    .addOption(variantOption())
    .option('--all', 'earlier versions too, until they are pruned')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak gegevens list --variant vs --all')
    .action((options: Options) =>
      runCommand(options, async ({ platform, output }) => {
        const { listLeveringen } = await import('../../gegevens/store/list-leveringen.ts');
        const leveringen = await listLeveringen(platform.pool, options);
        output.result({ leveringen }, () => {
          const rows = leveringen.map((levering) => [
            String(levering.id),
            levering.variant,
            levering.organisatie,
            `${levering.periodeStart} to ${levering.periodeEinde}`,
            String(levering.records),
            String(levering.zaken),
            levering.ingevoerdOp.toISOString(),
            levering.reden ?? 'current',
          ]);
          const head = ['id', 'variant', 'organisation', 'period', 'records', 'zaken', 'imported', 'state'];
          output.line(leveringen.length === 0 ? 'Nothing is delivered.' : table(head, rows));
        });
      }),
    );
}
