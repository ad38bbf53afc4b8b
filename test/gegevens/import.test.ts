import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dayNumber } from '../../src/gegevens/import/record-traits.ts';
import { FaultyFile, importFile } from '../../src/gegevens/store/import-file.ts';
import type { Variant } from '../../src/lib/exchange-model/mapping.ts';
import { loadModel } from '../../src/lib/exchange-model/model.ts';
import { messageFile, shvMessage, vsMessage } from './support/messages.ts';
import { FIXTURES, openSupplier, type Supplier } from './support/supplier.ts';

let supplier: Supplier;
beforeAll(async () => {
  supplier = await openSupplier();
});
afterAll(() => supplier.close());

async function stored(): Promise<Record<string, number>> {
  const { rows } = await supplier.pool.query(
    `select (select count(*) from gegevens.records) as records, (select count(*) from gegevens.imports) as invoeren,
       (select count(*) from gegevens.leveringen) as leveringen, (select count(*) from gegevens.case_records) as zaken`,
  );
  return rows[0];
}

/** The faults of a file, none of which was stored. */
async function faultsOf(message: unknown, variant: Variant = 'shv'): Promise<FaultyFile['faults']> {
  const before = await stored();
  const error = await supplier.import(variant, messageFile(message)).catch((thrown: unknown) => thrown);
  if (!(error instanceof FaultyFile)) throw new Error(`no faults, but ${String(error)}`);
  expect(await stored()).toEqual(before);
  return error.faults;
}

const lines = (...text: string[]): string => text.join('\n');
const good = { leveringen: [{ naam: 'Noord', records: 1 }] };

it('delivers a birth date given as a timestamp as its day in Amsterdam, and the rest to the byte', async () => {
  const client = (born: string): string => `{"Burgerservicenummer" : "000000012","Geboortedatum": ${born} ,"x":1e0}`;
  const record = (...born: readonly string[]): string =>
    `{"gemeentecode":"GM0001","client":[${born.map(client).join(', ')}]}`;
  const texts = [
    ['"1980-05-13T22:00:00.000Z"', '"1980-05-14"'],
    ['"1971-03-18T23:00:00Z"', '"1971-03-19"'],
    ['"2001\\u002d12-31T23:00:00+00:00"', '"2002-01-01"'],
    ['"1980-05-14T00:00:00"', '"1980-05-14"'],
    ['"1980-00-00"', '"1980-00-00"'],
    ['"13 mei 1980"', '"13 mei 1980"'],
  ].map((each) => each.map(String));
  const records = [
    ...texts.map(([given = '']) => record(given)),
    record(...texts.slice(0, 2).map(([given = '']) => given)),
  ];
  const text = JSON.stringify(shvMessage({ leveringen: [{ naam: 'Geboren', records: 0 }] }));
  await supplier.import(
    'shv',
    messageFile(text.replace('"schuldhulptrajecten":[]', `"schuldhulptrajecten":[${records.join(',')}]`)),
  );
  const kept = await supplier.pool.query<{ text: string }>('select text from gegevens.records order by number');
  const expected = [
    ...texts.map(([, day = '']) => record(day)),
    record(...texts.slice(0, 2).map(([, day = '']) => day)),
  ];
  expect(kept.rows.map(({ text: stored }) => stored)).toEqual(expected);
});

it('reads a timestamp as its day in Amsterdam', () => {
  expect(dayNumber('2025-12-31T23:00:00Z')).toBe(dayNumber('2026-01-01'));
  expect(dayNumber('2026-06-30T22:00:00.000Z')).toBe(dayNumber('2026-07-01'));
  expect(dayNumber('2026-01-01T23:30:00')).toBe(dayNumber('2026-01-01'));
});

describe('a file with faults', () => {
  it('is reported with pointer and line, with all its faults, and not stored', async () => {
    const text = lines(
      '{',
      '  "startdatumLevering": "2026-02-30",',
      '  "einddatumLevering": "2026-03-31",',
      '  "aanleverdatumEnTijd": "gisteren",',
      '  "onbekend": 1,',
      '  "leveringen": [',
      '    { "teller": "een", "aanleverende_organisatie": {},',
      '      "schuldhulptrajecten": [',
      '        { "gemeentecode": "GM1" },',
      '        { "gemeentecode": "GM1",',
      '          "uitstroom": {',
      '            "reden": "Weg" } },',
      '        {}, 7',
      '      ] },',
      '    { "teller": 2 }',
      '  ]',
      '}',
    );
    const at = '/leveringen/0/schuldhulptrajecten';
    expect((await faultsOf(text)).map(({ pointer, line }) => [pointer, line])).toEqual([
      ['', 1],
      ['', 1],
      ['/startdatumLevering', 2],
      ['/aanleverdatumEnTijd', 4],
      ['/leveringen/0/teller', 7],
      [`${at}/1/uitstroom/reden`, 12],
      [`${at}/2`, 13],
      [`${at}/3`, 13],
      ['/leveringen/1', 15],
    ]);
  });

  it('reports faults without repeating personal data', async () => {
    const message = shvMessage(good);
    const text = JSON.stringify(message).replace('"omschrijving":"r1"', '"uitstroom":{"reden":"Jan Jansen"}');
    const [fault] = await faultsOf(text);
    expect(fault?.message).toMatch(/^must be one of "Overleden", /);
    expect(fault?.message).not.toContain('Jan');
  });

  it('is read no further than a hundred faults', async () => {
    const message = shvMessage({ leveringen: [{ naam: 'Noord', records: 150 }] });
    const faults = await faultsOf(JSON.stringify(message).replaceAll('"gemeentecode":"GM0001",', ''));
    expect(faults).toHaveLength(100);
    expect(faults.at(-1)?.pointer).toBe('/leveringen/0/schuldhulptrajecten/99');
  });

  it('is not stored for a fault in its very last record', async () => {
    const records = Array.from({ length: 5000 }, (_, index) => `r${index}`);
    const text = JSON.stringify(shvMessage({ leveringen: [{ naam: 'Noord', records }] }));
    const faults = await faultsOf(text.replace('"omschrijving":"r4999"', '"omschrijving":4999'));
    expect(faults).toMatchObject([{ pointer: '/leveringen/0/schuldhulptrajecten/4999/omschrijving' }]);
  });

  it.each([
    ['no JSON', 'hallo', 1],
    ['half a file', JSON.stringify(shvMessage(good)).slice(0, -5), 1],
    ['a record that is not JSON', lines('{"leveringen":[{"schuldhulptrajecten":[', '{"a":1}, {"a":tru}]}]}'), 2],
    ['a comma too many', lines('{"leveringen":[{"schuldhulptrajecten":[1', ',,2]}]}'), 2],
    ['a record without an end', lines('{"leveringen":[{"schuldhulptrajecten":[', '{"a":', '"b}]}]}'), 3],
    ['nothing', '', 1],
  ])('is refused when it holds %s', async (_what, text, line) => {
    const faults = await faultsOf(text);
    expect(faults.at(-1)?.line).toBe(line);
  });

  it('is refused when a member occurs twice, at any level', async () => {
    const text = JSON.stringify(shvMessage({ leveringen: [{ naam: 'Noord', records: 2 }] }));
    const twice = await faultsOf(text.replace('"omschrijving":"r1"', '"omschrijving":"r1","omschrijving":"anders"'));
    expect(twice).toMatchObject([
      { pointer: '/leveringen/0/schuldhulptrajecten/0', message: expect.stringMatching(/twice/) },
    ]);
    expect(await faultsOf(text.replace('"teller":7', '"teller":7,"teller":8'))).toMatchObject([
      { pointer: '/leveringen/0' },
    ]);
    expect(await faultsOf(text.replace('{"start', '{"leveringen":[],"start'))).toMatchObject([{ pointer: '' }]);
  });

  it.each(['2026-02-05 10:15:30Z', '2026-02-05T10:15:30+0100', '2026-02-05T10:15:30+01'])(
    'is refused when a timestamp does not follow RFC 3339: %s',
    async (moment) => {
      const faults = await faultsOf(JSON.stringify({ ...shvMessage(good), aanleverdatumEnTijd: moment }));
      expect(faults.map(({ pointer }) => pointer)).toEqual(['/aanleverdatumEnTijd']);
    },
  );

  it('is refused when it is not UTF-8', async () => {
    const bytes = Buffer.from(
      JSON.stringify(shvMessage({ leveringen: [{ naam: 'Noordé', records: ['é'] }] })),
      'latin1',
    );
    const faults = await faultsOf(bytes);
    expect(faults.map(({ pointer }) => pointer)).toEqual(['/leveringen/0/schuldhulptrajecten/0', '/leveringen/0']);
  });

  it('is refused when it is of the other variant', async () => {
    expect((await faultsOf(vsMessage(good))).length).toBeGreaterThan(0);
    expect((await faultsOf(shvMessage(good), 'vs')).length).toBeGreaterThan(0);
  });

  it('is refused when the database could not store its contents', async () => {
    for (const character of ['\\u0000', '\\ud800']) {
      const good = JSON.stringify(shvMessage({ leveringen: [{ naam: 'Noord#', records: 1 }] }));
      expect(await faultsOf(good.replace('#', character))).toMatchObject([
        { pointer: '/leveringen/0', message: expect.stringMatching(/U\+0000 or half of a surrogate pair/) },
      ]);
    }
    expect(await faultsOf(shvMessage({ ...good, start: '0000-01-01' }))).toMatchObject([
      { pointer: '/startdatumLevering' },
    ]);
    const leap = { ...good, moment: '2016-12-31T23:59:60Z' };
    expect(await faultsOf(shvMessage(leap))).toMatchObject([{ pointer: '/aanleverdatumEnTijd' }]);
  });

  it('is refused when its period is reversed or its list of leveringen empty', async () => {
    expect(await faultsOf(shvMessage({ ...good, start: '2026-04-01' }))).toMatchObject([
      { pointer: '/einddatumLevering' },
    ]);
    expect(await faultsOf(shvMessage({ leveringen: [] }))).toMatchObject([{ pointer: '/leveringen' }]);
  });
});

describe('our own fixtures', () => {
  it.each(readdirSync(FIXTURES))('%s gets the verdict of the whole model', async (name) => {
    const path = join(FIXTURES, name);
    const variant = name.startsWith('vs-') ? 'vs' : 'shv';
    const faults = loadModel(variant).whole.faults(JSON.parse(readFileSync(path, 'utf8')));
    const outcome = await supplier.import(variant, path).catch((error: unknown) => error);
    expect(outcome instanceof FaultyFile).toBe(faults.length > 0);
    if (outcome instanceof FaultyFile) expect(outcome.faults).toHaveLength(faults.length);
  });
});

describe('a good file', () => {
  it('is stored unchanged, to the byte', async () => {
    const record =
      '{ "gemeentecode" :"GM1",\r\n\t"omschrijving":"\\u00e9\\n é ✓ \\\\", "totaalSchuldbedragBijAanvangSchuld": 1.0e3 }';
    const text = JSON.stringify(shvMessage({ leveringen: [{ naam: 'Bytes', records: 1 }] }));
    const path = messageFile(`\ufeff${text.replace(/\{"gemeentecode":"GM0001"[^}]*\}/, () => record)}`);
    await supplier.import('shv', path);
    expect((await supplier.get({ aanleverende_organisatie: 'bytes' })).text).toContain(
      `"schuldhulptrajecten":[${record}]`,
    );
  });

  it("replaces the same organisation's delivery for the same period, and nothing else", async () => {
    const before = { leveringen: [{ naam: 'Oude naam', kvk: '55555555', records: ['oud'] }] };
    await supplier.import('shv', messageFile(shvMessage(before)));
    const other = { ...before, end: '2026-03-30' };
    await supplier.import('shv', messageFile(shvMessage(other)));
    const after = { leveringen: [{ naam: 'Nieuwe naam', kvk: '55555555', records: ['nieuw 1', 'nieuw 2'] }] };
    expect(await supplier.import('shv', messageFile(shvMessage(after)))).toMatchObject({
      replacements: [{ records: { before: 1, after: 2 }, nameBefore: 'Oude naam', gemeente: '0001' }],
    });
    const marks = async (end: string): Promise<string[] | null> => {
      const { text } = await supplier.get({
        aanleverende_organisatie: '55555555',
        aanleverperiodeStartdatum: '2026-01-01',
        aanleverperiodeEinddatum: end,
      });
      return text.match(/"omschrijving":"[^"]*"/g);
    };
    expect(await marks('2026-03-31')).toEqual(['"omschrijving":"nieuw 1"', '"omschrijving":"nieuw 2"']);
    expect(await marks('2026-03-30')).toEqual(['"omschrijving":"oud"']);
    expect(
      (await supplier.ask({ aanleverende_organisatie: 'oude naam', aanleverperiodeEinddatum: '2026-03-31' })).status,
    ).toBe(200);
  });

  it('may have two parts of one organisation, which are replaced together', async () => {
    const twice = (mark: string) => ({
      leveringen: [
        { naam: 'Deel', records: [`${mark}1`] },
        { naam: 'Deel', records: [`${mark}2`] },
      ],
    });
    await supplier.import('shv', messageFile(shvMessage(twice('a'))));
    expect(await supplier.import('shv', messageFile(shvMessage(twice('b'))))).toMatchObject({
      replacements: [{ records: { before: 2, after: 2 }, replaces: [expect.any(Number), expect.any(Number)] }],
    });
    const { gegevens } = await supplier.get({ aanleverende_organisatie: 'deel' });
    expect(gegevens.leveringen).toMatchObject([
      { schuldhulptrajecten: [{ omschrijving: 'b1' }] },
      { schuldhulptrajecten: [{ omschrijving: 'b2' }] },
    ]);
  });

  it('stays complete when two imports of it run at the same time', async () => {
    const message = (mark: string) => shvMessage({ leveringen: [{ naam: 'Samen', records: Array(500).fill(mark) }] });
    await Promise.all(['p', 'q', 'r'].map((mark) => supplier.import('shv', messageFile(message(mark)))));
    const { text } = await supplier.get({ aanleverende_organisatie: 'samen' });
    const found = text.match(/"omschrijving":"[pqr]"/g) ?? [];
    expect(found).toHaveLength(500);
    expect(new Set(found).size).toBe(1);
  });
});

describe('an interrupted import', () => {
  it('stores nothing, and leaves the connection usable', async () => {
    const before = await stored();
    const path = messageFile(shvMessage({ leveringen: [{ naam: 'Half', records: 60_000 }] }));
    const interrupted = new AbortController();
    const running = importFile(supplier.pool, {
      path,
      model: loadModel('shv'),
      signal: interrupted.signal,
      progress: () => interrupted.abort(new Error('enough')),
    });
    await expect(running).rejects.toThrow('enough');
    expect(await stored()).toEqual(before);
    expect((await supplier.pool.query('select 1 as een')).rows).toEqual([{ een: 1 }]);
  });

  it('reports that the database became unavailable', async () => {
    const before = await stored();
    const path = messageFile(shvMessage({ leveringen: [{ naam: 'Half', records: 60_000 }] }));
    let ended: Promise<unknown> | undefined;
    const running = importFile(supplier.pool, {
      path,
      model: loadModel('shv'),
      signal: new AbortController().signal,
      progress: () => {
        ended ??= supplier.asOwner(
          `select pg_terminate_backend(pid) from pg_stat_activity
            where xact_start is not null and pid <> pg_backend_pid() and datname = current_database()`,
        );
      },
    });
    // Either the server's reason or the end of its connection may come first.
    await expect(running).rejects.toThrow(/terminat|EPIPE|ECONNRESET|not queryable/);
    await ended;
    expect(await stored()).toEqual(before);
  });
});
