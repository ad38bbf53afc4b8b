/** `koppelvlak bron …` as an operator runs it: the program itself, on a real database, with real servers as sources. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Pool } from '../../../src/database/pool.ts';
import { type ProgramOnDatabase, programOnDatabase } from '../../cli/program.ts';
import { startProgram } from '../../support/program.ts';
import { servicePool } from '../support.ts';
import { FakeSource } from './fake-source.ts';

let dir: string;
let program: ProgramOnDatabase;
let pool: Pool;
let source: FakeSource;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'koppelvlak-test-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

beforeEach(async () => {
  program = await programOnDatabase();
  pool = servicePool(program.databaseUrl, 2);
  source = await new FakeSource('gm0001').listen();
  for (let i = 1; i <= 20; i += 1) source.document(`d-${i}`);
});
afterEach(async () => {
  await pool.end();
  await program.drop();
  await source.close();
});

async function head(): Promise<number> {
  const { rows } = await pool.query<{ head: number }>('select head from raadsfeed.feed');
  return rows[0]?.head ?? -1;
}

describe('bron add', () => {
  it('adds a feed, once', async () => {
    expect(await program.run('bron', 'add', source.url)).toEqual({
      status: 0,
      stdout: `Added: ${source.url}\n`,
      stderr: expect.stringMatching(/^Database \S+ on .+, as \S+\.\n$/),
    });
    expect(await program.json('bron', 'add', `${source.url}/`)).toEqual({
      status: 0,
      stderr: expect.stringMatching(/^Database \S+ on .+, as \S+\.\n$/),
      result: { added: [], changed: [], known: [source.url] },
    });
    expect(await program.run('bron', 'add', source.url)).toMatchObject({ stdout: `Known already: ${source.url}\n` });
  });

  it('exits with 2 on wrong usage with a message, and adds nothing', async () => {
    const wrong: [string[], string][] = [
      [[], "missing required argument 'source'"],
      [['ftp://raad.example'], 'ftp://raad.example is not a source'],
      [['parlaeus:huizen'], 'parlaeus:<base address>'],
      [['notubiz:281'], 'is read for one organisation'],
      [['notubiz:281', '--organisatie', 'amsterdam', '--naam', 'A'], 'gm and 4 digits'],
      [['notubiz:281', '--organisatie', 'gm0363', '--naam', 'A', '--from', '1 mei'], 'the first day is not a date'],
      [
        ['notubiz:281', '--organisatie', 'gm0363', '--naam', 'A', '--until', '2025-02-31'],
        'the last day is not a date',
      ],
      [['notubiz:281', '--organisatie', 'gm0363', '--naam', 'A', '--portal', 'x'], 'the portal is not an address'],
    ];
    for (const [words, reason] of wrong) {
      const { status, stdout, stderr } = await program.run('bron', 'add', ...words);
      expect({ words, status, stdout }).toEqual({ words, status: 2, stdout: '' });
      expect(stderr).toContain(reason);
    }
    expect(await program.run('bron', 'list')).toMatchObject({
      stdout: 'No sources; see koppelvlak bron add --help.\n',
    });
  });
});

describe('bron sync and list', () => {
  it('read a feed to its end, and show how current it is', async () => {
    await program.run('bron', 'add', source.url);
    expect(await program.json('bron', 'list')).toMatchObject({
      result: [{ bijgewerkt: null, behind: null, mislukt: 0, dekking: null }],
    });
    expect(await program.json('bron', 'sync', source.url)).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('20 read, 20 recorded'),
      result: { complete: true, read: 20, published: 20, deleted: 0, withheld: 0, refused: 0, issues: 0 },
    });
    source.document('d-21');
    expect(await program.run('bron', 'sync', source.url)).toMatchObject({
      status: 0,
      stdout: '1 read, 1 recorded, 0 deleted, 0 deletes withheld, 0 refused, 0 issues: complete.\n',
    });
    const { result } = await program.json('bron', 'list');
    expect(result).toMatchObject([
      {
        adres: source.url,
        organisaties: ['gm0001'],
        bijgewerkt: expect.stringMatching(/^20/),
        lagSeconds: expect.any(Number),
        behind: 0,
        gelezen: 21,
        meldingen: 0,
      },
    ]);
    const { stdout } = await program.run('bron', 'list');
    const [heads = '', , row = ''] = stdout.split('\n');
    expect(heads).toMatch(
      /^source +state +organisations +days +up to date +lag +behind +refused +withheld +coverage +issues$/,
    );
    expect(row).toMatch(/^http:\S+ +following +gm0001 +20\S+Z +\d+ s +0 +0 +0 +0$/);
  });

  it('exit with 1 and the reason when a feed could not be read, and keep it as an issue', async () => {
    await program.run('bron', 'add', source.url);
    source.rule = ({ path, json }) => path === '/snapshot' && json({}, 503) === undefined;
    const { status, result, stderr } = await program.json('bron', 'sync', source.url);
    expect({ status, result }).toMatchObject({
      status: 1,
      result: { complete: false, reason: 'status-503: status 503' },
    });
    expect(stderr).toContain('status-503: status 503');
    expect(await head()).toBe(0);
    expect((await program.json('bron', 'issues', source.url)).result).toMatchObject([
      { what: 'status-503', where: source.url, detail: 'status 503' },
    ]);
    expect((await program.run('bron', 'list')).stdout).toContain('failing (1): status 503');
    source.rule = undefined;
    expect(await program.run('bron', 'sync', source.url)).toMatchObject({ status: 0 });
    expect((await program.json('bron', 'issues', source.url)).result).toEqual([]);
    expect(await program.run('bron', 'sync', 'http://127.0.0.1:9/onbekend')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('is not among the sources'),
    });
    expect(await program.run('bron', 'sync')).toMatchObject({ status: 2 });
    expect(await program.run('bron', 'sync', source.url, '--from', 'gisteren')).toMatchObject({ status: 2 });
  });

  it('leave nothing half done on Ctrl-C: the next one reads all of it', async () => {
    await program.run('bron', 'add', source.url);
    let asked = (): void => undefined;
    const arrived = new Promise<void>((resolve) => {
      asked = resolve;
    });
    source.rule = ({ path }) => {
      if (path === '/snapshot') asked();
      return path === '/snapshot';
    };
    const running = startProgram(['bron', 'sync', source.url], {
      ...program.env,
      'raadsfeed.sourcesTimeoutMs': '60000',
    });
    await arrived;
    running.child.kill('SIGINT');
    expect(await running.ended).toMatchObject({ status: 1, stderr: expect.stringContaining('interrupted') });
    source.rule = undefined;
    expect(await program.json('bron', 'sync', source.url)).toMatchObject({ status: 0, result: { published: 20 } });
  });
});

describe('bron issues', () => {
  it('shows what, where, since when and how often; nothing when there are none', async () => {
    await program.run('bron', 'add', source.url);
    await program.run('bron', 'sync', source.url);
    expect(await program.run('bron', 'issues', source.url)).toMatchObject({ status: 0, stdout: 'No issues.\n' });
    source.document('d-21').contentHash = `sha256:${'0'.repeat(64)}`;
    expect(await program.json('bron', 'sync', source.url)).toMatchObject({ status: 1, result: { refused: 1 } });
    const { result } = await program.json('bron', 'issues', source.url);
    expect(result).toMatchObject([
      { what: 'record-refused', where: `${source.url}/feed#21`, times: 1, since: expect.stringMatching(/^20/) },
    ]);
    const { stdout } = await program.run('bron', 'issues', source.url);
    expect(stdout).toMatch(/^what +where +times +since +last +keeps it incomplete +detail\n/);
    expect(stdout).toContain('contentHash does not match data');
  });
});

describe('bron pause, resume and remove', () => {
  it('change a source, and keep its published records', async () => {
    await program.run('bron', 'add', source.url);
    await program.run('bron', 'sync', source.url);
    expect(await program.json('bron', 'pause', source.url)).toMatchObject({ result: { paused: true } });
    expect((await program.run('bron', 'list')).stdout).toMatch(/ paused +gm0001/);
    expect(await program.run('bron', 'resume', source.url)).toMatchObject({ stdout: `Resumed: ${source.url}\n` });
    expect(await program.json('bron', 'list')).toMatchObject({ result: [{ toestand: 'actief' }] });
    expect(await program.json('bron', 'remove', source.url)).toMatchObject({ status: 0, result: { removed: true } });
    for (const word of ['pause', 'resume', 'remove', 'issues', 'check'])
      expect(await program.run('bron', word, source.url)).toMatchObject({ status: 1, stdout: '' });
    expect(await head()).toBe(20);
  });
});
