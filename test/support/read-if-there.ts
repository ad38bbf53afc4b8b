import { readFile } from 'node:fs/promises';

/** A file of the database's as text. Postgres removes some of its own accord, such as its relation cache; one that is gone is empty. */
export async function readIfThere(file: string): Promise<string> {
  try {
    return await readFile(file, 'latin1');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}
