/** Keys and secrets that are made at random at the first start and saved, readable by their owner only. */
import { randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readIfThere } from './text-file.ts';

/** The JSON in a file; undefined when there is no such file. */
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
  const draft = await writeDraft(path, value);
  await rename(draft, path).catch((error: unknown) => withoutDraft(draft, error));
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
  const draft = await writeDraft(path, made);
  try {
    await link(draft, path);
    return made;
  } catch (error) {
    const other = await readSavedJson(path);
    if (typeof other === 'string') return other;
    throw error;
  } finally {
    await rm(draft);
  }
}

async function writeDraft(path: string, value: unknown): Promise<string> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomUUID()}`;
  // On disk before it gets its name: data encrypted with a lost key are lost too.
  await writeFile(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flag: 'wx', flush: true }).catch(
    (error: unknown) => withoutDraft(draft, error),
  );
  return draft;
}

/** A full disk must not be left with a draft of each attempt. */
async function withoutDraft(draft: string, error: unknown): Promise<never> {
  await rm(draft, { force: true });
  throw error;
}
