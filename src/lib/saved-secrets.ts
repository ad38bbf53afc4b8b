/** Keys and secrets that are made at random at the first start and saved, readable by their owner only. */
import { randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readIfThere } from './text-file.ts';

export async function readSavedJson(path: string): Promise<unknown> {
  const text = await readIfThere(path);
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch (cause) {
    throw damaged(path, cause);
  }
}

function damaged(path: string, cause?: unknown): Error {
  const advice = 'restore it from a backup. Delete it, to have a new one made, only when nothing was written with it';
  return new Error(`${path} is damaged: ${advice}`, { cause });
}

/** Writes a file that only its owner may read, in one step: a crash leaves the old one or the new one. */
export async function saveJson(path: string, value: unknown): Promise<void> {
  await withDraft(path, value, (draft) => rename(draft, path));
}

/** 32 random bytes as text, saved under this name. Processes that start at the same time get the same. */
export async function loadSecret(
  directory: string,
  name: string,
  encoding: 'base64' | 'base64url' = 'base64',
): Promise<string> {
  const path = join(directory, `${name}.json`);
  const saved = await readSavedJson(path);
  if (typeof saved === 'string') return saved;
  if (saved !== undefined) throw damaged(path);
  const made = randomBytes(32).toString(encoding);
  return await withDraft(path, made, async (draft) => {
    try {
      await link(draft, path);
      return made;
    } catch (error) {
      const other = await readSavedJson(path);
      if (typeof other === 'string') return other;
      throw error;
    }
  });
}

/** Writes a file beside this one, which `use` gives the name; none is left, so that a full disk has no draft of each attempt. */
async function withDraft<T>(path: string, value: unknown, use: (draft: string) => Promise<T>): Promise<T> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomUUID()}`;
  try {
    // On disk before it gets its name: data encrypted with a lost key are lost too.
    await writeFile(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flag: 'wx', flush: true });
    return await use(draft);
  } finally {
    await rm(draft, { force: true });
  }
}
