import { Command } from 'commander';
import type { Terminal } from '../kernel/terminal.ts';
import { readSourceAddress, requireSource } from './bron-source.ts';
import { CommandError, runCommand, UsageError } from './run-command.ts';

interface Options {
  readonly allowMassDelete?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** Resources that are shown by name. */
const SHOWN = 20;

export function bronSwitchCommand(terminal: Terminal): Command {
  return new Command('switch')
    .description(
      'take the organisations of a source from a feed of their own instead; what both have is not published again',
    )
    .argument('<source>', 'address of the source that is followed now')
    .argument('<feed>', 'address of the service document of the feed')
    .option('--dry-run', 'only show what would be deleted and added')
    .option('--allow-mass-delete', 'go over even when more than a tenth of an organisation would be deleted')
    .option('--json', 'one machine-readable result')
    .addHelpText(
      'after',
      '\nExample:\n  $ koppelvlak bron switch notubiz:281 https://raad.voorbeeldstad.example/ori/v1 --dry-run',
    )
    .action((text: string, feed: string, options: Options) =>
      runCommand(terminal, options, async ({ platform, output, interrupted }) => {
        const { carryOutSwitch, planSwitch } = await import('../aggregator/switch-source.ts');
        const to = readSourceAddress(feed);
        if (to.kind !== 'feed') throw new UsageError('only a feed takes the place of another source');
        const from = await requireSource(platform.pool, text);
        if (from.adres === to.adres) throw new UsageError('that is the same source');
        const allowMassDelete = options.allowMassDelete === true;
        const plan = await planSwitch(platform, from, to.adres, interrupted);
        const refused = plan.isMassDelete && !allowMassDelete;
        const switched = !refused && options.dryRun !== true;
        if (switched) await carryOutSwitch(platform, { from, to: to.adres, plan, allowMassDelete });
        output.result({ ...plan, switched }, () => {
          for (const { organisatiecode, same, deleted, added } of plan.organisations) {
            output.line(`${organisatiecode}: ${same} the same, ${deleted.length} to delete, ${added.length} to add`);
            for (const key of deleted.slice(0, SHOWN)) output.line(`  - ${key}`);
            for (const key of added.slice(0, SHOWN)) output.line(`  + ${key}`);
          }
          if (switched) output.line(`Switched to ${to.adres}.`);
        });
        if (refused)
          throw new CommandError('more than a tenth would be deleted; --allow-mass-delete does it all the same');
      }),
    );
}
