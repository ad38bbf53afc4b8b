/** The followers in docs/raadsfeed.md and examples/raadsfeed do what they say. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { document, type FeedServer, removal, startFeed } from './support.ts';

const hasPython = spawnSync('python3', ['--version']).status === 0;
const ROOT = join(import.meta.dirname, '../..');
const SECRET = 'Geheim-Woord-van-Jansen';

let feed: FeedServer;
let dir: string;
beforeAll(async () => {
  feed = await startFeed();
  dir = await mkdtemp(join(tmpdir(), 'koppelvlak-test-'));
});
afterAll(async () => {
  await feed.stop();
  await rm(dir, { recursive: true, force: true });
});

/** The block of Python in the document, as a file. */
async function documentedScript(): Promise<string> {
  const text = await readFile(join(ROOT, 'docs/raadsfeed.md'), 'utf8');
  const script = join(dir, 'follow.py');
  await writeFile(script, /```python\n(.*?)```/s.exec(text)?.[1] ?? '');
  return script;
}

describe.each([
  { language: 'python', program: 'python3', isThere: hasPython },
  { language: 'js', program: process.execPath, isThere: true },
])('the follower in $language', ({ language, program, isThere }) => {
  it.skipIf(!isThere)('keeps a copy that holds what the feed holds, and nothing of what was redacted', async () => {
    const copy = join(dir, `${language}.sqlite`);
    const script = language === 'js' ? join(ROOT, 'examples/raadsfeed/follow.mjs') : await documentedScript();
    const follow = async (): Promise<string[]> => {
      await promisify(execFile)(program, [script, `${feed.server.url}/ori/v1/`, copy], {
        env: { PATH: process.env.PATH },
      });
      const db = new DatabaseSync(copy);
      const rows = db.prepare("select data ->> '$.bronidentificatie' as id from copy order by number").all();
      db.close();
      return rows.map(({ id }) => String(id));
    };
    const id = (name: string): string => `${language}-${name}`;
    await feed.publish(['a', 'b', 'c'].map((name) => document(id(name), { omschrijving: SECRET })));
    const before = (await follow()).filter((found) => found.startsWith(language));
    expect(before).toEqual(['a', 'b', 'c'].map(id));
    await feed.publish([
      document(id('d')),
      removal('redact', 'Informatieobject', id('b')),
      removal('delete', 'Informatieobject', id('c'), { verwijderreden: 'correctie' }),
      removal('redact', 'Informatieobject', id('a')),
      document(id('a'), { omschrijving: 'zonder' }),
    ]);
    expect((await follow()).filter((found) => found.startsWith(language))).toEqual(['d', 'a'].map(id));
    await feed.publish([document(id('e'))]);
    expect((await follow()).at(-1)).toBe(id('e'));
    expect((await readFile(copy)).includes(SECRET)).toBe(false);
  });
});
