/** `gegevens convert`: every model of early warning into every other, with every loss listed and no personal data shown. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtInVersions } from '../../../src/lib/exchange-model/model.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { callProgram, type Ended } from '../../support/program.ts';

const MODELS = join(import.meta.dirname, '../../fixtures/modellen');
const example = (version: string): string => join(MODELS, `vs-${version}.json`);
const PERSONAL = /999990019|Testers|Proefweg|9999ZX|1979-05-04/;

let dir: string;
let database: TestDatabase;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'omzetten-'));
  database = await createDatabase();
  await callProgram(['migrate'], { DATABASE_URL: database.url });
});
afterAll(async () => {
  await database.drop();
  rmSync(dir, { recursive: true });
});

function convert(file: string, from: string, to: string, ...words: string[]): Promise<Ended> {
  return callProgram(['gegevens', 'convert', file, '--from', from, '--to', to, ...words], {});
}

/** A file of a model in which one record and one case differ from the example. */
function variation(version: string, name: string, record: object, zaak: object = {}): string {
  const message = JSON.parse(readFileSync(example(version), 'utf8'));
  const [levering] = message.leveringen;
  Object.assign(levering.vroegsignalen[0], record);
  Object.assign(levering.vroegsignaalzaken[0], zaak);
  const path = join(dir, name);
  writeFileSync(path, JSON.stringify(message, undefined, 1));
  return path;
}

/** The output of `--json`, and the written file. */
async function converted(file: string, from: string, to: string, ...words: string[]) {
  const out = join(dir, `uit-${from}-${to}.json`);
  rmSync(out, { force: true });
  const { status, stdout, stderr } = await convert(file, from, to, '--out', out, '--json', ...words);
  const result = stdout === '' ? undefined : JSON.parse(stdout);
  const losses: string[] = (result?.losses ?? []).map(
    ({ member, reason, value, count }: Record<string, unknown>) =>
      `${member} ${reason}${value === undefined ? '' : ` ${value}`} x${count}`,
  );
  const message = existsSync(out) ? JSON.parse(readFileSync(out, 'utf8')) : undefined;
  return { status, stderr, stdout, result, losses, message, out };
}

const NAMES = ['client/Voorletters', 'client/Achternaam'];
const STREET = ['client/Straatnaam', 'client/Plaatsnaam'];
const noMember = (members: string[]): string[] => members.map((member) => `${member} no-member x1`);
const notBeside = (...members: string[]): string[] => members.map((member) => `client/${member} not-beside x1`);
const DRAFT_LOSSES_OF_1_0 = [
  ...noMember(NAMES),
  'client/Geslachtsaanduiding no-value x1',
  ...noMember(STREET),
  ...notBeside('Geboortedatum', 'Postcode', 'Huisnummer'),
];
const DRAFT_LOSSES_OF_1_1 = [
  ...noMember(['client/Plaatsnaam']),
  ...notBeside('Geslachtsaanduiding', 'Geboortedatum', 'Postcode', 'Huisnummer', 'Huisnummertoevoeging'),
];
const LOSSES_OF_1_2 = ['status no-value Opgepakt x1', 'contactpogingen/soort no-value Overige x1'];

/** From, to, losses of the example. */
const PAIRS: [string, string, string[]][] = [
  ['1.0', '1.1', [...noMember(NAMES), 'client/Geslachtsaanduiding no-value x1', ...noMember(STREET)]],
  ['1.0', '1.1-draft', DRAFT_LOSSES_OF_1_0],
  ['1.0', '1.2', DRAFT_LOSSES_OF_1_0],
  ['1.1', '1.0', noMember(['client/Geslachtsaanduiding'])],
  ['1.1', '1.1-draft', DRAFT_LOSSES_OF_1_1],
  ['1.1', '1.2', DRAFT_LOSSES_OF_1_1],
  ['1.1-draft', '1.0', noMember(['client/geslachtsaanduiding'])],
  ['1.1-draft', '1.1', []],
  ['1.1-draft', '1.2', []],
  ['1.2', '1.0', LOSSES_OF_1_2],
  ['1.2', '1.1', LOSSES_OF_1_2],
  ['1.2', '1.1-draft', LOSSES_OF_1_2],
];

/** The client of each example, in each model. */
const CLIENTS: Record<string, (from: string) => object> = {
  '1.0': (from) => ({
    Burgerservicenummer: '999990019',
    Geboortedatum: '1979-05-04',
    Postcode: '9999ZX',
    Huisnummer: '7',
    ...(from === '1.1' ? { Huisnummertoevoeging: 'a', Plaatsnaam: 'Duinrand' } : {}),
  }),
  '1.1': () => ({ Burgerservicenummer: '999990019', Geboortedatum: '1979-05-04', Postcode: '9999ZX', Huisnummer: '7' }),
};
const ADDRESS = { Geboortedatum: '1979-05-04', Postcode: '9999ZX', Huisnummer: '7' };

function clientOf(from: string, to: string): object {
  const isUpper = to === '1.0' || to === '1.1';
  if (from === '1.1-draft') {
    const sex = { geslachtsaanduiding: 'Vrouw' };
    if (!isUpper) return { ...sex, geboortedatum: '1979-05-04', postcode: '9999ZX', huisnummer: '7' };
    return to === '1.0' ? ADDRESS : { Geslachtsaanduiding: 'Vrouw', ...ADDRESS };
  }
  if (!isUpper) return { burgerservicenummer: '999990019' };
  return from === '1.2' ? { Burgerservicenummer: '999990019' } : (CLIENTS[to]?.(from) ?? {});
}

it('every built-in model is converted to every other', () => {
  const all = builtInVersions('vs').flatMap((from) => builtInVersions('vs').map((to) => `${from} ${to}`));
  expect(PAIRS.map(([from, to]) => `${from} ${to}`).toSorted()).toEqual(
    all.filter((pair) => pair.split(' ')[0] !== pair.split(' ')[1]).toSorted(),
  );
});

describe.each(PAIRS)('model %s to %s', (from, to, lost) => {
  it('rewrites names and values, lists losses, and is accepted by the other model', async () => {
    const { status, stderr, stdout, losses, message, result, out } = await converted(example(from), from, to);
    expect([status, stderr]).toEqual([0, '']);
    expect(losses.toSorted()).toEqual(lost.toSorted());
    for (const { places } of result.losses) {
      expect(places).toEqual([{ place: expect.stringMatching(/^\/leveringen\/0\/vroegsigna\w+\/0\//), key: 'A-1' }]);
    }
    expect(stdout).not.toMatch(PERSONAL);
    const expected = JSON.parse(readFileSync(example(to), 'utf8'));
    const [{ vroegsignalen, vroegsignaalzaken }] = expected.leveringen;
    vroegsignalen[0].client = clientOf(from, to);
    const isNewest = to === '1.2' || from === '1.2';
    if (isNewest) {
      // The others have neither this status nor this kind of contact of 1.2.
      vroegsignalen[0].status = 'Nog niet opgepakt';
      vroegsignaalzaken[0].contactpogingen[0].soort = 'Brief';
    }
    if (from === '1.2') {
      delete vroegsignalen[0].status;
      delete vroegsignaalzaken[0].contactpogingen[0].soort;
    }
    expect(message).toEqual(expected);
    const imported = await callProgram(
      ['gegevens', 'import', '--variant', 'vs', '--model', to, '--replace', '--json', out],
      { DATABASE_URL: database.url },
    );
    expect([imported.status, JSON.parse(imported.stdout)]).toMatchObject([0, { files: [{ records: 1, zaken: 1 }] }]);
  });
});

describe('values', () => {
  it.each(['Opgepakt', 'Inwoner al bekend bij schuldhulpverlening'])(
    'status %s of 1.2 is in no other model',
    async (status) => {
      const file = variation('1.2', 'status.json', { status });
      for (const to of ['1.0', '1.1', '1.1-draft']) {
        const { losses, message } = await converted(file, '1.2', to);
        expect(losses).toContain(`status no-value ${status} x1`);
        expect(message.leveringen[0].vroegsignalen[0]).not.toHaveProperty('status');
      }
    },
  );

  it.each(['Onbekend', 'Overige'])('contact %s of 1.2 is in no other model', async (soort) => {
    const file = variation(
      '1.2',
      'contact.json',
      {},
      { contactpogingen: [{ soort, bereikt: true }, { soort: 'Brief' }] },
    );
    const { losses, message } = await converted(file, '1.2', '1.1');
    expect(losses).toContain(`contactpogingen/soort no-value ${soort} x1`);
    expect(message.leveringen[0].vroegsignaalzaken[0].contactpogingen).toEqual([{ bereikt: true }, { soort: 'Brief' }]);
  });

  it.each([
    ['1.1', '1.2', 'Verwijzing zonder toestemming', 'Verwijzing zonder tussenkomst inwoner'],
    ['1.2', '1.1', 'Verwijzing zonder tussenkomst inwoner', 'Verwijzing zonder toestemming'],
    ['1.2', '1.1', 'Vervolghulp en/of verwijzing', undefined],
    ['1.1', '1.2', 'Vervolghulp en/of verwijzing financieel', 'Vervolghulp en/of verwijzing financieel'],
  ])('from %s to %s, the result %s becomes %s', async (from, to, resultaat, other) => {
    const { losses, message } = await converted(variation(from, 'resultaat.json', {}, { resultaat }), from, to);
    expect(message.leveringen[0].vroegsignaalzaken[0].resultaat).toBe(other);
    expect(losses.filter((loss) => loss.startsWith('resultaat'))).toEqual(
      other === undefined ? [`resultaat no-value ${resultaat} x1`] : [],
    );
  });
});

describe('a client for a closed model', () => {
  const address = { Postcode: '9999ZX', Huisnummer: '7' };

  it('without a nine-digit number is identified by its address, and the number is listed', async () => {
    const file = variation('1.1', 'kort.json', { client: { Burgerservicenummer: '99999001', ...address } });
    const { losses, message } = await converted(file, '1.1', '1.2');
    expect(losses).toEqual(['client/Burgerservicenummer not-beside x1']);
    expect(message.leveringen[0].vroegsignalen[0].client).toEqual({ postcode: '9999ZX', huisnummer: '7' });
  });

  it('with neither is refused by place and key, and nothing is written', async () => {
    const file = variation('1.1', 'niemand.json', { client: { Postcode: '9999ZX' } });
    const refused = await converted(file, '1.1', '1.2');
    expect(refused).toMatchObject({ status: 1, message: undefined });
    expect(refused.stderr).toContain('nothing written: model 1.2 refuses 1 part(s) of it');
    expect(refused.result).toMatchObject({
      written: null,
      refused: [
        {
          place: '/leveringen/0/vroegsignalen/0',
          key: 'A-1',
          faults: expect.arrayContaining([expect.stringContaining("/client must have required property 'huisnummer'")]),
        },
      ],
    });
    expect(readdirSync(dir).filter((name) => name.endsWith('.part'))).toEqual([]);
  });
});

it('a levering that the other model refuses is reported', async () => {
  const message = JSON.parse(readFileSync(example('1.1'), 'utf8'));
  // Without the members that distinguish them, which a closed model does not allow, the two are equal.
  message.leveringen[0].aanleverende_organisatie.contactpersoonen = [
    { naam: 'Wim Proef', dag: 'maandag' },
    { naam: 'Wim Proef', dag: 'dinsdag' },
  ];
  const file = join(dir, 'contacten.json');
  writeFileSync(file, JSON.stringify(message));
  const refused = await converted(file, '1.1', '1.2');
  expect(refused).toMatchObject({ status: 1, message: undefined });
  expect(refused.result.refused).toMatchObject([{ place: '/leveringen/0' }]);
  expect(refused.stdout + refused.stderr).not.toContain('Wim');
});

describe('no personal data is shown', () => {
  it('for a key that is a citizen service number, or a member that no model has', async () => {
    const client = { Burgerservicenummer: '999990019', Achternaam: 'Testers', '999990019': 'x', Bijnaam: 'Testers' };
    const file = variation('1.0', 'sleutel.json', { ID: 'vs-999990019', client });
    const { stdout, stderr } = await convert(
      file,
      '1.0',
      '1.2',
      '--out',
      join(dir, 'sleutel-uit.json'),
      '--losses',
      join(dir, 'verlies.jsonl'),
    );
    expect(stdout).toContain('client/(unknown member)  2 x dropped');
    for (const text of [stdout, stderr, readFileSync(join(dir, 'verlies.jsonl'), 'utf8')]) {
      expect(text).not.toMatch(/999990019|Testers|Bijnaam/);
    }
  });
});

describe('a file', () => {
  /** Cases before signals, several leveringen, empty and absent lists, members after the list, and a byte order mark. */
  function oddFile(signals: number): string {
    const signaal = (n: number) => ({
      ID: `S-${n}`,
      signaalpartner: { type: 'Huur' },
      client: { Burgerservicenummer: '999990019', Achternaam: `Ä${n}` },
    });
    const levering = (teller: number, more: object) => ({
      teller,
      ...more,
      gemeentecode: '9901',
      aanleverende_organisatie: { naam: `Nr ${teller} "é"` },
    });
    const message = {
      leveringen: [
        levering(1, {
          vroegsignaalzaken: [{ vroegsignalen: [{ ID: 'S-0' }], datum_opgepakt: '2026-01-02' }],
          vroegsignalen: Array.from({ length: signals }, (_, n) => signaal(n)),
        }),
        levering(2, { vroegsignalen: [], vroegsignaalzaken: [] }),
        levering(3, {}),
        levering(4, { vroegsignalen: [signaal(0), signaal(1)] }),
      ],
      startdatumLevering: '2026-01-01',
      einddatumLevering: '2026-03-31',
      aanleverdatumEnTijd: '2026-04-07T06:15:00Z',
      codeGegevensleverancier: 'PROEF-01',
    };
    const path = join(dir, 'vreemd.json');
    writeFileSync(path, `\ufeff${JSON.stringify(message, undefined, 2)}`);
    return path;
  }

  it('of any order and size keeps its order; every loss is listed', async () => {
    const all = join(dir, 'alles.jsonl');
    const { status, message, result } = await converted(oddFile(9000), '1.0', '1.2', '--losses', all);
    expect(status).toBe(0);
    expect(Object.keys(message)).toEqual([
      'leveringen',
      'startdatumLevering',
      'einddatumLevering',
      'aanleverdatumEnTijd',
      'codeGegevensleverancier',
    ]);
    expect(message.leveringen.map((levering: object) => Object.keys(levering))).toEqual([
      ['teller', 'vroegsignaalzaken', 'vroegsignalen', 'gemeentecode', 'aanleverendeOrganisatie'],
      ['teller', 'vroegsignalen', 'vroegsignaalzaken', 'gemeentecode', 'aanleverendeOrganisatie'],
      ['teller', 'gemeentecode', 'aanleverendeOrganisatie'],
      ['teller', 'vroegsignalen', 'gemeentecode', 'aanleverendeOrganisatie'],
    ]);
    const [first] = message.leveringen;
    expect(first.aanleverendeOrganisatie).toEqual({ naam: 'Nr 1 "é"' });
    expect(first.vroegsignaalzaken).toEqual([{ vroegsignalen: [{ ID: 'S-0' }], datumOpgepakt: '2026-01-02' }]);
    expect(first.vroegsignalen.map(({ ID }: { ID: string }) => ID)).toEqual(
      Array.from({ length: 9000 }, (_, n) => `S-${n}`),
    );
    expect(result.losses).toMatchObject([{ member: 'client/Achternaam', count: 9002, places: { length: 100 } }]);
    const lines = readFileSync(all, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toHaveLength(9002);
    expect(lines[8999]).toEqual({
      place: '/leveringen/0/vroegsignalen/8999/client/Achternaam',
      key: 'S-8999',
      member: 'client/Achternaam',
      reason: 'no-member',
    });
  });

  it('goes to standard output without --out, and losses to standard error', async () => {
    const { status, stdout, stderr } = await convert(example('1.1'), '1.1', '1.2');
    expect(status).toBe(0);
    expect(JSON.parse(stdout).leveringen).toHaveLength(1);
    expect(stderr).toContain('client/Postcode  1 x dropped: model 1.2 does not allow it beside the others');
    expect(stderr).toContain('/leveringen/0/vroegsignalen/0/client/Postcode (A-1)');
  });

  it('of another model than --from names is refused', async () => {
    const { status, stdout, stderr } = await convert(example('1.2'), '1.1', '1.0', '--out', join(dir, 'uit.json'));
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toContain('not a file of model 1.1');
    expect(stderr).toContain('line 7  /leveringen/0  ');
  });

  it.each<[string[], number, RegExp]>([
    [['--from', '1.1', '--to', '1.1', '--out', 'uit.json'], 2, /same model/],
    [['--from', '1.1', '--to', '1.2', '--json'], 2, /--json needs --out/],
    [['--from', '1.1', '--to', '9.9'], 2, /9\.9/],
    [['--from', '1.1'], 2, /--to/],
    [['--from', '1.1', '--to', '1.2', '--out', '/nergens/uit.json'], 1, /ENOENT/],
    [['--from', '1.1', '--to', '1.2', '--out', 'uit.json', '--losses', '/nergens/uit.json'], 1, /ENOENT/],
    [['--from', '1.1', '--to', '1.2', '--out', example('1.1')], 2, /is the file that is converted/],
  ])('explains %j', async (words, expected, text) => {
    const before = readFileSync(example('1.1'), 'utf8');
    const { status, stderr } = await callProgram(['gegevens', 'convert', example('1.1'), ...words], {});
    expect([status, stderr]).toEqual([expected, expect.stringMatching(text)]);
    expect(readFileSync(example('1.1'), 'utf8')).toBe(before);
  });

  it('is named when it does not exist', async () => {
    expect(await convert(join(dir, 'nergens.json'), '1.1', '1.2', '--out', join(dir, 'uit.json'))).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('nergens.json cannot be read'),
    });
  });
});
