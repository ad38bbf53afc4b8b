import { isUtf8 } from 'node:buffer';
import type { Resource } from '../../lib/feed/resource.ts';
import { parseUntrusted, UntrustedJsonError } from '../../lib/json/parse-untrusted.ts';
import { type Change, type PubliceerRegel, prepareChange, resourceOf } from '../domain/change.ts';
import type { CheckedLine, LineValidator } from './line-validator.ts';
import { BATCH_CHANGES, BATCH_CHARACTERS, type Publisher } from './publisher.ts';

interface LineCounts {
  lines: number;
  recorded: number;
  noOp: number;
  refused: number;
}

interface PublishLinesOptions {
  readonly validate: LineValidator;
  /** Absent: lines are only checked. */
  readonly publisher?: Publisher | undefined;
  /** Returns the fault of a valid line that the command does not accept. */
  readonly accept: (line: PubliceerRegel, resource: Resource) => string | undefined;
  readonly refused: (line: number, faults: readonly string[]) => void;
  readonly strict: boolean;
  readonly progress: (lines: number) => void;
  readonly signal: AbortSignal;
}

/**
 * Reads NDJSON and publishes it in batches; refused lines are skipped. Memory is bounded by the size of a batch. On return everything was published.
 * @throws the signal's reason, or a failure of the source or the database
 */
export async function publishLines(
  source: AsyncIterable<Uint8Array>,
  counts: LineCounts,
  { validate, publisher, accept, refused, strict, progress, signal }: PublishLinesOptions,
): Promise<void> {
  let batch: Change[] = [];
  let characters = 0;
  // While the database takes one batch the next is prepared: at most two are in memory.
  let underWay: Promise<void> = Promise.resolve();
  const publish = async (changes: readonly Change[]): Promise<void> => {
    const outcomes = (await publisher?.publish(changes)) ?? [];
    const noOp = outcomes.filter((outcome) => outcome === 'no-op').length;
    counts.noOp += noOp;
    counts.recorded += outcomes.length - noOp;
  };
  const flush = async (): Promise<void> => {
    await underWay;
    signal.throwIfAborted();
    progress(counts.lines);
    if (batch.length > 0) underWay = publish(batch);
    // Awaited by the next flush; a failure before that is not an unhandled one.
    underWay.catch(() => undefined);
    batch = [];
    characters = 0;
  };
  let number = 0;
  for await (const lines of readLines(source)) {
    for (const text of lines) {
      number += 1;
      const line = number === 1 ? text?.replace(/^\ufeff/, '') : text;
      if (line?.trim() === '') continue;
      counts.lines += 1;
      const checked = line === undefined ? { faults: ['is not UTF-8'] } : check(line, validate, accept);
      if ('faults' in checked) {
        counts.refused += 1;
        refused(number, checked.faults);
        if (strict) return;
      } else if (publisher !== undefined) {
        batch.push(prepareChange(checked.line));
        characters += line?.length ?? 0;
      }
      if (batch.length >= BATCH_CHANGES || characters >= BATCH_CHARACTERS) await flush();
    }
    signal.throwIfAborted();
  }
  await flush();
  await underWay;
}

function check(text: string, validate: LineValidator, accept: PublishLinesOptions['accept']): CheckedLine {
  try {
    const checked = validate(parseUntrusted(text, { bytes: MAX_LINE }), text);
    if ('faults' in checked) return checked;
    const fault = accept(checked.line, resourceOf(checked.line));
    return fault === undefined ? checked : { faults: [fault] };
  } catch (error) {
    if (error instanceof UntrustedJsonError) return { faults: [error.message] };
    throw error;
  }
}

const MAX_LINE = 4 * 1024 * 1024;
const NEWLINE = 0x0a;

/** The lines of each chunk that they end in; `undefined` for one that is not UTF-8. @throws {RangeError} when one is too long */
async function* readLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<readonly (string | undefined)[]> {
  let rest: Buffer = Buffer.alloc(0);
  let number = 0;
  for await (const chunk of source) {
    const bytes = Buffer.concat([rest, chunk]);
    const end = bytes.lastIndexOf(NEWLINE);
    if (end !== -1) {
      const lines = decodeLines(bytes.subarray(0, end));
      number += lines.length;
      yield lines;
    }
    rest = bytes.subarray(end + 1);
    if (rest.length > MAX_LINE) throw new RangeError(`line ${number + 1} is longer than ${MAX_LINE} bytes`);
  }
  yield decodeLines(rest);
}

function decodeLines(bytes: Buffer): readonly (string | undefined)[] {
  if (isUtf8(bytes)) return bytes.toString().split('\n');
  // Split as Latin-1, which keeps every byte, to find the line that is not UTF-8.
  return bytes
    .toString('latin1')
    .split('\n')
    .map((text) => {
      const line = Buffer.from(text, 'latin1');
      return isUtf8(line) ? line.toString() : undefined;
    });
}
