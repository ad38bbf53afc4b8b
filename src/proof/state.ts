/** The last published checkpoint of each origin, in a file of this instance outside the database: a restored backup does not revert it. */
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isRecord } from '../lib/json/json-value.ts';
import { saveJson } from '../lib/saved-secrets.ts';
import { createOneAtATime } from '../lib/scheduling.ts';
import { readIfThere } from '../lib/text-file.ts';
import type { Config } from '../settings/read-config.ts';
import { checkpointIn } from './tlog/note.ts';

export type PublishedCheckpoints = Awaited<ReturnType<typeof openPublishedCheckpoints>>;

/** The database, or a file beside it, does not continue the published tree. */
export class ConflictError extends Error {
  override readonly name = 'ConflictError';
}

export function statePath({ proof, server }: Pick<Config, 'proof' | 'server'>): string {
  return proof.state ?? join(server.home, 'proof-state.json');
}

/** @throws {Error} when the file exists and cannot be read */
export async function openPublishedCheckpoints(path: string) {
  const notes = await read(path);
  const writes = createOneAtATime();
  return {
    get: (origin: string): string | undefined => notes.get(origin),
    put: (origin: string, note: string): Promise<void> =>
      writes.run(path, async () => {
        const known = notes.get(origin);
        if (known === note || (known !== undefined && checkpointIn(known).size > checkpointIn(note).size)) return;
        await writeDurably(path, new Map([...notes, [origin, note]]));
        notes.set(origin, note);
      }),
  };
}

async function read(path: string): Promise<Map<string, string>> {
  const text = await readIfThere(path);
  if (text === undefined) return new Map();
  const json: unknown = JSON.parse(text);
  return new Map(
    Object.entries(isRecord(json) ? json : { json }).map(([origin, note]) => {
      if (typeof note !== 'string' || checkpointIn(note).origin !== origin)
        throw new Error('the file of PROOF_STATE holds something other than checkpoints');
      return [origin, note];
    }),
  );
}

/** Writes a JSON file in one step, on disk before it resolves: a crash leaves the old file or the new one. */
export async function writeDurably(path: string, json: ReadonlyMap<string, unknown>): Promise<void> {
  await saveJson(path, Object.fromEntries(json));
  await using directory = await open(dirname(path));
  await directory.sync();
}
