/** Text files from others. Bytes that are not UTF-8 are refused: they would silently become U+FFFD. */
import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

export class EncodingError extends Error {
  constructor(name: string, line: number) {
    super(`${name} is not UTF-8 in line ${line}; is it Windows-1252? save it as UTF-8`);
    this.name = 'EncodingError';
  }
}

const LINE_FEED = 0x0a;

/** @returns the text without a byte order mark @param name of the file, for the message @throws {EncodingError} */
export function decodeUtf8(bytes: Buffer, name: string): string {
  if (isUtf8(bytes)) return new TextDecoder().decode(bytes);
  let line = 1;
  let from = 0;
  for (;;) {
    const end = bytes.indexOf(LINE_FEED, from);
    if (end === -1 || !isUtf8(bytes.subarray(from, end))) throw new EncodingError(name, line);
    line += 1;
    from = end + 1;
  }
}

export async function readTextFile(path: string): Promise<string> {
  return decodeUtf8(await readFile(path), path);
}

export function readTextFileSync(path: string): string {
  return decodeUtf8(readFileSync(path), path);
}

export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
