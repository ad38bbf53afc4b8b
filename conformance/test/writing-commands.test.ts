/** The commands of the suites that write, as a user types them. */

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { PROCESSING_LOG_SCOPES } from '../../src/lib/processing-log-scopes.ts';
import { type LdvServer, startLdv } from '../../test/verwerkingenlog/ldv/support.ts';
import { EVERY, listIn } from '../../test/verwerkingenlog/support.ts';
import { callConformance, startConformance } from './program.ts';
import { type BreakingProxy, startProxy } from './proxy.ts';
import { tokensOf } from './run-verwerkingenlog.ts';

const FEW = ['--only', 'B-LOG-11', 'B-QRY-03', 'B-ACC-16', 'B-ACC-17', '--rate', '100'];

let log: LdvServer;
let proxy: BreakingProxy;
let dir: string;
let tokens: Record<string, string>;
beforeAll(async () => {
  log = await startLdv();
  proxy = await startProxy(`${log.server.url}/verwerkingenlog/v1`);
  dir = await mkdtemp(join(tmpdir(), 'koppelvlak-conformance-'));
  tokens = await tokensOf(log.tokens);
  await writeFile(join(dir, 'tokens.json'), JSON.stringify(tokens));
  await writeFile(join(dir, 'token.txt'), `${tokens['create:normal']}\n`);
});
afterAll(async () => {
  await proxy?.stop();
  await log?.stop();
  await rm(dir, { recursive: true, force: true });
});

const conformance = (...words: readonly string[]) => callConformance([...words], {}, { cwd: dir });

describe('koppelvlak-conformance verwerkingenlog', () => {
  it('shows nothing of a token file that is not JSON', async () => {
    await writeFile(join(dir, 'broken.json'), '{"create:normal": geheim12}');
    const { status, stderr } = await conformance('verwerkingenlog', proxy.url, '--tokens', 'broken.json');
    expect(status).toBe(2);
    expect(stderr).toMatch(/broken\.json is not JSON$/m);
    expect(stderr).not.toContain('geheim');
  });

  it('announces its writes first, and deletes them at the end', async () => {
    proxy.mutate({});
    const { status, stderr } = await conformance('verwerkingenlog', proxy.url, '--tokens', 'tokens.json', ...FEW);
    expect(status).toBe(0);
    expect(stderr.indexOf('writes about fifty actions')).toBeLessThan(stderr.indexOf('passed'));
    const [, undone = '0'] = /deleted (\d+) of the run's actions/.exec(stderr) ?? [];
    expect(Number(undone)).toBeGreaterThan(1);
    expect(stderr).not.toContain('not deleted');
    const [, run = ''] = /persons cf-([0-9a-f]{8})/.exec(stderr) ?? [];
    const { personOf, KIND } = await import('../verwerkingenlog/subject.ts');
    const query = { objecttype: 'persoon', soortObjectId: KIND, objectId: personOf({ run }, 'samen'), ...EVERY };
    const answer = await log.call(
      [...PROCESSING_LOG_SCOPES],
      'GET',
      `/verwerkingsacties?${new URLSearchParams(query)}`,
    );
    expect(listIn(answer).results.filter(({ actieNaam }) => actieNaam === 'Conformancetest')).toEqual([]);
  });

  it('shows no token and no number that may identify a person, in any report or saved message', async () => {
    proxy.mutate({
      answer: ({ json }, { headers }) => {
        const token = headers.authorization ?? '';
        const echoes = [token, encodeURIComponent(token), Buffer.from(token).toString('base64')];
        if (json !== undefined) Object.assign(json, { afnemerId: '999990019', echoes });
      },
    });
    const words = ['--report', 'verslag', '--save', 'berichten'];
    const ended = await conformance('verwerkingenlog', proxy.url, '--tokens', 'tokens.json', ...FEW, ...words);
    const files = await readdir(dir, { recursive: true, withFileTypes: true });
    const reports = files.filter((file) => file.isFile() && file.parentPath.endsWith('verslag'));
    const saved = files.filter((file) => file.isFile() && file.parentPath.endsWith('berichten'));
    const read = (list: typeof files) =>
      Promise.all(list.map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')));
    const shown = [ended.stdout, ended.stderr, ...(await read(reports))].join('');
    expect(reports.length).toBe(3);
    expect(shown).not.toContain('999990019');
    const everything = [shown, ...(await read(saved))].join('');
    for (const token of Object.values(tokens)) {
      expect(everything.includes(token.split('.')[2] ?? token)).toBe(false);
      for (const before of ['', ' ', '  '])
        expect(
          everything.includes(
            Buffer.from(before + token)
              .toString('base64')
              .slice(-60, -8),
          ),
        ).toBe(false);
    }
  });

  it('deletes its writes even after an interruption', async () => {
    proxy.mutate({});
    const words = [
      'verwerkingenlog',
      proxy.url,
      '--tokens',
      join(dir, 'tokens.json'),
      '--only',
      'B-LOG',
      '--rate',
      '30',
    ];
    const { child, output, ended } = startConformance([...words], {});
    await vi.waitFor(() => expect(output().stderr.split('passed').length).toBeGreaterThan(4), 60_000);
    child.kill('SIGINT');
    const { status, stderr } = await ended;
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(/deleted [1-9]\d* of the run's actions\n[\s\S]*interrupted/),
    ]);
  });

  it('exits with 1 when a valid request to log is answered with 500', async () => {
    proxy.mutate({ answer: (answer) => void (answer.status === 201 && Object.assign(answer, { status: 500 })) });
    const words = ['--only', 'B-LOG', '--rate', '100'];
    const ended = await conformance('verwerkingenlog', proxy.url, '--tokens', 'tokens.json', ...words);
    expect([ended.status, ended.stdout]).toEqual([1, expect.stringContaining('FAILED B-LOG-01 (must)')]);
  });

  it('exits with 2 when the token is refused', async () => {
    await writeFile(join(dir, 'fout.txt'), 'geen-goed-token');
    const ended = [
      await conformance('verwerkingenlog', proxy.url, '--tokens', 'fout.txt'),
      await conformance('ldv', `${log.server.url}/ldv/v1`, '--token-file', 'fout.txt'),
    ];
    expect(ended.map(({ status }) => status)).toEqual([2, 2]);
    for (const { stderr } of ended) expect(stderr).toContain('the token was refused with status 401');
  });

  it('exits with 2 without tokens, and when the file has another form', async () => {
    await writeFile(join(dir, 'anders.json'), '{"lezen":"eyJ"}');
    const ended = [
      await conformance('verwerkingenlog', proxy.url),
      await conformance('verwerkingenlog', proxy.url, '--tokens', 'er-niet.json'),
      await conformance('verwerkingenlog', proxy.url, '--tokens', 'anders.json'),
    ];
    expect(ended.map(({ status }) => status)).toEqual([2, 2, 2]);
    expect(ended[2]?.stderr).toContain('lezen is not one of create:normal');
  });

  it("accepts clients of an authorization server, as in a demo's file", async () => {
    proxy.mutate({});
    const clients = { applicatie: { id: 'applicatie', secret: 'geheim', scopes: ['create:normal'] } };
    await writeFile(
      join(dir, 'demo.json'),
      JSON.stringify({ url: new URL(proxy.url).origin, tokenUrl: log.tokens.tokenUrl, clients }),
    );
    const words = ['--only', 'B-LOG-01', '--rate', '100'];
    const ended = await conformance('verwerkingenlog', proxy.url, '--tokens', 'demo.json', ...words);
    expect([ended.status, ended.stderr]).toEqual([0, expect.stringContaining('not deleted: 1 (there is no token for')]);
    // The file also has the address of the service, which is not secret.
    expect(ended.stdout).toContain(`verwerkingenlog of ${proxy.url}: 1 cases`);
    expect(ended.stdout + ended.stderr).not.toContain('geheim');
  });
});

describe('koppelvlak-conformance ldv', () => {
  it('says that its lines stay, and tests with one token', async () => {
    const words = ['--token-file', 'token.txt', '--only', 'L-OTLP-01', 'L-OTLP-02', '--rate', '100'];
    const ended = await conformance('ldv', `${log.server.url}/ldv/v1`, ...words);
    expect([ended.status, ended.stderr]).toEqual([0, expect.stringContaining('they cannot be removed')]);
    expect(ended.stdout + ended.stderr).not.toContain(tokens['create:normal']);
  });

  it('explains why, when the log does not know the activity', async () => {
    const strict = await startLdv({ env: { LDV_UNKNOWN_ACTIVITY: 'refuse' } });
    await writeFile(join(dir, 'ander.txt'), await strict.tokens.token(['create:normal']));
    const words = ['--token-file', 'ander.txt', '--only', 'L-OTLP-01', '--rate', '100'];
    const ended = await conformance('ldv', `${strict.server.url}/ldv/v1`, ...words);
    await strict.stop();
    expect([ended.status, ended.stdout]).toEqual([1, expect.stringContaining('1 of 1 lines were refused')]);
  });
});
