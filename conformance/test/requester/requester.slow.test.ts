import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startConformance } from '../program.ts';
import { plainRequester } from './plain-requester.ts';

const OWN = join(import.meta.dirname, 'own-requester.ts');

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'koppelvlak-afnemer-'));
});
afterAll(async () => {
  await rm(dir, { recursive: true, force: true });
});

describe('koppelvlak-conformance gegevens-requester, as a program', () => {
  it('finds no must case that our own requester fails, and makes a report that both parties can sign', async () => {
    const { status, stdout, stderr } = await startConformance(
      ['gegevens-requester', '--variant', 'shv', '--command', `${process.execPath} ${OWN}`, '--report', 'verslag'],
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

  it('judges a requester that is pointed at the suppliers by hand, by its next request', async () => {
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
      ...['--save', 'verzoeken'],
    ];
    const running = startConformance(['gegevens-requester', ...words], {}, { cwd: dir });
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
    // The saved messages can be read by `koppelvlak-conformance signature`; the token is not in them.
    const saved = await readFile(join(dir, 'verzoeken/0001-request.http'), 'utf8');
    expect(saved).toContain('nlgov-adr-payload-sig: ');
    expect(saved).not.toContain(token);
    expect([status, outcomes]).toEqual([
      1,
      ['R-ACC-01 passed', 'R-REF-01 passed', 'R-REF-03 failed', 'R-CAL-01 skipped'],
    ]);
  });
});
