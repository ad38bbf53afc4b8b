import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { pipeline } from 'node:stream/promises';
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
 * Finds the files. What is read twice (checked, then published) must be a file: standard input is then kept in one until `close`.
 * @throws {CommandError} when a file cannot be read
 */
export async function openFeedInput(
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
      if (given === '-' && !twice) {
        files.push({ name, open: () => process.stdin });
        bytes = undefined;
        continue;
      }
      let path = given;
      if (given === '-') {
        dir = await mkdtemp(join(tmpdir(), 'koppelvlak-feed-'));
        path = join(dir, 'lines.ndjson');
        await pipeline(process.stdin, createWriteStream(path, { mode: 0o600 }), { signal });
      }
      files.push({ name, open: () => createReadStream(path, { highWaterMark: CHUNK_BYTES }) });
      const size = await sizeOf(path);
      if (bytes !== undefined) bytes += size;
    }
    return { files, bytes, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) throw new CommandError(`${path} is a directory`);
    return found.size;
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
