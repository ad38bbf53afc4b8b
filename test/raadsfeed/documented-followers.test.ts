/** The followers in docs/raadsfeed.md and examples/raadsfeed work as described. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pruneHistory } from '../../src/raadsfeed/store/prune.ts';
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

/** The document's Python block, as a file. */
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
  const id = (name: string): string => `${language}-${name}`;
  /**
   * Runs it once.
   * @returns its copy, in the order of the feed
   */
  const follow = async (copy: string): Promise<string[]> => {
    const script = language === 'js' ? join(ROOT, 'examples/raadsfeed/follow.mjs') : await documentedScript();
    await promisify(execFile)(program, [script, `${feed.server.url}/ori/v1/`, copy], {
      env: { PATH: process.env.PATH },
    });
    const db = new DatabaseSync(copy);
    const rows = db.prepare("select data ->> '$.bronidentificatie' as id from copy order by number").all();
    db.close();
    return rows.map((row) => String(row.id));
  };

  it.skipIf(!isThere)('keeps a copy equal to the feed, without redacted content', async () => {
    const copy = join(dir, `${language}.sqlite`);
    await feed.publish(['a', 'b', 'c'].map((name) => document(id(name), { omschrijving: SECRET })));
    const before = (await follow(copy)).filter((found) => found.startsWith(language));
    expect(before).toEqual(['a', 'b', 'c'].map(id));
    await feed.publish([
      document(id('d')),
      removal('redact', 'Informatieobject', id('b')),
      removal('delete', 'Informatieobject', id('c'), { verwijderreden: 'correctie' }),
      removal('redact', 'Informatieobject', id('a')),
      document(id('a'), { omschrijving: 'zonder' }),
    ]);
    expect((await follow(copy)).filter((found) => found.startsWith(language))).toEqual(['d', 'a'].map(id));
    await feed.publish([document(id('e'))]);
    expect((await follow(copy)).at(-1)).toBe(id('e'));
    expect((await readFile(copy)).includes(SECRET)).toBe(false);
  });

  it.skipIf(!isThere)(
    'reads a new snapshot when its position was pruned, and removes resources missing from it',
    async () => {
      const copy = join(dir, `${language}-pruned.sqlite`);
      await feed.publish(['kept', 'gone', 'secret'].map((name) => document(id(name), { omschrijving: SECRET })));
      expect((await follow(copy)).slice(-3)).toEqual(['kept', 'gone', 'secret'].map(id));
      await feed.publish([
        removal('delete', 'Informatieobject', id('gone'), { verwijderreden: 'correctie' }),
        removal('redact', 'Informatieobject', id('secret')),
        removal('redact', 'Informatieobject', id('kept')),
        document(id('kept'), { omschrijving: 'zonder' }),
      ]);
      await setTimeout(20);
      const { upTo } = await pruneHistory(feed.pool, {
        before: new Date(),
        graceMs: 0,
        signal: new AbortController().signal,
        progress: () => undefined,
      });
      await feed.publish([document(id('new'))]);
      expect(upTo).toBeGreaterThan(3);
      const snapshot = (await follow(copy)).filter((found) => found.startsWith(language));
      expect(snapshot.slice(-2)).toEqual(['kept', 'new'].map(id));
      expect(snapshot).not.toContain(id('gone'));
      expect(snapshot).not.toContain(id('secret'));
      expect((await readFile(copy)).includes(SECRET)).toBe(false);
      // From there on it follows the feed again.
      await feed.publish([removal('delete', 'Informatieobject', id('new'), { verwijderreden: 'correctie' })]);
      expect((await follow(copy)).at(-1)).toBe(id('kept'));
    },
  );
});
