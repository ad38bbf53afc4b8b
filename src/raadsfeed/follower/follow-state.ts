import { readFile, rename, writeFile } from 'node:fs/promises';
import type { FollowState } from './follow-feed.ts';

/**
 * The place that was kept in a file; `undefined` when there is none.
 * @throws {Error} when the file holds something else
 */
export async function readFollowState(file: string): Promise<FollowState | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (!isFollowState(value)) throw new Error(`${file} does not hold the place of a follower`);
  return value;
}

/** Keeps a place; a crash leaves the old one or the new one, never half of one. */
export async function writeFollowState(file: string, state: FollowState): Promise<void> {
  const draft = `${file}.new`;
  await writeFile(draft, `${JSON.stringify(state)}\n`, { flush: true });
  await rename(draft, file);
}

function isFollowState(value: unknown): value is FollowState {
  if (typeof value !== 'object' || value === null) return false;
  const { service, feedUrl, snapshotUrl, query, phase, cursor, feedCursor, lastNumber }: Record<string, unknown> = {
    ...value,
  };
  return (
    [service, feedUrl, snapshotUrl, query].every((text) => typeof text === 'string') &&
    (phase === 'snapshot' || phase === 'feed') &&
    [cursor, feedCursor].every((text) => text === null || typeof text === 'string') &&
    (lastNumber === null || typeof lastNumber === 'number')
  );
}
