import { Command } from 'commander';
import type { Variant } from '../../gegevens/domain/model/mapping.ts';
import type { Terminal } from '../../kernel/terminal.ts';
import { table } from '../output.ts';
import { runCommand } from '../run-command.ts';
import { variantOption } from './options.ts';

interface ListOptions {
  readonly variant?: Variant;
  readonly all?: boolean;
  readonly municipality?: string;
  readonly json?: boolean;
}

export function listCommand(terminal: Terminal): Command {
  return new Command('list')
    .description('what is delivered, by period and organisation')
    .addOption(variantOption())
    .option('--municipality <code>', 'only for this municipality, with or without `GM`')
    .option('--all', 'earlier versions too, until they are pruned')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak gegevens list --variant vs --all')
    .action((options: ListOptions) =>
      runCommand(terminal, options, async ({ platform, output }) => {
        const { listLeveringen } = await import('../../gegevens/store/list-leveringen.ts');
        const { municipalityKey } = await import('../../gegevens/domain/organisation.ts');
        const { municipality } = options;
        const gemeente = municipality === undefined ? undefined : (municipalityKey(municipality) ?? '');
        const leveringen = await listLeveringen(platform.pool, { ...options, gemeente });
        output.result({ leveringen }, () => {
          const rows = leveringen.map((levering) => [
            String(levering.id),
            levering.variant,
            levering.organisatie,
            levering.gemeente ?? '-',
            `${levering.periodeStart} to ${levering.periodeEinde}`,
            String(levering.records),
            String(levering.zaken),
            levering.modelVersie,
            levering.ingevoerdOp.toISOString(),
            levering.reden ?? 'current',
          ]);
          const head = [
            'id',
            'variant',
            'organisation',
            'municipality',
            'period',
            'records',
            'zaken',
            'model',
            'imported',
            'state',
          ];
          output.line(leveringen.length === 0 ? 'Nothing is delivered.' : table(head, rows));
        });
      }),
    );
}
