import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signedHeaders } from '../../gegevens/signed-request.ts';
import { messageBytes } from '../../saved-exchanges.ts';
import { callConformance } from '../program.ts';
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

describe('koppelvlak-conformance gegevens-requester', () => {
  it('finds no fault in a requester that checks everything', async () => {
    const results = await runs.run(good);
    const others = results.filter(({ outcome }) => outcome !== 'passed');
    expect(others.map(({ id, outcome, reason }) => `${id} ${outcome}: ${reason}`)).toEqual([]);
  });

  it('reports missing options', async () => {
    const call = (...words: readonly string[]) => callConformance(['gegevens-requester', ...words], {}, { cwd: dir });
    expect(await call()).toMatchObject({ status: 2, stderr: expect.stringContaining('--variant is needed') });
    const odd = await call('--variant', 'shv', '--command', 'node "x');
    expect(odd).toMatchObject({ status: 2, stderr: expect.stringContaining('quote') });
    const ended = await call('--variant', 'shv', '--command', 'sh -c "echo geen sleutel >&2; exit 3"');
    expect(ended).toMatchObject({ status: 2, stdout: '' });
    expect(ended.stderr).toMatch(
      /: sh -c "echo geen sleutel >&2; exit 3" cannot be tested: .*the program ended \(status 3\).*geen sleutel$/m,
    );
  });
});

describe('koppelvlak-conformance signature', () => {
  const judge = (...words: readonly string[]) =>
    callConformance(['signature', ...words], { GEGEVENS_REVOCATION_ALLOW_PRIVATE: 'true' }, { cwd: dir });

  it('finds no fault in well-signed messages, and says which one is not', async () => {
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
      stdout: expect.stringContaining('veranderd.http: the digest does not match the body'),
    });
    expect((await judge('ingetrokken.http', ...trust, '--online')).stdout).toContain('certificate-revoked');
    const list = join(dir, 'intermediate.crl');
    await writeFile(list, Buffer.from(await (await fetch(runs.keys.crlUrl)).arrayBuffer()));
    expect((await judge('ingetrokken.http', ...trust, '--crl', list)).stdout).toContain('S-CRT-06');
  });

  it('refuses files without a message, with status 2', async () => {
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
