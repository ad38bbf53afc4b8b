import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Terminal } from '../kernel/terminal.ts';
import { CommandError } from './run-command.ts';

export interface InputFile {
  readonly name: string;
  readonly open: () => AsyncIterable<Uint8Array>;
}

/** Files to read, standard input among them. */
export interface FeedInput {
  readonly files: readonly InputFile[];
  /** Together; `undefined` when standard input is read as it comes. */
  readonly bytes: number | undefined;
  readonly close: () => Promise<void>;
}

const CHUNK_BYTES = 64 * 1024;

/**
 * Finds the files. What is read twice (checked, then published) must be a file that stays: standard input, or a pipe with a name, is then kept
 * in one until `close`.
 * @throws {CommandError} when a file cannot be read
 */
export async function openFeedInput(
  { stdin }: Pick<Terminal, 'stdin'>,
  names: readonly string[],
  { twice, signal }: { twice: boolean; signal: AbortSignal },
): Promise<FeedInput> {
  const asked = names.length === 0 ? ['-'] : names;
  if (asked.filter((name) => name === '-').length > 1) throw new CommandError('standard input can be read only once');
  let dir: string | undefined;
  const close = async (): Promise<void> => {
    if (dir !== undefined) await rm(dir, { recursive: true, force: true });
  };
  try {
    const files: InputFile[] = [];
    let bytes: number | undefined = 0;
    for (const given of asked) {
      const name = given === '-' ? 'standard input' : given;
      const source = (path: string): Readable =>
        path === '-' ? stdin : createReadStream(path, { highWaterMark: CHUNK_BYTES });
      const stays = given !== '-' && (await isFile(given));
      let path = given;
      if (twice && !stays) {
        dir ??= await mkdtemp(join(tmpdir(), 'koppelvlak-feed-'));
        path = join(dir, `${files.length}.ndjson`);
        await pipeline(source(given), createWriteStream(path, { mode: 0o600 }), { signal });
      }
      files.push({ name, open: () => endedBy(signal, source(path)) });
      if (!twice && !stays) bytes = undefined;
      else if (bytes !== undefined) bytes += (await stat(path)).size;
    }
    return { files, bytes, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Nothing may come for a long time: whoever interrupts the command does not wait for that. */
function endedBy(signal: AbortSignal, source: Readable): Readable {
  const end = (): void => {
    source.destroy(signal.reason instanceof Error ? signal.reason : undefined);
  };
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  return source;
}

/** Whether it can be read again: a pipe cannot. */
async function isFile(path: string): Promise<boolean> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) throw new CommandError(`${path} is a directory`);
    return found.isFile();
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
