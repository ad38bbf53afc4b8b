import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addStandardFormats } from '../../src/lib/json/formats.ts';
import type { FeedServer } from '../../test/raadsfeed/support.ts';
import { RAADSFEED } from '../raadsfeed/suite.ts';
import { buildExamples } from './build-examples.ts';
import { startExampleFeed } from './example-feed.ts';
import { callConformance } from './program.ts';
import { type BreakingProxy, startProxy } from './proxy.ts';
import { NOT_OFFERED, runRaadsfeed, WAITING } from './run-raadsfeed.ts';

const CASES = RAADSFEED.chapters.flatMap(({ cases }) => cases);
/** A few cases, so that the program runs briefly. */
const FEW = ['--only', 'C-FEED-05', 'C-FEED-15', 'C-FEED-21', '--rate', '100'];

let feed: FeedServer;
let proxy: BreakingProxy;
let dir: string;
beforeAll(async () => {
  feed = await startExampleFeed();
  proxy = await startProxy(feed.mount);
  dir = await mkdtemp(join(tmpdir(), 'koppelvlak-conformance-'));
});
afterAll(async () => {
  await proxy?.stop();
  await feed?.stop();
  await rm(dir, { recursive: true, force: true });
});

function conformance(...words: readonly string[]) {
  return callConformance([...words], {}, { cwd: dir });
}

describe('the suite for a publisher of council information', () => {
  it('finds no fault in our own service, and changes nothing in it', async () => {
    const before = await fetch(`${feed.mount}/feed?limit=1000`).then((answer) => answer.text());
    const results = await runRaadsfeed(feed.mount, (id) => !WAITING.includes(id));
    expect(results.length).toBe(CASES.length - WAITING.length);
    const others = results.filter(({ outcome, id }) => outcome !== 'passed' && !NOT_OFFERED.includes(id));
    expect(others.map(({ id, outcome, reason }) => `${id} ${outcome}: ${reason}`)).toEqual([]);
    expect(await fetch(`${feed.mount}/feed?limit=1000`).then((answer) => answer.text())).toBe(before);
  });
});

describe('koppelvlak-conformance raadsfeed', () => {
  it('exits with 0 when no must case failed, and writes its report in three forms', async () => {
    proxy.mutate({});
    const ended = await conformance('raadsfeed', proxy.url, ...FEW, '--report', 'verslag');
    expect(ended.stderr).toContain('passed       C-FEED-05');
    expect(ended.status).toBe(0);
    expect(ended.stdout).toContain('No must case failed.');
    const report = JSON.parse(await readFile(join(dir, 'verslag/report.json'), 'utf8'));
    const schema = JSON.parse(
      await readFile(join(import.meta.dirname, '../../openapi/conformance-report.json'), 'utf8'),
    );
    const ajv = new Ajv2020();
    addStandardFormats(ajv);
    const isReport = ajv.compile(schema);
    expect(isReport(report), JSON.stringify(isReport.errors)).toBe(true);
    expect(report.counts).toEqual({ failed: 0, inconclusive: 0, 'not-judged': 0, skipped: 0, passed: 3 });
    expect(await readFile(join(dir, 'verslag/junit.xml'), 'utf8')).toContain(
      '<testsuites tests="3" failures="0" errors="0" skipped="0">',
    );
    expect(await readFile(join(dir, 'verslag/report.html'), 'utf8')).toContain('Nothing failed.');
    const badge = await conformance('badge', 'verslag/report.json');
    expect(badge.stdout).toContain('aria-label="raadsfeed: 2/2 must"');
  });

  it('exits with 1 when a must case failed, with the reason, the violated sentence and a command to reproduce it', async () => {
    proxy.mutate({ answer: ({ json }) => void (json !== undefined && Object.assign(json, { total: 3 })) });
    const ended = await conformance(
      'raadsfeed',
      proxy.url,
      ...FEW,
      '--report',
      'fout',
      '--baseline',
      'verslag/report.json',
    );
    expect(ended.status).toBe(1);
    expect(ended.stdout).toContain('FAILED C-FEED-15 (must): A page has no total\n  the page has `total`');
    expect(ended.stdout).toContain('Feed rules 7: “Total counts per page are not returned”');
    expect(ended.stdout).toMatch(
      /curl -i -H 'accept: application\/json' .*'http:\/\/127\.0\.0\.1:\d+\/ori\/v1\/feed\?limit=250'/,
    );
    expect(ended.stdout).toMatch(/C-FEED-15 +passed +failed/);
    expect(await readFile(join(dir, 'fout/junit.xml'), 'utf8')).toContain('<failure message="the page has `total`">');
    const compared = await conformance('compare', 'verslag/report.json', 'fout/report.json', '--json');
    expect(JSON.parse(compared.stdout)).toEqual([
      { id: 'C-FEED-15', title: 'A page has no total', outcomes: ['passed', 'failed'] },
    ]);
  });

  it('does not fail a build for an announced failure', async () => {
    await writeFile(join(dir, 'bekend.txt'), '# known\nC-FEED-15 # until March\n');
    const ended = await conformance('raadsfeed', proxy.url, ...FEW, '--expected-failures', 'bekend.txt');
    expect(ended.status).toBe(0);
    expect(ended.stdout).toContain('FAILED C-FEED-15 (must, expected)');
    expect(ended.stdout).toContain('No must case failed except announced ones.');
  });

  it('says which announced failures pass now, in each form', async () => {
    const words = [...FEW, '--expected-failures', 'bekend.txt'];
    await writeFile(join(dir, 'bekend.txt'), 'C-FEED-15\nC-FEED-05\n');
    const ended = await conformance('raadsfeed', proxy.url, ...words, '--report', 'bekend');
    const said = 'Announced as failures, but passed: C-FEED-05. Remove them from the list.';
    expect(ended).toMatchObject({ status: 0, stdout: expect.stringContaining(said) });
    expect(await readFile(join(dir, 'bekend/report.html'), 'utf8')).toContain(said);
    expect(JSON.parse(await readFile(join(dir, 'bekend/report.json'), 'utf8')).expectedButPassed).toEqual([
      'C-FEED-05',
    ]);
  });

  it('refuses announced failures of unknown cases, and runs nothing', async () => {
    await writeFile(join(dir, 'typefout.txt'), 'C-FEED-05\nC-FEDE-15 # typed wrongly\nA-REQ-01\n');
    const ended = await conformance('raadsfeed', proxy.url, ...FEW, '--expected-failures', 'typefout.txt');
    expect(ended).toMatchObject({ status: 2, stdout: '' });
    expect(ended.stderr).toBe('koppelvlak-conformance: typefout.txt: raadsfeed has no case C-FEDE-15, A-REQ-01\n');
  });

  it('exits with 2 when the cases cannot be run', async () => {
    const ended = [
      await conformance('raadsfeed'),
      await conformance('raadsfeed', 'http://127.0.0.1:1/ori/v1', ...FEW),
      await conformance('raadsfeed', proxy.url, '--only', 'C-ONBEKEND'),
      await conformance('raadsfeed', proxy.url, '--rate', '0'),
      await conformance('badge', 'bekend.txt'),
      await conformance('raadsfeed', proxy.url, '--only', 'C-FEED-05', '--not', 'C-FEED'),
      await conformance('raadsfeed-consumer', '--state', 'true', '--baseline', 'verslag/report.json'),
      await conformance('raadsfeed', proxy.url, ...FEW, '--report', 'bekend.txt/verslag'),
    ];
    expect(ended.map(({ status }) => status)).toEqual(ended.map(() => 2));
    expect(ended[1]?.stderr).toContain(
      '127.0.0.1:1 cannot be tested: C-FEED-22: C-FEED-01: no answer (connect ECONNREFUSED',
    );
    expect(ended[2]?.stderr).toContain('there is no case C-ONBEKEND');
  });

  it('runs in a build as its page says: the commands for GitHub, for GitLab, and of the image', async () => {
    proxy.mutate({});
    const { github, gitlab, commands } = buildExamples(proxy.url);
    const step = { uses: expect.stringMatching(/^actions\/[a-z-]+@v\d+$/) };
    const steps = [step, { ...step, with: { 'node-version': 24 } }, { run: expect.any(String) }, step];
    expect(github).toMatchObject({ jobs: { conformance: { 'runs-on': 'ubuntu-latest', steps } } });
    expect(gitlab).toMatchObject({ conformance: { artifacts: { reports: { junit: 'verslag/junit.xml' } } } });
    await writeFile(join(dir, 'bekend.txt'), 'C-FEED-15 # until March\n');
    expect(commands.length).toBe(3);
    for (const words of commands) {
      const own = words.map((word) => (word === '/verslag' ? 'verslag' : word));
      await rm(join(dir, 'verslag'), { recursive: true, force: true });
      expect(await conformance(...own, ...FEW)).toMatchObject({ status: 0 });
      expect((await readdir(join(dir, 'verslag'))).toSorted()).toEqual(['junit.xml', 'report.html', 'report.json']);
    }
  });

  it('lists its cases without running them', async () => {
    const { stdout } = await conformance('raadsfeed', '--list', '--json', '--only', 'Feed rules 10');
    expect(JSON.parse(stdout).map(({ id }: { id: string }) => id)).toEqual(['C-STR-01', 'C-STR-02', 'C-STR-03']);
  });

  it('shows no password and no number that may identify a person', async () => {
    proxy.mutate({
      answer: ({ json }) =>
        void (
          json !== undefined &&
          Object.assign(json, { total: 3, bsn: '999990019', token: 'eyJhbGciOi.eyJzdWIi.c2lnbmF0dXJl' })
        ),
    });
    const ended = await conformance('raadsfeed', proxy.url.replace('http://', 'http://naam:geheim@'), ...FEW, '--json');
    expect(ended.stdout + ended.stderr).not.toMatch(/geheim|999990019|c2lnbmF0dXJl/);
  });

  it('never writes control characters to a terminal, and keeps little of a large answer', async () => {
    proxy.mutate({
      answer: ({ json }) =>
        void (
          json !== undefined &&
          Object.assign(json, { total: 3, cursor: '\u001b]0;x\u0007', vulling: 'é'.repeat(50_000) })
        ),
    });
    const ended = await conformance(
      'raadsfeed',
      proxy.url,
      '--only',
      'C-FEED-15',
      'C-FEED-03',
      '--rate',
      '100',
      '--report',
      'groot',
    );
    expect(ended.stdout + ended.stderr).not.toContain('\u001b');
    const { cases } = JSON.parse(await readFile(join(dir, 'groot/report.json'), 'utf8'));
    const bodies = cases.flatMap((one: { exchanges: { body: string }[] }) => one.exchanges.map(({ body }) => body));
    expect(bodies.length).toBeGreaterThan(0);
    expect(Math.max(...bodies.map((body: string) => body.length))).toBeLessThan(2100);
    expect(bodies.every((body: string) => body.isWellFormed() && !body.includes('\ufffd é'))).toBe(true);
  });

  it('treats an answer that is nested too deeply as invalid JSON', async () => {
    proxy.mutate({
      answer: (answer, { path }) => {
        if (!path.startsWith('/feed')) return;
        answer.json = undefined;
        answer.body = `${'{"records":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
      },
    });
    const ended = await conformance(
      'raadsfeed',
      proxy.url,
      '--only',
      'C-FEED-01',
      'C-FEED-15',
      '--rate',
      '100',
      '--json',
    );
    expect(ended).toMatchObject({ status: 1, stderr: expect.stringContaining('failed       C-FEED-01') });
  });

  it('follows an answer to another host only if that is on the public internet', async () => {
    const asked: string[] = [];
    const other = await startProxy(feed.mount);
    other.mutate({
      answer: (_, { path }) => {
        asked.push(path);
      },
    });
    proxy.mutate({
      answer: ({ json }, { query }) =>
        void (json !== undefined && query.get('limit') === '1' && Object.assign(json, { next: `${other.url}/feed` })),
    });
    const ended = await conformance(
      'raadsfeed',
      proxy.url,
      '--only',
      'C-FEED-15',
      'C-FEED-19',
      '--rate',
      '100',
      '--json',
    );
    await other.stop();
    expect(JSON.parse(ended.stdout).cases).toMatchObject([
      { outcome: 'passed' },
      { outcome: 'inconclusive', reason: expect.stringContaining('is not a public address') },
    ]);
    expect(asked).toEqual([]);
  });

  const few = (): ReturnType<typeof conformance> =>
    conformance('raadsfeed', proxy.url, '--only', 'C-SVC-01', 'C-FEED-01', '--rate', '100');
  const answering = (status: number): void =>
    proxy.mutate({
      answer: (answer) => {
        answer.status = status;
        answer.json = undefined;
      },
    });

  it('exits with 2 when a service answers, and no case can be judged', async () => {
    answering(502);
    const ended = await few();
    expect([ended.status, ended.stdout]).toEqual([2, '']);
    expect(ended.stderr).toContain('cannot be tested: status 502');
  });

  it('fails cases that the service answers with 500', async () => {
    answering(500);
    const ended = await few();
    expect(ended.status).toBe(1);
    expect(ended.stdout).toContain('FAILED C-SVC-01 (must)');
    expect(ended.stdout).toContain('the answer has status 500 instead of 200');
  });
});
