import { Command, InvalidArgumentError, Option } from 'commander';
import { runTool, type ToolContext } from '../../../commands/run-command.ts';
import { UsageError } from '../../../lib/command-error.ts';
import type { Variant } from '../../../lib/exchange-model/mapping.ts';
import { written } from '../../../lib/output.ts';
import type { Terminal } from '../../../lib/terminal.ts';
import type { Period } from '../../model/selection.ts';
import { chooseModel, parsePeriod, wholeNumber } from './options.ts';

interface GenerateOptions {
  readonly variant: Variant;
  readonly model?: string;
  readonly records: number;
  readonly seed: string;
  readonly period: Period;
  readonly break?: string;
  readonly out?: string;
}

const EXAMPLE = `
Persons and organisations that do not exist: their numbers and codes are outside what is given out. The same options always make the same
file. It keeps every rule of \`gegevens check\`; with --break it breaks one, and only that one: the number of a rule, or \`model-date\`,
\`model-items\`, \`model-member\`, \`model-required\`, \`model-type\` or \`model-value\`.

Examples:
  $ koppelvlak gegevens generate --variant shv --records 1000 --seed 1 --out proef.json
  $ koppelvlak gegevens generate --variant vs --records 20 --seed 1 --break 13 | koppelvlak gegevens check --variant vs /dev/stdin`;
const MOST_RECORDS = 10_000_000;
const DEFAULT_PERIOD: Period = { start: '2026-01-01', end: '2026-03-31' };

export function generateCommand(terminal: Terminal): Command {
  return new Command('generate')
    .description('make a synthetic delivery to try things with')
    .addOption(new Option('--variant <variant>', 'exchange model').choices(['shv', 'vs']).makeOptionMandatory())
    .option('--model <version>', 'a built-in version of the model')
    .addOption(
      new Option('--records <number>', 'trajectories or signals')
        .argParser(wholeNumber(0, MOST_RECORDS))
        .makeOptionMandatory(),
    )
    .addOption(new Option('--seed <text>', 'another seed makes another delivery').argParser(shortText).default('1'))
    .addOption(
      new Option('--period <dates>', 'reporting period')
        .argParser(parsePeriod)
        .default(DEFAULT_PERIOD, '2026-01-01/2026-03-31'),
    )
    .option('--break <rule>', 'break this rule, and no other')
    .option('--out <file>', 'write to a file instead of standard output')
    .addHelpText('after', EXAMPLE)
    .action((options: GenerateOptions) => runTool(terminal, {}, (context) => generate(context, options)));
}

function shortText(text: string): string {
  if (text.length > 100) throw new InvalidArgumentError('At most 100 characters.');
  return text;
}

async function generate({ config, terminal, interrupted }: ToolContext, options: GenerateOptions): Promise<void> {
  const { variant, records, seed, period, out, break: rule } = options;
  const { builtInVersions } = await import('../../../lib/exchange-model/model.ts');
  const model = await chooseModel(config.gegevens, variant, options.model);
  const { versie } = model.mapping;
  if (!builtInVersions(variant).includes(versie))
    throw new UsageError(`--model ${versie} is not a version that is built in`);
  const { breaksOf, LEAST_TO_BREAK } = await import('../../../lib/exchange-model/synthetic/breaks.ts');
  const breaks = breaksOf(variant, versie);
  const breaking = rule === undefined ? undefined : breaks[rule];
  if (rule !== undefined && breaking === undefined) {
    const possible = Object.keys(breaks).join(', ');
    throw new UsageError(`--break ${rule} is not possible for ${variant} ${versie}: choose ${possible}`);
  }
  if (breaking !== undefined && records < LEAST_TO_BREAK)
    throw new UsageError(`--break needs ${LEAST_TO_BREAK} records or more`);
  const { syntheticText } = await import('../../../lib/exchange-model/synthetic/delivery.ts');
  const { inPieces, writeWhole } = await import('../delivery-files.ts');
  const pieces = inPieces(syntheticText({ model, records, seed, period, breaking }));
  if (out !== undefined) return await writeWhole(out, pieces, interrupted);
  for (const piece of pieces) {
    interrupted.throwIfAborted();
    await written(terminal.stdout, piece, interrupted);
  }
}
