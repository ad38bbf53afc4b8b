import { Command } from 'commander';
import { openFeedInput } from './feed-input.ts';
import { parseOrganisatie } from './feed-options.ts';
import { createProgress } from './progress.ts';
import { CommandError, runCommand } from './run-command.ts';

interface Options {
  readonly organisatie?: string;
  readonly strict?: boolean;
  readonly partial?: boolean;
  readonly json?: boolean;
}

interface Fault {
  readonly file: string;
  readonly line: number;
  readonly faults: readonly string[];
}

/** Faults that are told one by one; the rest is only counted. */
const TOLD_FAULTS = 1000;

export function feedPublishCommand(): Command {
  return new Command('publish')
    .description('publish lines of NDJSON: {"op","resourceType","data"}, or with resource and verwijderreden')
    .argument('[file...]', 'files to read; none, or -, is standard input')
    .option('--organisatie <code>', 'refuse lines of another organisation', parseOrganisatie)
    .option('--strict', 'stop at the first line that is refused; nothing is published')
    .option('--partial', 'publish the good lines even when others are refused')
    .option('--json', 'one machine-readable result')
    .addHelpText('after', '\nExample:\n  $ koppelvlak feed publish vergaderingen.ndjson')
    .action((files: string[], options: Options) =>
      runCommand(options, async ({ platform, output, interrupted }) => {
        const { createLineValidator } = await import('../raadsfeed/writer/line-validator.ts');
        const { createPublisher } = await import('../raadsfeed/writer/publisher.ts');
        const { publishLines } = await import('../raadsfeed/writer/publish-lines.ts');
        const validate = createLineValidator();
        const publisher = createPublisher({ pool: platform.pool, clock: platform.clock });
        const input = await openFeedInput(files, { twice: options.partial !== true, signal: interrupted });
        const faults: Fault[] = [];
        const total = { lines: 0, recorded: 0, noOp: 0, refused: 0 };
        const run = async (publish: boolean): Promise<void> => {
          Object.assign(total, { lines: 0, recorded: 0, noOp: 0, refused: 0 });
          const progress = createProgress(publish ? 'published' : 'checked', input.bytes);
          for (const { name, open } of input.files) {
            const before = { ...total };
            const counts = await publishLines(progress.counting(open()), {
              validate,
              publisher: publish ? publisher : undefined,
              organisatiecode: options.organisatie,
              signal: interrupted,
              refused: (line, reasons) => {
                if (faults.length < TOLD_FAULTS) faults.push({ file: name, line, faults: reasons });
                if (options.strict)
                  throw new CommandError(`${explain({ file: name, line, faults: reasons })}\nNothing was published.`);
              },
              progress: (now) => progress.tell(before.lines + now.lines),
            });
            for (const key of ['lines', 'recorded', 'noOp', 'refused'] as const) total[key] += counts[key];
          }
          progress.end();
        };
        try {
          if (options.partial !== true) await run(false);
          if (total.refused > 0) {
            fail(`${total.refused} of ${total.lines} lines are refused; nothing was published.`);
          }
          faults.length = 0;
          await run(true);
          output.result({ ...total, faults }, () => {
            for (const fault of faults) output.progress(explain(fault));
            output.line(
              `${total.lines} lines: ${total.recorded} recorded, ${total.noOp} no-op, ${total.refused} refused.`,
            );
          });
          if (total.refused > 0) throw new CommandError(`${total.refused} lines were refused.`);
        } finally {
          await input.close();
        }

        function fail(reason: string): never {
          output.result({ ...total, faults }, () => {
            for (const fault of faults) output.progress(explain(fault));
          });
          throw new CommandError(reason);
        }
      }),
    );
}

function explain({ file, line, faults }: Fault): string {
  return `${file}:${line}: ${faults.join('; ')}`;
}
