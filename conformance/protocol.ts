/**
 * Drives a program under test with JSON lines: the suite writes one object per line to its standard input, and the
 * program answers each with one object per line on its standard output, in the same order. Its standard error is kept
 * and shown when it fails.
 */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { isRecord, type JsonObject } from '../src/lib/json/json-value.ts';
import { parseUntrusted, unwritable } from '../src/lib/json/parse-untrusted.ts';
import { reasonOf } from '../src/lib/log.ts';
import { type ProgramOptions, startChild } from './child-program.ts';

/** The program violated the protocol and has been stopped. */
export class ProtocolError extends Error {}

export interface DrivenProgram {
  /**
   * Sends one object and waits for its answer; requests are answered in order.
   * @throws {ProtocolError} and from then on always, because a late answer would be taken for the next one
   */
  ask(message: JsonObject): Promise<JsonObject>;
  /** Closes its standard input, and kills it if it does not exit on its own. */
  close(): Promise<void>;
}

/** Maximum bytes per line, in both directions. */
const MAX_LINE = 1024 * 1024;
/** Milliseconds for a program to exit on its own. */
const GRACE_MS = 2000;

/**
 * The words of a command. Quotes of either kind and backslashes keep spaces together; nothing else is special, because
 * no shell is started.
 * @throws {TypeError} for an unclosed quote or no words
 */
export function wordsOf(command: string): readonly string[] {
  const words = [...command.matchAll(/(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+/gs)].map(([word]) => word);
  const rest = words.reduce((text, word) => text.replace(word, () => ''), command);
  if (words.length === 0 || rest.trim() !== '')
    throw new TypeError('the command is empty, or has a quote that is not closed');
  return words.map((word) =>
    word.replaceAll(
      /\\(.)|"((?:[^"\\]|\\.)*)"|'([^']*)'/gs,
      (_, one?: string, double?: string, single?: string) =>
        one ?? double?.replaceAll(/\\(["\\])/g, '$1') ?? single ?? '',
    ),
  );
}

/** Starts the program; the first answer reports a failed start. */
export function startProgram({ command, env, timeoutMs, signal }: ProgramOptions): DrivenProgram {
  const { process: child, errors, kill } = startChild({ command, env });
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => undefined);
  child.on('error', (cause) =>
    failure.reject(new ProtocolError(`${command[0]} cannot be started: ${reasonOf(cause)}`, { cause })),
  );
  child.on('close', (status, by) => {
    const said = errors() === '' ? '' : `; it wrote: ${errors()}`;
    failure.reject(new ProtocolError(`the program ended (${by ?? `status ${status}`}) without an answer${said}`));
  });
  const lines = linesOf(child);
  let before: Promise<unknown> = Promise.resolve();

  const answerTo = async (message: JsonObject): Promise<JsonObject> => {
    signal.throwIfAborted();
    const line = JSON.stringify(message);
    if (Buffer.byteLength(line) > MAX_LINE) throw new ProtocolError(`a request is larger than ${MAX_LINE} bytes`);
    child.stdin.write(`${line}\n`);
    const over = new AbortController();
    const late = wait(timeoutMs, undefined, { signal: AbortSignal.any([over.signal, signal]) }).then(() => {
      throw new ProtocolError(`no answer within ${timeoutMs / 1000} seconds`);
    });
    try {
      const { value } = await Promise.race([lines.next(), late, failure.promise]);
      // Its output closes before its exit status is known.
      if (value === undefined) return await Promise.race([failure.promise, late]);
      return parseAnswer(value);
    } catch (error) {
      failure.reject(error);
      kill();
      signal.throwIfAborted();
      throw error;
    } finally {
      over.abort();
      late.catch(() => undefined);
    }
  };

  return {
    ask(message) {
      const answer = before.then(() => Promise.race([failure.promise, answerTo(message)]));
      before = answer.catch(() => undefined);
      return answer;
    },
    async close() {
      child.stdin.end();
      await Promise.race([hasEnded(child), wait(GRACE_MS, undefined, { ref: false })]);
      kill();
      await hasEnded(child);
    },
  };
}

/** A program that is started on the first request, and again after it failed. */
export function restartedProgram(options: ProgramOptions): DrivenProgram {
  let program: DrivenProgram | undefined;
  return {
    async ask(message) {
      program ??= startProgram(options);
      try {
        return await program.ask(message);
      } catch (error) {
        await program.close();
        program = undefined;
        throw error;
      }
    },
    close: async () => program?.close(),
  };
}

/** Waits for the program itself only; its descendants may keep its output open. */
async function hasEnded(child: ChildProcessWithoutNullStreams): Promise<void> {
  // A program that was not started has no id.
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  await once(child, 'exit');
}

function parseAnswer(value: string): JsonObject {
  let answer: unknown;
  try {
    answer = parseUntrusted(value, { bytes: MAX_LINE });
  } catch (cause) {
    throw new ProtocolError(`the program wrote a line that is not JSON: ${value.slice(0, 200)}`, { cause });
  }
  if (!isRecord(answer) || unwritable(answer) !== undefined)
    throw new ProtocolError(
      `the program wrote a line that is not an object, or is nested too deeply: ${value.slice(0, 200)}`,
    );
  return answer;
}

/** Lines of its standard output, without empty ones. */
async function* linesOf(child: ChildProcessWithoutNullStreams): AsyncGenerator<string, void> {
  let pieces: Buffer[] = [];
  let size = 0;
  for await (const chunk of child.stdout) {
    let rest = Buffer.from(chunk);
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      const line = Buffer.concat([...pieces, rest.subarray(0, end)])
        .toString()
        .trim();
      [pieces, size, rest] = [[], 0, rest.subarray(end + 1)];
      if (line !== '') yield line;
    }
    pieces.push(rest);
    size += rest.length;
    if (size > MAX_LINE) throw new ProtocolError(`the program wrote a line of more than ${MAX_LINE} bytes`);
  }
}
