import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callProgram, type Ended } from '../support/program.ts';
import { messageFile, shvMessage, vsMessage } from './support/messages.ts';
import { openSupplier, type Supplier } from './support/supplier.ts';

let supplier: Supplier;
beforeAll(async () => {
  supplier = await openSupplier();
});
afterAll(() => supplier.close());

const env = (): Record<string, string> => ({ DATABASE_URL: supplier.databaseUrl, 'gegevens.pagePinMinutes': '60' });

const run = (...words: readonly string[]): Promise<Ended> => callProgram(['gegevens', ...words], env());
const json = async (...words: readonly string[]): Promise<Record<string, Record<string, unknown>[]>> =>
  JSON.parse((await run(...words, '--json')).stdout);

const noord = (records: number) =>
  messageFile(shvMessage({ leveringen: [{ naam: 'Noord', kvk: '30000002', records }] }));

describe('import', () => {
  it('reports what was stored', async () => {
    const path = noord(3);
    const { status, stdout } = await run('import', '--variant', 'shv', path);
    expect([status, stdout]).toEqual([0, `${path}: 2026-01-01 to 2026-03-31, 1 levering(en), 3 records\n`]);
    const again = await run('import', '--variant', 'shv', path);
    expect(again.stdout).toContain(
      '\n  replaces Noord, KvK 30000002, municipality 0001, 2026-01-01 to 2026-03-31: 3 records by 3, of which 3 stay, 0 are removed and 0 are added\n',
    );
  });

  it('accepts several files, stores the good ones, and exits with 1 when one is refused', async () => {
    const zaken = { naam: 'Stad', records: ['a', 'b'], zaken: [['a'], ['b']] };
    const good = messageFile(vsMessage({ leveringen: [zaken] }));
    const bad = messageFile('{"leveringen": [{\n"teller": 1.5}]}');
    const { status, stdout, stderr } = await run('import', '--variant', 'vs', good, bad, '/nergens.json');
    expect(status).toBe(1);
    expect(stdout).toContain('1 levering(en), 2 records, 2 zaken');
    expect(stdout).toMatch(
      /nothing stored, 7 fault\(s\)\n(.*\n)+ {2}line 2 {2}\/leveringen\/0\/teller {2}must be integer\n/,
    );
    expect(stdout).toContain('/nergens.json: ENOENT');
    expect(stderr).toContain('2 of 3 files not stored');
  });

  it('has one machine-readable result', async () => {
    const result = await json('import', '--variant', 'shv', '--replace', noord(2), messageFile('{'));
    expect(result).toMatchObject({
      files: [
        { leveringen: 1, records: 2, period: { start: '2026-01-01', end: '2026-03-31' } },
        { faults: [{ pointer: expect.any(String), line: 1, message: expect.any(String) }] },
      ],
    });
  });

  it.each([[[]], [['--variant', 'shv']], [['--variant', 'x', 'a.json']], [['a.json']]])(
    'does not accept %j',
    async (words) => {
      expect((await run('import', ...words)).status).toBe(2);
    },
  );
});

describe('stored deliveries', () => {
  it('are listed, shown, removed and pruned', async () => {
    const { files } = await json(
      'import',
      '--variant',
      'shv',
      messageFile(shvMessage({ leveringen: [{ naam: 'Rest', kvk: '12345678', records: 2 }] })),
    );
    expect(files).toHaveLength(1);
    const { leveringen } = await json('list');
    const rest = leveringen?.find(({ organisatie }) => organisatie === 'Rest');
    expect(rest).toMatchObject({
      variant: 'shv',
      records: 2,
      kvkNummer: '12345678',
      reden: null,
      bestand: 'bericht.json',
    });
    const id = String(rest?.id);
    expect((await run('list')).stdout).toMatch(/Rest +0001 +2026-01-01 to 2026-03-31 +2 +0 +1\.0 .* current/);
    expect(await json('show', id)).toMatchObject({ organisatie: 'Rest', kop: { schuldhulptrajecten: [] } });
    expect((await run('show', id)).stdout).toContain('vingerafdruk');
    expect((await run('show', '999999')).status).toBe(1);
    expect((await run('show', 'x')).status).toBe(2);
    expect(await run('remove', id, '999999')).toMatchObject({ status: 1, stdout: `No longer delivered: ${id}\n` });
    expect((await run('list', '--all')).stdout).toMatch(/^id .* cases .* state\n(.*\n)*.* Rest .* removed\n/);
    expect((await run('prune')).stdout).toBe('Pruned 0 versions with 0 records.\n');
    await supplier.asOwner(`update gegevens.leveringen set withdrawn_at = now() - interval '2 days' where id = ${id}`);
    expect((await run('prune', '--older-than', '3')).stdout).toBe('Pruned 0 versions with 0 records.\n');
    expect(await json('prune', '--dry-run')).toMatchObject({ dryRun: true, records: 2 });
    expect((await run('prune')).stdout).toBe('Pruned 1 versions with 2 records.\n');
    expect((await run('show', id)).status).toBe(1);
  });
});

describe('the journal', () => {
  it('is shown as an overview and by entry', async () => {
    await supplier.import('shv', noord(2));
    await supplier.get({ page: 1, pageSize: 1 });
    const { entries } = await json('journal', '--limit', '1');
    const [entry] = entries ?? [];
    expect(entry).toMatchObject({ variant: 'shv', records: 1, vraag: '{"page":1,"pageSize":1}' });
    expect((await run('journal')).stdout).toContain(String(entry?.antwoordDigest));
    expect((await run('journal', String(entry?.id))).stdout).toContain(String(entry?.antwoordHandtekening));
    expect((await run('journal', '999999')).status).toBe(1);
  });
});

it('explains every command with an example', async () => {
  for (const word of ['import', 'check', 'list', 'show', 'remove', 'prune', 'journal']) {
    const { status, stdout } = await run(word, '--help');
    expect([status, stdout]).toEqual([0, expect.stringMatching(/Example:\n {2}\$ koppelvlak gegevens/)]);
  }
});
