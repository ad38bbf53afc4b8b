import { limitYoungGeneration } from '../kernel/limit-young-generation.ts';
import type { Change } from '../raadsfeed/domain/change.ts';
import { openFeedInput } from './feed-input.ts';
import type { Output } from './output.ts';
import { createProgress } from './progress.ts';
import { type CommandContext, CommandError } from './run-command.ts';

interface Fault {
  readonly file: string;
  readonly line: number;
  readonly faults: readonly string[];
}

export interface FeedLinesResult {
  readonly lines: number;
  readonly recorded: number;
  readonly noOp: number;
  readonly refused: number;
  /** The first thousand. */
  readonly faults: readonly Fault[];
}

export interface FeedLinesOptions {
  readonly strict: boolean;
  readonly partial: boolean;
  /** Says what is wrong with a valid line for this command. Lines may be looked at twice. */
  readonly accept?: ((change: Change) => string | undefined) | undefined;
  /** Called when all lines were checked and before any is published; may throw to publish nothing. */
  readonly checked?: () => Promise<void>;
}

/** Ends the checking at the first line that is refused. */
class FirstFault extends Error {
  readonly found: FeedLinesResult;
  constructor(found: FeedLinesResult) {
    super('a line is refused');
    this.found = found;
  }
}

function foundUntil(error: unknown): FeedLinesResult {
  if (error instanceof FirstFault) return error.found;
  throw error;
}

/** Faults that are told one by one; the rest is only counted. */
const TOLD_FAULTS = 1000;

/**
 * Publishes the lines of files. Unless `partial`, everything is read twice: checked first, and published only when nothing is refused.
 * @throws {CommandError} when nothing was published because of what the lines are
 */
export async function publishFeedLines(
  files: readonly string[],
  { platform, terminal, output, interrupted }: CommandContext,
  { strict, partial, accept, checked }: FeedLinesOptions,
): Promise<FeedLinesResult> {
  const { createLineValidator } = await import('../raadsfeed/writer/line-validator.ts');
  const { publishLines } = await import('../raadsfeed/writer/publish-lines.ts');
  const { createPublisher } = await import('../raadsfeed/writer/publisher.ts');
  limitYoungGeneration();
  const validate = createLineValidator();
  const publisher = createPublisher(platform);
  const input = await openFeedInput(terminal, files, { twice: !partial, signal: interrupted });

  const run = async (publish: boolean): Promise<FeedLinesResult> => {
    const total = { lines: 0, recorded: 0, noOp: 0, refused: 0 };
    const faults: Fault[] = [];
    const progress = createProgress(terminal, publish ? 'published' : 'checked', input.bytes);
    for (const { name, open } of input.files) {
      const before = total.lines;
      const counts = await publishLines(progress.counting(open()), {
        validate,
        accept,
        publisher: publish ? publisher : undefined,
        signal: interrupted,
        refused: (line, reasons, { lines, refused }) => {
          const fault = { file: name, line, faults: reasons };
          if (faults.length < TOLD_FAULTS) faults.push(fault);
          if (strict) throw new FirstFault({ lines: before + lines, recorded: 0, noOp: 0, refused, faults });
        },
        progress: (now) => progress.tell(before + now.lines),
      });
      for (const key of ['lines', 'recorded', 'noOp', 'refused'] as const) total[key] += counts[key];
    }
    progress.end();
    return { ...total, faults };
  };

  try {
    if (!partial) {
      const found = await run(false).catch(foundUntil);
      if (found.refused > 0) {
        output.result(found, () => tellFaults(output, found.faults));
        throw new CommandError(`${found.refused} of ${found.lines} lines are refused; nothing was published.`);
      }
    }
    await checked?.();
    return await run(true);
  } finally {
    await input.close();
  }
}

export function tellFaults(output: Output, faults: readonly Fault[]): void {
  for (const fault of faults) output.progress(explain(fault));
}

function explain({ file, line, faults }: Fault): string {
  return `${file}:${line}: ${faults.join('; ')}`;
}
