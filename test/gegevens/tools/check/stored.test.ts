/** Checks of stored data: for a period, after an import, and of an answer in the journal. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callProgram, type Ended } from '../../../support/program.ts';
import { messageFile, vsMessage } from '../../support/messages.ts';
import { openSupplier, type Supplier } from '../../support/supplier.ts';
import { BSN, type FoundReport, found, message, shvLevering, traject, vsLevering } from './support.ts';

let supplier: Supplier;
beforeAll(async () => {
  supplier = await openSupplier({ env: { GEGEVENS_SUPPLIER_CODE: 'Koppelvlak 0.1' } });
});
afterAll(() => supplier.close());

const run = (...words: readonly string[]): Promise<Ended> =>
  callProgram(['gegevens', ...words], { DATABASE_URL: supplier.databaseUrl, GEGEVENS_SUPPLIER_CODE: 'Koppelvlak 0.1' });
async function stored(...words: readonly string[]): Promise<FoundReport & { status: number | null }> {
  const { status, stdout } = await run('check', '--json', ...words);
  return { status, ...JSON.parse(stdout) };
}
/** The newest entry of the journal, with the contents of its answer. */
async function journalled(): Promise<Record<string, unknown> & { check: FoundReport }> {
  const { entries } = JSON.parse((await run('journal', '--json', '--limit', '1')).stdout);
  return JSON.parse((await run('journal', '--json', String(entries[0].id))).stdout);
}

const other = { '(Statutaire) Naam': 'Gemeente Elders', 'KvK-nummer': undefined, gemeentecode: '0345' };

describe('the stored data', () => {
  it('is empty at first', async () => {
    expect(await stored('--variant', 'shv')).toMatchObject({ status: 0, municipalities: [], findings: [] });
    expect((await run('check', '--variant', 'shv')).stdout).toContain('nothing is stored for this period');
  });

  it('is checked as the answer to a request for the most recent period', async () => {
    const wrong = traject({ toekenningsdatum: '2026-02-02', gemeentecode: '0345' }, BSN[1]);
    const path = messageFile(message([shvLevering([traject(), traject({}, BSN[2])]), shvLevering([wrong], other)]));
    await supplier.import('shv', path);
    const report = await stored('--variant', 'shv');
    expect(report).toMatchObject({
      status: 0,
      period: { start: '2026-01-01', end: '2026-03-31' },
      municipalities: [
        { gemeentecode: 'GM0344', trajectories: 2, persons: 2, activePersons: 2 },
        { gemeentecode: '0345', trajectories: 1, persons: 1, activePersons: 1 },
      ],
    });
    const answer = await supplier.get({});
    const [finding] = report.findings;
    expect([report.findings.length, finding?.rule]).toEqual([1, 8]);
    // The place in the answer, which lists organisations by name.
    expect(finding?.places).toEqual(['/leveringen/0/schuldhulptrajecten/0/toekenningsdatum']);
    expect(answer.gegevens).toMatchObject({
      leveringen: [
        { schuldhulptrajecten: [{ toekenningsdatum: '2026-02-02' }] },
        { schuldhulptrajecten: { length: 2 } },
      ],
    });
    const { stdout } = await run('check', '--variant', 'shv');
    expect(stdout).toMatch(
      /^2 stored leveringen\n\/leveringen\/0 is levering \d+ \(2026-01-01 to 2026-03-31, 1 records\)\n2026/,
    );
  });

  it('is checked for another period by overlap', async () => {
    const report = await stored('--variant', 'shv', '--period', '2026-01-01/2026-01-09');
    expect(report).toMatchObject({ period: { start: '2026-01-01', end: '2026-01-09' }, findings: [] });
    expect(report.municipalities).toEqual([]);
    const later = await stored('--variant', 'shv', '--period', '2026-03-01/2026-03-31');
    expect(later.municipalities).toHaveLength(2);
    expect(await stored('--variant', 'shv', '--period', '2020-01-01/2020-12-31')).toMatchObject({ municipalities: [] });
  });

  it('is checked for early warning with its cases', async () => {
    const waiting = vsLevering('1.1', { signaal: { status: 'Nog niet opgepakt' } });
    await supplier.import('vs', messageFile(message([waiting])));
    const report = await stored('--variant', 'vs');
    expect(report.municipalities).toMatchObject([
      { gemeentecode: '0344', signals: 1, cases: 1, signalsPerKind: { Water: 1 } },
    ]);
    expect(found(report)).toEqual([[13, 'warning', '/leveringen/0/vroegsignaalzaken/0/vroegsignalen/0']]);
    const selected = await stored('--variant', 'vs', '--period', '2026-01-10/2026-01-10');
    expect(found(selected)).toEqual(found(report));
  });

  it('makes it exit with 1 when there is a blocking finding', async () => {
    const nobody = { '(Statutaire) Naam': 'Noord', 'KvK-nummer': undefined, contactpersonen: undefined };
    const later = { startdatumLevering: '2026-04-01', einddatumLevering: '2026-06-30' };
    const path = messageFile(
      message(
        [
          shvLevering(
            [0, 1, 2].map((n) => traject({}, BSN[n])),
            nobody,
          ),
        ],
        later,
      ),
    );
    await supplier.import('shv', path);
    const report = await stored('--variant', 'shv');
    expect([
      report.status,
      report.findings.filter(({ severity }) => severity === 'blocking').map(({ rule }) => rule),
    ]).toEqual([1, [1, 11]]);
  });
});

describe('import --check', () => {
  const wrong = traject({ schuldregeling: { dwangakkoord: true }, toekenningsdatum: undefined }, BSN[3]);
  const zuid = { '(Statutaire) Naam': 'Zuid', 'KvK-nummer': '87654321' };
  const path = messageFile(message([shvLevering([wrong], zuid)]));

  it('stores nothing when there is a blocking finding, with and without --check', async () => {
    for (const words of [['--check'], [], ['--replace']]) {
      const { status, stdout, stderr } = await run('import', '--variant', 'shv', ...words, path);
      expect([status, stderr]).toEqual([
        1,
        expect.stringMatching(/^Database .*\nkoppelvlak: 1 of 1 files not stored\n$/),
      ]);
      expect(stdout).toContain(
        `${path}: nothing stored, 1 blocking finding; --force stores it nevertheless\n${words[0] === '--check' ? '2026-01-01 to 2026-03-31\n' : 'blocking rule 6, 1 time'}`,
      );
      expect(stdout).toContain('blocking rule 6, 1 time');
      expect(stdout).toContain('/leveringen/0/schuldhulptrajecten/0/schuldregeling/dwangakkoord  true without');
      for (const secret of [...BSN, 'Jansen', 'jan@']) expect(stdout).not.toContain(secret);
    }
    expect((await run('list', '--all')).stdout).not.toContain('Zuid');
  });

  it('stores with --force, and the journal keeps the blocking findings', async () => {
    const { status, stdout } = await run('import', '--variant', 'shv', '--force', path);
    expect(status).toBe(0);
    expect(stdout).toContain(
      '1 levering(en), 1 records\n  stored with 1 blocking finding (--force), which the journal keeps\nblocking rule 6, 1 time',
    );
    const [, id = ''] = /^(\d+) .* Zuid .* current$/m.exec((await run('list')).stdout) ?? [];
    const again = await run('import', '--variant', 'shv', '--force', '--check', '--json', path);
    const { files } = JSON.parse(again.stdout);
    const alone = await run('check', '--variant', 'shv', '--json', path);
    expect(files).toMatchObject([{ records: 1, check: JSON.parse(alone.stdout) }]);
    // The first one became an earlier version, and is pruned: the forced findings are still there, without the file name.
    await supplier.asOwner(`update gegevens.leveringen set withdrawn_at = now() - interval '1 day' where id = ${id}`);
    expect((await run('prune')).stdout).toBe('Pruned 1 versions with 1 records.\n');
    const { forced } = JSON.parse((await run('journal', '--json')).stdout);
    expect(forced).toMatchObject([
      { periodeStart: '2026-01-01', periodeEinde: '2026-03-31', bestand: 'bericht.json' },
      {
        leveringen: [Number(id)],
        bestand: null,
        bevindingen: [
          { rule: 6, count: 1, places: ['/leveringen/0/schuldhulptrajecten/0/schuldregeling/dwangakkoord'] },
        ],
      },
    ]);
    expect((await run('journal')).stdout).toMatch(
      /\n\nImported with --force:\n.*\n.*\n.*bericht\.json .*rule 6: 1\n.* - .*rule 6: 1\n/,
    );
    await supplier.get({ aanleverende_organisatie: '87654321' });
    const entry = await journalled();
    expect(entry.forced).toHaveLength(1);
    expect(found(entry.check)).toContainEqual([
      6,
      'blocking',
      '/leveringen/0/schuldhulptrajecten/0/schuldregeling/dwangakkoord',
    ]);
    await supplier.get({ aanleverende_organisatie: 'Kredietbank' });
    expect(await journalled()).not.toHaveProperty('forced');
  });

  it('checks rule 16 for previously stored records by the period of their own delivery', async () => {
    const late = traject({ startdatum: '2024-08-01', aanmelding: {}, intake: {} }, BSN[2]);
    const half = { startdatumLevering: '2024-01-01', einddatumLevering: '2024-06-30' };
    const oost = { '(Statutaire) Naam': 'Oost', 'KvK-nummer': '44332211' };
    await supplier.import('shv', messageFile(message([shvLevering([late], oost)], half)));
    await supplier.get({ aanleverperiodeStartdatum: '2024-01-01', aanleverperiodeEinddatum: '2024-06-30' });
    expect(found((await journalled()).check)).toContainEqual([
      16,
      'blocking',
      '/leveringen/0/schuldhulptrajecten/0/startdatum',
    ]);
  });

  it('exits with 0 without blocking findings, and reports faults as it does without --check', async () => {
    const good = messageFile(
      message([shvLevering([traject()], { '(Statutaire) Naam': 'West', 'KvK-nummer': '11223344' })]),
    );
    expect(await run('import', '--variant', 'shv', '--check', good)).toMatchObject({ status: 0 });
    const bad = await run('import', '--variant', 'shv', '--check', messageFile('{}'));
    expect(bad).toMatchObject({ status: 1, stderr: expect.stringMatching(/\nkoppelvlak: 1 of 1 files not stored\n$/) });
    expect(bad.stdout).not.toContain('municipality');
  });
});

describe('the journal', () => {
  const period = { aanleverperiodeStartdatum: '2025-01-01', aanleverperiodeEinddatum: '2025-12-31' };

  it('shows the counts and findings of exactly one answer', async () => {
    const records = Array.from({ length: 5 }, (_, n) =>
      traject({ startdatum: '2025-02-01', toekenningsdatum: n === 3 ? '2025-03-01' : '2026-02-01' }, BSN[n % 2]),
    );
    const years = { startdatumLevering: '2025-01-01', einddatumLevering: '2025-12-31' };
    await supplier.import('shv', messageFile(message([shvLevering(records)], years)));
    await supplier.get(period);
    expect(await journalled()).toMatchObject({
      records: 5,
      check: {
        period: { start: '2025-01-01', end: '2025-12-31' },
        municipalities: [{ trajectories: 5, persons: 2 }],
        findings: [
          { rule: 8, places: ['/leveringen/0/schuldhulptrajecten/3/toekenningsdatum'] },
          { rule: 12 },
          { rule: 15 },
        ],
      },
    });
    const second = { ...period, page: 2, pageSize: 2 };
    await supplier.get({ ...second, page: 1 });
    // Later imports are not in this requester's pages.
    await supplier.import('shv', messageFile(message([shvLevering([traject()])], years)));
    await supplier.get(second);
    const { check, id } = await journalled();
    expect(check.municipalities).toMatchObject([{ trajectories: 2, persons: 2 }]);
    expect(found(check)).toEqual([[8, 'warning', '/leveringen/0/schuldhulptrajecten/1/toekenningsdatum']]);
    const { stdout } = await run('journal', String(id));
    expect(stdout).toMatch(/\n\nIn this answer: 2025-01-01 to 2025-12-31\n\nmunicipality {2}trajectories/);
    for (const secret of [...BSN, 'Jansen', 'jan@']) expect(stdout).not.toContain(secret);
  });

  it('shows what was selected by overlap, and an answer without a period', async () => {
    await supplier.get({ ...period, aanleverperiodeEinddatum: '2026-06-30' });
    const overlap = await journalled();
    expect(overlap.check.municipalities.reduce((sum, { trajectories }) => sum + Number(trajectories), 0)).toBe(
      overlap.records,
    );
    await supplier.get({});
    const recent = await journalled();
    expect(recent.check).toMatchObject({ period: { start: '2026-04-01', end: '2026-06-30' } });
    expect(recent.check.municipalities).toMatchObject([{ trajectories: 3 }]);
    await supplier.get({}, { variant: 'vs' });
    expect((await journalled()).check.municipalities).toMatchObject([{ signals: 1, cases: 1 }]);
  });

  it('reports pruned leveringen', async () => {
    const years = { start: '2019-01-01', end: '2019-12-31' };
    await supplier.import('vs', messageFile(vsMessage({ ...years, leveringen: [{ naam: 'Oud', records: 2 }] })));
    const asked = { aanleverperiodeStartdatum: years.start, aanleverperiodeEinddatum: years.end };
    await supplier.get(asked, { variant: 'vs' });
    expect((await journalled()).check.municipalities).toMatchObject([{ signals: 2 }]);
    await supplier.asOwner(`delete from gegevens.leveringen where name = 'Oud'`);
    const { id, check } = await journalled();
    expect(check).toBeNull();
    const { status, stdout } = await run('journal', String(id));
    expect([status, stdout]).toEqual([0, expect.stringContaining('have been pruned')]);
  });
});
