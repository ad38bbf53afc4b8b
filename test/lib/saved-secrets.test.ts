import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSecret, saveJson } from '../../src/lib/saved-secrets.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'koppelvlak-secrets-'));
});
afterEach(() => rm(directory, { recursive: true }));

describe('a saved secret', () => {
  it('is the same for processes that start together, and later', async () => {
    const [one, other] = await Promise.all([loadSecret(directory, 'key'), loadSecret(directory, 'key')]);
    expect(Buffer.from(one, 'base64')).toHaveLength(32);
    expect([other, await loadSecret(directory, 'key')]).toEqual([one, one]);
  });

  it.each(['', '"half', '{}', 'null', '7'])(
    'in a damaged file (%j) is never replaced, and the message recommends a backup',
    async (text) => {
      const path = join(directory, 'key.json');
      await writeFile(path, text);
      await expect(loadSecret(directory, 'key')).rejects.toThrow(`${path} is damaged: restore it from a backup`);
      expect(await readFile(path, 'utf8')).toBe(text);
    },
  );
});

it('leaves nothing of an attempt to save that failed', async () => {
  const path = join(directory, 'state.json');
  await mkdir(path);
  await expect(saveJson(path, {})).rejects.toMatchObject({ code: 'EISDIR' });
  await expect(saveJson(path, 1n)).rejects.toThrow(TypeError);
  expect(await readdir(directory)).toEqual(['state.json']);
});
