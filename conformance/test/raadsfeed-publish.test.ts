import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FeedServer, readRecords } from '../../test/raadsfeed/support.ts';
import { eventsOf } from '../raadsfeed/stream.ts';
import { publishByCommand } from '../raadsfeed-publish/suite.ts';
import { startExampleFeed } from './example-feed.ts';
import { callConformance } from './program.ts';
import { runPublish } from './run-publish.ts';

let feed: FeedServer;
beforeAll(async () => {
  feed = await startExampleFeed();
});
const dir = mkdtempSync(join(tmpdir(), 'koppelvlak-conformance-'));
afterAll(async () => {
  await feed?.stop();
  rmSync(dir, { recursive: true });
});

const publish = async (line: object): Promise<void> => void (await feed.publish([line]));

describe('the suite for publishing council information', () => {
  it('finds no fault in our own service, and leaves its state unchanged', async () => {
    const before = await readRecords(feed.api, '/snapshot');
    const results = await runPublish({ url: feed.mount, publish });
    const others = results.filter(({ outcome }) => outcome !== 'passed');
    expect(others.map(({ id, outcome, reason }) => `${id} ${outcome}: ${reason}`)).toEqual([]);
    expect(await readRecords(feed.api, '/snapshot')).toEqual(before);
  });

  it('treats a Unicode line separator in an event as text', () => {
    expect(eventsOf('data: "a\u2028b"\n\n')).toEqual([{ data: '"a\u2028b"' }]);
  });

  it('exits with 2 when the command always fails, and reports the reading cases', async () => {
    const words = ['raadsfeed', feed.mount, '--rate', '100', '--only', 'P-NEW-01', 'C-FEED-05', '--json'];
    const command = `sh -c 'exit 1' https://naam:geheim@raad.example eyJhbGciOi.eyJzdWIi.c2lnbmF0dXJl`;
    const ended = await callConformance([...words, '--publish', command], { PATH: process.env.PATH ?? '' });
    expect(ended.status).toBe(2);
    expect(ended.stdout + ended.stderr).not.toMatch(/geheim|c2lnbmF0dXJl/);
    expect(ended.stderr).toMatch(
      /raadsfeed-publish cannot be tested: --publish: `sh -c exit 1 .*` ended with status 1$/m,
    );
    expect(ended.stderr).toMatch(
      /publishes about a dozen resources of gm9901 whose bronidentificatie begins with conformance-/,
    );
    expect(JSON.parse(ended.stdout).cases).toMatchObject([
      { id: 'C-FEED-05', outcome: 'passed' },
      {
        id: 'P-NEW-01',
        outcome: 'inconclusive',
        reason: expect.stringMatching(/^--publish: .* status 1$/),
        again: expect.stringContaining(
          ` --publish 'sh -c '\\''exit 1'\\'' https://(masked)@raad.example (masked)' --only P-NEW-01 `,
        ),
      },
    ]);
  });

  it('exits with 2 when the command cannot be started', async () => {
    const words = ['--only', 'P-NEW-01', 'C-FEED-05', '--rate', '100', '--report', join(dir, 'verslag')];
    const ended = await callConformance(['raadsfeed', feed.mount, ...words, '--publish', '/er/niet'], {});
    expect(ended).toMatchObject({ status: 2, stdout: expect.stringContaining('2 cases') });
    expect(ended.stderr).toContain('--publish: `/er/niet` could not be run: spawn /er/niet ENOENT');
    expect(readFileSync(join(dir, 'verslag/junit.xml'), 'utf8')).toContain('tests="2"');
  });

  it('does not wait for ever for a command that never exits', async () => {
    const { signal } = new AbortController();
    const publishing = publishByCommand({ command: ['sleep', '60'], env: process.env, timeoutMs: 100, signal });
    await expect(publishing({})).rejects.toThrow('--publish: `sleep 60` could not be run: no end within 0.1 seconds');
  });
});
