import { Command, Option } from 'commander';
import type { Terminal } from '../kernel/terminal.ts';
import { VERWIJDERREDENEN, type Verwijderreden } from '../raadsfeed/domain/change.ts';
import { resourceKey } from '../raadsfeed/domain/resource.ts';
import type { Missing } from '../raadsfeed/writer/sync-state.ts';
import { parseOrganisatie, requireToelichting } from './feed-options.ts';
import { publishFeedLines } from './feed-lines.ts';
import { CommandError, runCommand } from './run-command.ts';

interface SyncOptions {
  readonly organisatie: string;
  readonly reden: Verwijderreden;
  readonly toelichting?: string;
  readonly allowMassDelete?: boolean;
  readonly json?: boolean;
}

export function feedSyncCommand(terminal: Terminal): Command {
  return new Command('sync')
    .description('bring the feed to a full state of an organisation: publishes what differs, deletes what is not there')
    .argument('[file...]', 'files with an upsert for every resource; none, or -, is standard input')
    .requiredOption('--organisatie <code>', 'the organisation that the state is of', parseOrganisatie)
    .addOption(
      new Option('--reden <reden>', 'verwijderreden of what is deleted')
        .choices(VERWIJDERREDENEN)
        .default('ingetrokken'),
    )
    .option('--toelichting <text>', 'toelichting of what is deleted')
    .option('--allow-mass-delete', 'delete even when it is more than a tenth of what the organisation has')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak feed sync --organisatie gm9901 stand.ndjson')
    .action((files: string[], options: SyncOptions) =>
      runCommand(terminal, options, async (context) => {
        const { organisatie, reden, toelichting } = options;
        requireToelichting(reden, toelichting);
        const { findMissing, publishRemovals } = await import('../raadsfeed/writer/sync-state.ts');
        const { createPublisher } = await import('../raadsfeed/writer/publisher.ts');
        const { platform, output, interrupted } = context;
        const keys = new Set<string>();
        let missing: Missing | undefined;
        const { lines, recorded, noOp } = await publishFeedLines(files, context, {
          strict: false,
          partial: false,
          accept: ({ op, resourceType, resource }) => {
            if (op !== 'upsert') return 'a full state has upserts only';
            if (resource.organisatiecode !== organisatie) return `is not of ${organisatie}`;
            if (missing !== undefined) return undefined;
            const key = resourceKey(resourceType, resource);
            if (keys.has(key)) return 'the resource is there twice';
            keys.add(key);
            return undefined;
          },
          checked: async () => {
            missing = await findMissing(platform.pool, organisatie, keys, { verwijderreden: reden, toelichting });
            if (missing.isMassDelete && options.allowMassDelete !== true) {
              throw new CommandError(
                `${missing.removals.length} of the ${missing.present} resources of ${organisatie} are not in this state. ` +
                  'That is more than a tenth: nothing was published. Is the state complete? Then add --allow-mass-delete.',
              );
            }
          },
        });
        const deleted =
          missing === undefined
            ? 0
            : await publishRemovals(platform.pool, createPublisher(platform), missing, interrupted);
        output.result({ lines, recorded, noOp, deleted }, () => {
          output.line(`${lines} resources: ${recorded} recorded, ${noOp} no-op; ${deleted} others deleted.`);
        });
      }),
    );
}
