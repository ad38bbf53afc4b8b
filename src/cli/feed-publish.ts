import { Command } from 'commander';
import type { Terminal } from '../kernel/terminal.ts';
import { parseOrganisatie } from './feed-options.ts';
import { publishFeedLines, tellFaults } from './feed-lines.ts';
import { CommandError, runCommand, UsageError } from './run-command.ts';

interface PublishOptions {
  readonly organisatie?: string;
  readonly strict?: boolean;
  readonly partial?: boolean;
  readonly json?: boolean;
}

export function feedPublishCommand(terminal: Terminal): Command {
  return new Command('publish')
    .description('publish lines of NDJSON: {"op","resourceType","data"}, or with resource and verwijderreden')
    .argument('[file...]', 'files to read; none, or -, is standard input')
    .option('--organisatie <code>', 'refuse lines of another organisation', parseOrganisatie)
    .option('--strict', 'stop at the first line that is refused; nothing is published')
    .option('--partial', 'publish the good lines even when others are refused')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak feed publish vergaderingen.ndjson')
    .action((files: string[], { organisatie, strict = false, partial = false, json }: PublishOptions) =>
      runCommand(terminal, { json: json ?? false }, async (context) => {
        if (strict && partial) throw new UsageError('--strict and --partial exclude each other');
        const { output } = context;
        const result = await publishFeedLines(files, context, {
          strict,
          partial,
          accept:
            organisatie === undefined
              ? undefined
              : ({ resource }) => (resource.organisatiecode === organisatie ? undefined : `is not of ${organisatie}`),
        });
        const { lines, recorded, noOp, refused, faults } = result;
        output.result(result, () => {
          tellFaults(output, faults);
          output.line(`${lines} lines: ${recorded} recorded, ${noOp} no-op, ${refused} refused.`);
        });
        if (refused > 0) throw new CommandError(`${refused} lines were refused; the others are published.`);
      }),
    );
}
