import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signedHeaders } from '../../../../src/extensions/conformance/gegevens/signed-request.ts';
import { messageBytes } from '../../../../src/extensions/conformance/saved-exchanges.ts';
import { callProgram, startProgram } from '../../../support/program.ts';
import { type PlainRequester, plainRequester } from './plain-requester.ts';
import { openRequesterRuns, type RequesterRuns } from './run-requester.ts';

let runs: RequesterRuns;
let good: PlainRequester;
let dir: string;
beforeAll(async () => {
  runs = await openRequesterRuns();
  good = plainRequester(() => ({}));
  dir = await mkdtemp(join(tmpdir(), 'koppelvlak-afnemer-'));
});
afterAll(async () => {
  await good?.close();
  await runs?.close();
  await rm(dir, { recursive: true, force: true });
});

/** Cases about what our own requester leaves open. */
const OWN = join(import.meta.dirname, 'own-requester.ts');

describe('koppelvlak conformance gegevens-requester', () => {
  it('finds no fault in a requester that checks everything', async () => {
    const results = await runs.run(good);
    const others = results.filter(({ outcome }) => outcome !== 'passed');
    expect(others.map(({ id, outcome, reason }) => `${id} ${outcome}: ${reason}`)).toEqual([]);
  });

  it('finds no must that our own requester breaks, and makes a report that both parties can sign', async () => {
    const { status, stdout, stderr } = await startProgram(
      [
        'conformance',
        'gegevens-requester',
        '--variant',
        'shv',
        '--command',
        `${process.execPath} ${OWN}`,
        '--report',
        'verslag',
      ],
      {},
      { cwd: dir },
    ).ended;
    expect([status, stderr.split('\n').filter((line) => /failed|inconclusive/.test(line))], stdout).toEqual([0, []]);
    const html = await readFile(join(dir, 'verslag/report.html'), 'utf8');
    expect(html).toMatch(/<h2>Acceptance<\/h2>.*Signature.*Requester \(tested\)/s);
    const report = JSON.parse(await readFile(join(dir, 'verslag/report.json'), 'utf8'));
    expect(report).toMatchObject({ conforms: true, counts: { failed: 0, inconclusive: 0 } });
    expect(report.requests).toBeGreaterThan(60);
    expect(JSON.stringify(report)).not.toMatch(/Bearer [\w-]{20}|99999\d{4}/);
  });

  it('judges a requester that is pointed at the suppliers by hand, by what it asks next', async () => {
    const words = [
      '--variant',
      'shv',
      '--wait',
      '6',
      '--only',
      'R-REF-01',
      'R-REF-03',
      'R-ACC-01',
      'R-CAL-01',
      '--json',
    ];
    const running = startProgram(['conformance', 'gegevens-requester', ...words], {}, { cwd: dir });
    const shown = (pattern: RegExp) => () => pattern.exec(running.output().stderr)?.[1] ?? '';
    const of = (name: string) => new RegExp(`(http://127\\.0\\.0\\.1:\\d+/${name}/v1/gegevens)`);
    await expect.poll(shown(of('corrected'))).not.toBe('');
    const token = shown(/send the token ([\w-]+)/)();
    const files = { key: join(dir, 'sleutels/requester-key.pem'), chain: join(dir, 'sleutels/requester-chain.pem') };
    const careless = plainRequester(() => ({ ignores: (code) => code === 'digest-mismatch' }));
    for (const name of ['pages', 'no-signature', 'other-digest']) {
      const trust = join(dir, 'sleutels/root.pem');
      await careless.ask({ ...files, url: shown(of(name))(), variant: 'shv', body: {}, token, trust });
    }
    await careless.close();
    const { status, stdout } = await running.ended;
    const { cases } = JSON.parse(stdout);
    const outcomes = cases.map(({ id, outcome }: Record<string, string>) => `${id} ${outcome}`);
    expect([status, outcomes]).toEqual([
      1,
      ['R-ACC-01 passed', 'R-REF-01 passed', 'R-REF-03 failed', 'R-CAL-01 skipped'],
    ]);
  });

  it('says what is missing', async () => {
    const call = (...words: readonly string[]) =>
      callProgram(['conformance', 'gegevens-requester', ...words], {}, { cwd: dir });
    expect(await call()).toMatchObject({ status: 2, stderr: expect.stringContaining('--variant is needed') });
    const odd = await call('--variant', 'shv', '--command', 'node "x');
    expect(odd).toMatchObject({ status: 2, stderr: expect.stringContaining('quote') });
  });
});

describe('koppelvlak conformance signature', () => {
  const judge = (...words: readonly string[]) =>
    callProgram(['conformance', 'signature', ...words], { GEGEVENS_REVOCATION_ALLOW_PRIVATE: 'true' }, { cwd: dir });

  it('finds no fault in messages that are signed well, and says which one is not', async () => {
    const body = Buffer.from('{"gegevens":{}}\n');
    const { supplier, revoked } = runs.keys.suppliers;
    const headers = { 'Content-Type': 'application/json', ...signedHeaders(body, supplier) };
    await writeFile(join(dir, 'goed.http'), messageBytes('HTTP/1.1 200', headers, body));
    await writeFile(join(dir, 'veranderd.http'), messageBytes(undefined, headers, Buffer.from('{"gegevens":{} }\n')));
    await writeFile(
      join(dir, 'ingetrokken.http'),
      messageBytes('HTTP/1.1 200', { ...signedHeaders(body, revoked) }, body),
    );
    const trust = ['--trust', runs.keys.root];
    const good = await judge('goed.http', ...trust, '--online', '--json');
    expect(good).toMatchObject({ status: 0, stderr: expect.not.stringContaining('failed') });
    expect(JSON.parse(good.stdout).counts).toMatchObject({ failed: 0, inconclusive: 0, 'not-judged': 0 });
    const wrong = await judge('goed.http', 'veranderd.http', ...trust);
    expect(wrong).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('veranderd.http: the digest is of other bytes'),
    });
    expect((await judge('ingetrokken.http', ...trust, '--online')).stdout).toContain('certificate-revoked');
    const list = join(dir, 'intermediate.crl');
    await writeFile(list, Buffer.from(await (await fetch(runs.keys.crlUrl)).arrayBuffer()));
    expect((await judge('ingetrokken.http', ...trust, '--crl', list)).stdout).toContain('S-CRT-06');
  });

  it('refuses what is no message, with status 2', async () => {
    await writeFile(join(dir, 'leeg.http'), 'niets');
    for (const words of [
      ['leeg.http', '--trust', runs.keys.root],
      ['weg.http', '--trust', runs.keys.root],
      ['leeg.http'],
      [],
    ])
      expect((await judge(...words)).status, words.join(' ')).toBe(2);
  });
});
