import { readFile } from 'node:fs/promises';

/** One of the database's files as text. Postgres removes some on its own, such as its relation cache; a missing one counts as empty. */
export async function readIfThere(file: string): Promise<string> {
  try {
    return await readFile(file, 'latin1');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}
