/** Deliveries of one organisation for several municipalities, and what an import may replace without confirmation. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ReplacementRefused } from '../../src/gegevens/store/replace-deliveries.ts';
import { callProgram } from '../support/program.ts';
import { type LeveringWishes, messageFile, type RecordWishes, shvMessage, vsMessage } from './support/messages.ts';
import { openSupplier, type Supplier } from './support/supplier.ts';

let supplier: Supplier;
beforeAll(async () => {
  supplier = await openSupplier();
});
afterAll(() => supplier.close());

let kvk = '';
let next = 40_000_000;
beforeEach(() => {
  next += 1;
  kvk = String(next);
});

const of = (gemeentecode: string, marks: readonly string[]): RecordWishes[] =>
  marks.map((mark) => ({ mark, gemeentecode }));
const shvFile = (...leveringen: LeveringWishes[]) => messageFile(shvMessage({ leveringen }));
const provider = (records: LeveringWishes['records'], more: Partial<LeveringWishes> = {}): LeveringWishes => ({
  naam: 'Hulp',
  kvk,
  records,
  ...more,
});

async function marks(asked: string): Promise<string[]> {
  const { text } = await supplier.get({ aanleverende_organisatie: asked });
  return [...text.matchAll(/"omschrijving":"([^"]*)"/g)].map(([, mark = '']) => mark);
}

const vsRefusal = (path: string) => refusal(path, 'vs');

async function refusal(path: string, variant: 'shv' | 'vs' = 'shv'): Promise<unknown> {
  const outcome = await supplier.import(variant, path, { replace: false }).catch((error: unknown) => error);
  if (!(outcome instanceof ReplacementRefused)) throw outcome;
  return outcome.replacements;
}

describe('the municipality of a levering', () => {
  it('is the one that all its trajectories name, so that a provider delivers for several side by side', async () => {
    await supplier.import('shv', shvFile(provider(of('GM7001', ['a1', 'a2']))), { replace: false });
    await supplier.import('shv', shvFile(provider(of('7002', ['b1']))), { replace: false });
    expect(await marks(kvk)).toEqual(['a1', 'a2', 'b1']);
    await supplier.import('shv', shvFile(provider(of('gm7001', ['c1', 'c2']))), { replace: false });
    expect((await marks(kvk)).toSorted()).toEqual(['b1', 'c1', 'c2']);
    expect(await marks('GM7002')).toEqual(['b1']);
  });

  it('ignores trajectories with an unknown municipality', async () => {
    const mixed = [...of('GM7010', ['a1']), ...of('Onbekend', ['a2'])];
    await supplier.import('shv', shvFile(provider(mixed)), { replace: false });
    const { replacements } = await supplier.import('shv', shvFile(provider(of('GM7010', ['b1', 'b2']))));
    expect(replacements).toMatchObject([{ gemeente: '7010', records: { before: 2, after: 2 } }]);
  });

  it('is left open if they name several', async () => {
    await supplier.import('shv', shvFile(provider([...of('GM7011', ['a1']), ...of('GM7012', ['a2'])])));
    const same = shvFile(provider([...of('GM7013', ['b1']), ...of('GM7012', ['b2'])]));
    expect((await supplier.import('shv', same, { replace: false })).replacements).toMatchObject([{ gemeente: null }]);
  });

  it('is taken from the organisation rather than from its trajectories', async () => {
    await supplier.import('shv', shvFile(provider(of('GM7021', ['a1']), { gemeentecode: 'GM7020' })));
    const other = shvFile(provider(of('GM7022', ['b1']), { gemeentecode: '7020' }));
    expect((await supplier.import('shv', other, { replace: false })).replacements).toMatchObject([
      { gemeente: '7020', records: { before: 1 } },
    ]);
  });

  it('is that of the levering itself in VS', async () => {
    const file = (gemeentecode: string, ...records: string[]) =>
      messageFile(vsMessage({ leveringen: [{ naam: 'Hulp', kvk, gemeentecode, records }] }));
    await supplier.import('vs', file('7030', 's1'), { replace: false });
    await supplier.import('vs', file('7031', 't1'), { replace: false });
    const { text } = await supplier.get({ aanleverende_organisatie: kvk }, { variant: 'vs' });
    expect(text.match(/"ID":"[^"]*"/g)).toEqual(['"ID":"s1"', '"ID":"t1"']);
  });

  it('applies the rules of the period to each', async () => {
    const year = { start: '2026-01-01', end: '2026-12-31' };
    await supplier.import('shv', messageFile(shvMessage({ ...year, leveringen: [provider(of('GM7041', ['year']))] })));
    await supplier.import('shv', shvFile(provider(of('GM7042', ['quarter']))), { replace: false });
    const asked = { aanleverperiodeStartdatum: '2026-02-01', aanleverperiodeEinddatum: '2026-02-28' };
    const { text } = await supplier.get({ ...asked, aanleverende_organisatie: kvk });
    expect(text.match(/"omschrijving":"[^"]*"/g)).toEqual(
      ['"omschrijving":"year"', '"omschrijving":"quarter"'].toSorted(),
    );
  });
});

describe('an import requires confirmation', () => {
  const ten = Array.from({ length: 10 }, (_, n) => `r${n}`);

  it('when more than a tenth of the records would be removed', async () => {
    await supplier.import('shv', shvFile(provider(of('GM7050', ten))));
    const nine = shvFile(provider(of('GM7050', ten.slice(1))));
    expect((await supplier.import('shv', nine, { replace: false })).replacements).toMatchObject([
      { records: { before: 10, after: 9 }, reasons: [] },
    ]);
    const eight = shvFile(provider(of('GM7050', ten.slice(2))));
    expect(await refusal(eight)).toMatchObject([{ records: { before: 9, after: 8 }, reasons: ['fewer-records'] }]);
    expect(await marks(kvk)).toHaveLength(9);
    await supplier.import('shv', eight);
    expect(await marks(kvk)).toHaveLength(8);
  });

  it('when more than a tenth of the cases or signals disappear, even if others replace them', async () => {
    const file = (records: readonly string[], zaken: readonly (readonly string[])[]) =>
      messageFile(vsMessage({ leveringen: [{ naam: 'Hulp', kvk, gemeentecode: '7055', records, zaken }] }));
    const signals = Array.from({ length: 30 }, (_, n) => `s${n}`);
    const others = Array.from({ length: 60 }, (_, n) => `t${n}`);
    const cases = signals.slice(0, 10).map((id) => [id]);
    await supplier.import('vs', file(signals, cases));
    expect(await vsRefusal(file(signals, []))).toMatchObject([
      {
        reasons: ['fewer-cases'],
        records: { before: 30, after: 30, stay: 30, go: 0, come: 0 },
        zaken: { before: 10, after: 0, stay: 0, go: 10, come: 0 },
      },
    ]);
    expect(await vsRefusal(file(others, []))).toMatchObject([
      { reasons: ['fewer-records', 'fewer-cases'], records: { before: 30, after: 60, stay: 0, go: 30, come: 60 } },
    ]);
    const nearly = file([...signals.slice(3), ...others], cases.slice(3).concat(cases.slice(0, 2)));
    await expect(supplier.import('vs', nearly, { replace: false })).rejects.toThrow();
    const kept = file([...signals, ...others], [...cases.slice(1), ['t1', 't2']]);
    expect((await supplier.import('vs', kept, { replace: false })).replacements).toMatchObject([
      {
        reasons: [],
        records: { before: 30, after: 90, stay: 30, go: 0, come: 60 },
        zaken: { before: 10, after: 10, stay: 9, go: 1, come: 1 },
      },
    ]);
  });

  it('when the name differs', async () => {
    await supplier.import('shv', shvFile(provider(of('GM7051', ['a']))));
    const renamed = shvFile(provider(of('GM7051', ['b']), { naam: 'Andere' }));
    expect(await refusal(renamed)).toMatchObject([
      { nameBefore: 'Hulp', organisatie: 'Andere', reasons: ['other-name'] },
    ]);
    expect(await marks(kvk)).toEqual(['a']);
  });

  it('when one levering has a municipality and the other does not, in either order', async () => {
    const without = shvFile(provider([...of('GM7061', ['w1']), ...of('GM7062', ['w2'])]));
    const withOne = shvFile(provider(of('GM7061', ['a1', 'a2'])));
    await supplier.import('shv', without);
    expect(await refusal(withOne)).toMatchObject([{ gemeente: '7061', reasons: ['municipality'] }]);
    await supplier.import('shv', withOne);
    expect(await marks(kvk)).toEqual(['a1', 'a2']);
    await supplier.import('shv', shvFile(provider(of('GM7062', ['b1']))), { replace: false });
    expect(await refusal(without)).toMatchObject([
      { gemeente: null, records: { before: 3, after: 2 }, reasons: ['fewer-records', 'municipality'] },
    ]);
    await supplier.import('shv', without);
    expect(await marks(kvk)).toEqual(['w1', 'w2']);
  });

  it('not when one file has both, nor when that file is imported again', async () => {
    const both = (...texts: string[]) =>
      shvFile(
        ...texts.map((mark, at) =>
          provider([{ mark, bsn: [`90000000${at}`], gemeentecode: at ? 'Onbekend' : '7063' }]),
        ),
      );
    await supplier.import('shv', both('a', 'b'), { replace: false });
    expect((await supplier.import('shv', both('c', 'd'), { replace: false })).replacements).toMatchObject([
      { gemeente: '7063', records: { before: 1, after: 1, stay: 1 }, reasons: [], conflicts: [] },
      { gemeente: null, records: { before: 1, after: 1, stay: 1 }, reasons: [], conflicts: [] },
    ]);
    expect(await marks(kvk)).toEqual(['c', 'd']);
  });

  it('not for a municipality without trajectories, in the same file, in the stored data or in the import', async () => {
    const year = { start: '2026-01-01', end: '2026-12-31' };
    const nothing = provider([]);
    await supplier.import('shv', messageFile(shvMessage({ ...year, leveringen: [provider(of('7064', ['year']))] })));
    const quarter = shvFile(provider(of('7065', ['a'])), nothing, nothing);
    expect((await supplier.import('shv', quarter, { replace: false })).replacements).toEqual([]);
    const half = { start: '2026-01-01', end: '2026-06-30' };
    const next = messageFile(shvMessage({ ...half, leveringen: [provider(of('7066', ['b'])), nothing] }));
    expect((await supplier.import('shv', next, { replace: false })).replacements).toEqual([]);
    const asked = { aanleverperiodeStartdatum: '2026-01-01', aanleverperiodeEinddatum: '2026-12-31' };
    const { text } = await supplier.get({ ...asked, aanleverende_organisatie: kvk });
    expect(text.match(/"omschrijving":"[^"]*"/g)?.toSorted()).toEqual(
      ['a', 'b', 'year'].map((mark) => `"omschrijving":"${mark}"`),
    );
  });

  it('when the periods only overlap: a year without a municipality and then a quarter for one, or the other way around', async () => {
    const year = { start: '2026-01-01', end: '2026-12-31' };
    const quarter = { start: '2026-04-01', end: '2026-06-30' };
    const before = { start: '2025-10-01', end: '2025-12-31' };
    const asked = { aanleverperiodeStartdatum: '2026-04-01', aanleverperiodeEinddatum: '2026-05-31' };
    const of = (period: typeof year, gemeente: string, ...records: string[]) =>
      messageFile(vsMessage({ ...period, leveringen: [{ naam: 'Hulp', kvk, gemeentecode: gemeente, records }] }));
    const ids = async () => {
      const { text } = await supplier.get({ ...asked, aanleverende_organisatie: kvk }, { variant: 'vs' });
      return text.match(/"ID":"[^"]*"/g);
    };
    await supplier.import('vs', of(year, 'Onbekend', 's1'), { replace: false });
    // No day in common: nothing can be delivered twice for it.
    await supplier.import('vs', of(before, '7080', 's0'), { replace: false });
    expect(await vsRefusal(of(quarter, '7080', 's1'))).toMatchObject([
      {
        reasons: ['municipality'],
        records: { before: 1 },
        conflicts: [{ gemeente: null, periodeStart: year.start, periodeEinde: year.end, records: 1 }],
      },
    ]);
    await supplier.import('vs', of(quarter, '7080', 's1'));
    expect(await ids()).toEqual(['"ID":"s1"']);
    expect(await vsRefusal(of(year, 'Onbekend', 's1'))).toMatchObject([
      {
        gemeente: null,
        reasons: ['municipality'],
        conflicts: [{ gemeente: '7080', periodeStart: quarter.start, periodeEinde: quarter.end }],
      },
    ]);
    await supplier.import('vs', of(year, 'Onbekend', 's1'));
    expect(await ids()).toEqual(['"ID":"s1"']);
  });

  it('with one municipality delivers overlapping periods side by side, following the rules of the period', async () => {
    const year = { start: '2026-01-01', end: '2026-12-31' };
    await supplier.import('shv', messageFile(shvMessage({ ...year, leveringen: [provider(of('GM7081', ['a']))] })));
    const { replacements } = await supplier.import('shv', shvFile(provider(of('GM7081', ['b']))), { replace: false });
    expect(replacements).toEqual([]);
  });
});

describe('an organisation with a KvK number and one of the same name without', () => {
  const year = { start: '2026-01-01', end: '2026-12-31' };
  const named = (naam: string, records: LeveringWishes['records'], withKvk: boolean): LeveringWishes => ({
    naam,
    records,
    ...(withKvk ? { kvk } : {}),
  });
  const nameOf = () => `Hulp ${kvk}`;

  it.each([true, false])(
    'count as one: a second import is refused, replaces with --replace (number first: %s)',
    async (first) => {
      const naam = nameOf();
      await supplier.import('shv', shvFile(named(naam, of('GM7090', ['a1', 'a2']), first)), { replace: false });
      const second = shvFile(named(`  ${naam.toUpperCase()} `, of('GM7090', ['b1', 'b2']), !first));
      expect(await refusal(second)).toMatchObject([
        {
          kvkNummer: first ? null : kvk,
          reasons: ['kvk-number'],
          records: { before: 2 },
          conflicts: [{ kvkNummer: first ? kvk : null, gemeente: '7090', records: 2 }],
        },
      ]);
      expect(await marks(naam)).toEqual(['a1', 'a2']);
      await supplier.import('shv', second);
      expect(await marks(naam)).toEqual(['b1', 'b2']);
    },
  );

  it('count as one where the periods only overlap, or only one of them names a municipality', async () => {
    const naam = nameOf();
    const first = messageFile(shvMessage({ ...year, leveringen: [named(naam, of('GM7091', ['a']), true)] }));
    await supplier.import('shv', first);
    expect(await refusal(shvFile(named(naam, of('GM7091', ['b']), false)))).toMatchObject([
      { reasons: ['kvk-number'] },
    ]);
    expect(await refusal(shvFile(named(naam, of('Onbekend', ['b']), false)))).toMatchObject([
      { reasons: ['kvk-number'], conflicts: [{ periodeStart: year.start, periodeEinde: year.end }] },
    ]);
  });

  it('count as two for two municipalities, in periods without a common day, and under two numbers', async () => {
    const naam = nameOf();
    const add = (file: string) => supplier.import('shv', file, { replace: false });
    await add(shvFile(named(naam, of('GM7092', ['a']), true)));
    await add(shvFile(named(naam, of('GM7093', ['b']), false)));
    const next = { start: '2026-04-01', end: '2026-06-30' };
    await add(messageFile(shvMessage({ ...next, leveringen: [named(naam, of('GM7092', ['c']), false)] })));
    await add(shvFile({ naam, kvk: String(Number(kvk) + 10_000_000), records: of('GM7092', ['d']) }));
  });

  it('do not conflict within a file', async () => {
    const naam = nameOf();
    const both = shvFile(named(naam, of('GM7094', ['a']), true), named(naam, of('GM7094', ['b']), false));
    expect((await supplier.import('shv', both, { replace: false })).replacements).toEqual([]);
  });
});

describe('the command line', () => {
  const run = (...words: string[]) => callProgram(['gegevens', ...words], { DATABASE_URL: supplier.databaseUrl });

  it('reports replacements, refuses them without --replace, and shows municipalities', async () => {
    const first = shvFile(provider(of('GM7071', ['a1', 'a2', 'a3'])));
    const second = shvFile(provider(of('GM7071', ['b1'])));
    const third = shvFile(provider(of('GM7071', ['c1'])));
    expect(await run('import', '--variant', 'shv', first)).toMatchObject({ status: 0 });
    const what = `Hulp, KvK ${kvk}, municipality 7071, 2026-01-01 to 2026-03-31: 3 records by 1, of which 1 stay, 2 are removed and 0 are added (more than a tenth of the records would be removed)`;
    const refused = await run('import', '--variant', 'shv', second);
    expect(refused.status).toBe(1);
    expect(refused.stdout).toBe(`${second}: nothing stored; --replace is needed\n  would replace ${what}\n`);
    expect(await marks(kvk)).toEqual(['a1', 'a2', 'a3']);
    const machine = await run('import', '--variant', 'shv', '--json', second);
    expect(JSON.parse(machine.stdout)).toMatchObject({
      files: [{ needsReplace: true, replacements: [{ kvkNummer: kvk }] }],
    });
    const replaced = await run('import', '--variant', 'shv', '--replace', second);
    expect(replaced).toMatchObject({ status: 0, stdout: expect.stringContaining(`\n  replaces ${what}\n`) });
    const again = await run('import', '--variant', 'shv', third);
    expect(again.stdout).toContain(`: 1 records by 1, of which 1 stay, 0 are removed and 0 are added\n`);
    const none = messageFile(shvMessage({ end: '2026-12-31', leveringen: [provider(of('Onbekend', ['d1']))] }));
    expect((await run('import', '--variant', 'shv', none)).stdout).toMatch(
      new RegExp(
        `no municipality, 2026-01-01 to 2026-12-31: 1 records by 1, of which 1 stay, 0 are removed and 0 are added \\(delivered both with a municipality and without one\\)\n    conflicts with levering \\d+: KvK ${kvk}, municipality 7071, 2026-01-01 to 2026-03-31, 1 records\n`,
      ),
    );
    const all = await run('list', '--all', '--municipality', 'GM7071', '--json');
    expect(JSON.parse(all.stdout).leveringen).toMatchObject([
      { gemeente: '7071', records: 1, reden: null },
      { gemeente: '7071', records: 1, reden: 'vervangen' },
      { gemeente: '7071', records: 3, reden: 'vervangen' },
    ]);
    expect((await run('list', '--municipality', '7071')).stdout).toMatch(/Hulp +7071 +2026-01-01 to 2026-03-31 +1 /);
    const [{ id }] = JSON.parse(all.stdout).leveringen;
    expect((await run('show', String(id))).stdout).toMatch(/^gemeente +7071$/m);
    expect(await run('remove', String(id))).toMatchObject({ status: 0 });
    expect((await supplier.ask({ aanleverende_organisatie: kvk })).status).toBe(422);
  });
});
