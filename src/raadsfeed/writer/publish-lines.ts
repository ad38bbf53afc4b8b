import { setImmediate as nextTick } from 'node:timers/promises';
import { type Change, prepareChange } from '../domain/change.ts';
import type { LineValidator } from './line-validator.ts';
import { BATCH_CHANGES, BATCH_CHARACTERS, type Publisher } from './publisher.ts';

/** How many lines had which result. */
interface LineCounts {
  lines: number;
  recorded: number;
  noOp: number;
  refused: number;
}

/** Lines that are checked before the event loop may go on: the statements of the batch before should not wait for them. */
const LINES_PER_TICK = 16;

interface PublishLinesOptions {
  readonly validate: LineValidator;
  /** Absent: lines are only checked. */
  readonly publisher?: Publisher | undefined;
  /** Says what is wrong with a valid line for the present purpose; `undefined`: nothing. */
  readonly accept?: ((change: Change) => string | undefined) | undefined;
  /** Called for every line that is refused; may throw to stop. */
  readonly refused: (line: number, faults: readonly string[], counts: Readonly<LineCounts>) => void;
  readonly progress: (counts: Readonly<LineCounts>) => void;
  /** Fires to stop between two batches. */
  readonly signal: AbortSignal;
}

/**
 * Reads NDJSON and publishes it in batches; a line that is refused is passed over. Memory is bounded by the size of a batch. On return
 * everything was published.
 * @throws what `refused` throws, the signal's reason, or a failure of the source or the database
 */
export async function publishLines(
  source: AsyncIterable<Uint8Array>,
  options: PublishLinesOptions,
): Promise<LineCounts> {
  const { validate, publisher, accept, refused, progress, signal } = options;
  const counts: LineCounts = { lines: 0, recorded: 0, noOp: 0, refused: 0 };
  let batch: Change[] = [];
  let characters = 0;
  // While the database takes one batch the next is prepared: at most two are in memory.
  let underWay: Promise<void> = Promise.resolve();
  const publish = async (changes: readonly Change[]): Promise<void> => {
    const outcomes = (await publisher?.publish(changes)) ?? [];
    const noOp = outcomes.filter((outcome) => outcome === 'no-op').length;
    counts.noOp += noOp;
    counts.recorded += outcomes.length - noOp;
    progress(counts);
  };
  const flush = async (): Promise<void> => {
    await underWay;
    signal.throwIfAborted();
    if (batch.length > 0) underWay = publish(batch);
    // Waited for at the next flush; a failure before that is not an unhandled one.
    underWay.catch(() => undefined);
    batch = [];
    characters = 0;
  };
  for await (const lines of readLines(source)) {
    for (const line of lines) {
      counts.lines += 1;
      const checked = 'fault' in line ? { faults: [line.fault] } : check(line.text, validate, accept);
      if ('faults' in checked) {
        counts.refused += 1;
        refused(line.number, checked.faults, counts);
      } else if (publisher !== undefined) {
        batch.push(checked.change());
        characters += 'text' in line ? line.text.length : 0;
      }
      if (batch.length >= BATCH_CHANGES || characters >= BATCH_CHARACTERS) await flush();
      else if (publisher !== undefined && counts.lines % LINES_PER_TICK === 0) await nextTick();
    }
    signal.throwIfAborted();
    if (publisher === undefined) progress(counts);
  }
  await flush();
  await underWay;
  return counts;
}

function check(
  text: string,
  validate: LineValidator,
  accept: PublishLinesOptions['accept'],
): { change: () => Change } | { faults: readonly string[] } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { faults: ['is not JSON'] };
  }
  const checked = validate(value, text);
  if ('faults' in checked) return checked;
  const { line } = checked;
  if (accept === undefined) return { change: () => prepareChange(line) };
  const change = prepareChange(line);
  const fault = accept(change);
  return fault === undefined ? { change: () => change } : { faults: [fault] };
}

/** Longest line that is read, in bytes. */
const MAX_LINE_BYTES = 4 * 1024 * 1024;

const NEWLINE = 0x0a;
const BOM = '\uFEFF';

/** One line of an NDJSON file; `text` is absent when it cannot be read, and `fault` says why. */
type Line = { readonly number: number } & ({ readonly text: string } | { readonly fault: string });

/** The lines that have something on them, each decoded strictly. Holds no more than one chunk and one line. */
async function* readLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<Line[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let number = 0;
  let begun: Uint8Array[] = [];
  let begunBytes = 0;
  const finish = (last: Uint8Array): Line | undefined => {
    number += 1;
    const bytes = begun.length === 0 ? last : Buffer.concat([...begun, last]);
    const tooLong = begunBytes + last.length > MAX_LINE_BYTES;
    begun = [];
    begunBytes = 0;
    if (tooLong) return { number, fault: `is longer than ${MAX_LINE_BYTES} bytes` };
    try {
      const decoded = decoder.decode(bytes);
      const text = number === 1 && decoded.startsWith(BOM) ? decoded.slice(1) : decoded;
      return text.trim() === '' ? undefined : { number, text };
    } catch {
      return { number, fault: 'is not UTF-8' };
    }
  };
  for await (const chunk of source) {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const line = finish(chunk.subarray(start, end));
      if (line !== undefined) lines.push(line);
      start = end + 1;
    }
    const left = chunk.subarray(start);
    begunBytes += left.length;
    // Of a line that is too long only its length is kept.
    if (begunBytes <= MAX_LINE_BYTES) begun.push(Buffer.from(left));
    else begun = [];
    if (lines.length > 0) yield lines;
  }
  const line = begunBytes === 0 ? undefined : finish(new Uint8Array());
  if (line !== undefined) yield [line];
}
