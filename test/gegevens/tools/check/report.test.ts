/** Reports of `gegevens check`: counts, formats, and faulty files and arguments. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { messageFile } from '../../support/messages.ts';
import { BSN, check, type FoundReport, found, judge, message, shvLevering, traject, vsLevering } from './support.ts';

const bare = (more: object, bsn: string = BSN[0]) => ({
  gemeentecode: 'GM0344',
  startdatum: '2026-01-10',
  client: [{ Burgerservicenummer: bsn }],
  ...more,
});
const NO_STEPS = {
  ...{
    aanmelding: 0,
    intake: 0,
    stabilisatie: 0,
    schuldregeling: 0,
    oplossing: 0,
    nazorg: 0,
    uitstroom: 0,
    unknown: 0,
  },
};

it('of a file that ends too early does not affect the next file', async () => {
  const judgeBoth = async (variant: 'shv' | 'vs', first: object, cutBefore: string, second: object) => {
    const text = JSON.stringify(first);
    const files = [messageFile(text.slice(0, text.lastIndexOf(cutBefore))), messageFile(second)];
    const { stdout } = await check(['--variant', variant, '--json', ...files]);
    const report: FoundReport = JSON.parse(stdout);
    return report;
  };
  const twice = message([shvLevering([traject(), traject({ startdatum: '2026-01-11' })])]);
  const other = message([shvLevering([traject({}, BSN[1])])]);
  const { findings } = await judgeBoth('shv', twice, ']}]', other);
  expect(findings.map(({ rule }) => rule)).not.toContain(12);
  const own = message([vsLevering('1.1', { gemeentecode: '0344' })]);
  const next = message([vsLevering('1.1', { gemeentecode: '0363', client: { Burgerservicenummer: BSN[1] } })]);
  const { municipalities } = await judgeBoth('vs', own, '],"vroegsignaalzaken"', next);
  expect(municipalities).toEqual([expect.objectContaining({ gemeentecode: '0363', signals: 1, persons: 1 })]);
});

describe('the counts', () => {
  it('are those of trajectories, persons and their latest steps, for each municipality', async () => {
    const { report } = await judge(
      'shv',
      message([
        shvLevering([
          bare({ aanmelding: { startdatum: '2026-01-10' }, intake: { beschikkingssoort: 'Toelatingsbeschikking' } }),
          // The same person later, at their current step. Values that software left empty stay empty.
          bare({
            startdatum: '2026-02-01',
            oplossing: {},
            schuldregeling: { dwangakkoord: false, datum: '2026-02-01' },
          }),
          bare({ startdatum: '2025-01-01', einddatum: '2025-12-31', nazorg: { startdatum: '2025-06-01' } }, BSN[1]),
          bare({ client: undefined }),
          bare({ client: [{}, { Burgerservicenummer: '000000000' }] }),
        ]),
        shvLevering([bare({ gemeentecode: '9' }), bare({ gemeentecode: 'GM009' }, BSN[1])]),
        shvLevering([bare({ gemeentecode: 'Onbekend' }, BSN[2])]),
      ]),
    );
    expect(report.period).toEqual({ start: '2026-01-01', end: '2026-03-31' });
    expect(report.municipalities).toEqual([
      { gemeentecode: '9', trajectories: 1, persons: 1, activePersons: 1, personsPerStep: { ...NO_STEPS, unknown: 1 } },
      {
        gemeentecode: 'GM009',
        trajectories: 1,
        persons: 1,
        activePersons: 1,
        personsPerStep: { ...NO_STEPS, unknown: 1 },
      },
      {
        ...{ gemeentecode: 'GM0344', trajectories: 5, persons: 4, activePersons: 3 },
        personsPerStep: { ...NO_STEPS, schuldregeling: 1, nazorg: 1, unknown: 2 },
      },
      {
        gemeentecode: 'Onbekend',
        trajectories: 1,
        persons: 1,
        activePersons: 1,
        personsPerStep: { ...NO_STEPS, unknown: 1 },
      },
    ]);
  });

  it('treat the spellings of a municipality as one', async () => {
    const records = [bare({}), bare({ gemeentecode: 'gm0344' }, BSN[1]), bare({ gemeentecode: '0344' }, BSN[2])];
    const { report } = await judge('shv', message([shvLevering(records)]));
    expect(report.municipalities).toMatchObject([{ gemeentecode: 'GM0344', trajectories: 3, persons: 3 }]);
  });

  it('are those of signals, cases and kinds for early warning', async () => {
    const other = vsLevering('1.1', {
      gemeentecode: '345',
      signaal: { signaalpartner: {} },
      zaak: { vroegsignalen: [{ ID: 'S1' }] },
    });
    const { report } = await judge('vs', message([vsLevering('1.1'), other]));
    const counts = { signals: 1, cases: 1, persons: 1, activePersons: 1 };
    expect(report.municipalities).toEqual([
      { gemeentecode: '0344', ...counts, signalsPerKind: { Water: 1 } },
      { gemeentecode: '345', ...counts, signalsPerKind: { unknown: 1 } },
    ]);
  });

  it('say who is active in the requested period', async () => {
    const file = message([
      shvLevering([bare({ einddatum: '2026-02-01' }), bare({ startdatum: '2026-03-01' }, BSN[1])]),
    ]);
    const { report } = await judge('shv', file, ['--period', '2026-02-02/2026-03-01']);
    expect(report).toMatchObject({
      period: { start: '2026-02-02', end: '2026-03-01' },
      municipalities: [{ persons: 2, activePersons: 1 }],
    });
  });

  it('count a person once across several files, and compare records within a file', async () => {
    const first = messageFile(message([shvLevering([traject()])]));
    const second = messageFile(message([shvLevering([traject()])], { einddatumLevering: '2026-06-30' }));
    const { status, stdout } = await check(['--variant', 'shv', '--json', first, second]);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      period: { start: '2026-01-01', end: '2026-06-30' },
      municipalities: [{ trajectories: 2, persons: 1 }],
      findings: [],
    });
    const broken = messageFile(message([shvLevering([traject({ toekenningsdatum: '2026-02-03' })])]));
    const two = await check(['--variant', 'shv', '--json', first, broken]);
    expect(found(JSON.parse(two.stdout))).toEqual([
      [8, 'warning', 'bericht.json#/leveringen/0/schuldhulptrajecten/0/toekenningsdatum'],
    ]);
  });
});

describe('the report', () => {
  const faulty = message([
    shvLevering([traject({ schuldregeling: { dwangakkoord: true }, begeleiding: [{ soort: 'Anders' }] })]),
  ]);

  it('lists at most a hundred places, and counts all', async () => {
    const records = Array.from({ length: 130 }, (_, n) => traject({ gemeentecode: 7, omschrijving: `r${n}` }));
    const { report } = await judge('shv', message([shvLevering(records)]));
    const model = report.findings.find(({ rule }) => rule === 'model');
    expect([model?.count, model?.places.length]).toEqual([130, 100]);
    // Reading continues after the faults, so that everything is counted.
    expect(report.municipalities).toMatchObject([{ trajectories: 130 }]);
  });

  it('reports a fault in a whole column once, with a count, and a few faults individually', async () => {
    const schulden = Array.from({ length: 3 }, (_, n) => ({ bedrag: n, schuldeiser: { naam: `S${n}` } }));
    const records = Array.from({ length: 193 }, (_, n) => traject({ omschrijving: `r${n}`, schulden }));
    records.push(traject({ schulden: [{ bedrag: 1, schuldeiser: { naam: 'A', Naam: 'B' } }] }));
    const { stdout } = await check(['--variant', 'shv', messageFile(message([shvLevering(records)]))]);
    const column = '/leveringen/-/schuldhulptrajecten/-/schulden/-/schuldeiser/naam';
    expect(stdout).toContain(
      [
        'warning  rule 7, 580 times: both names of a creditor, `naam` and `Naam`, are the same',
        `  ${column}  is not in the other place, 579 times; first at ${column.replaceAll('-', '0')}`,
        '  /leveringen/0/schuldhulptrajecten/193/schulden/0/schuldeiser/naam  they differ',
        'warning  rule 12',
      ].join('\n'),
    );
  });

  it('is for people by default', async () => {
    const { status, stdout, stderr } = await check(['--variant', 'shv', messageFile(faulty)]);
    expect([status, stderr]).toEqual([1, 'koppelvlak: 2 blocking findings\n']);
    expect(stdout).toMatch(/^bericht\.json\n2026-01-01 to 2026-03-31\n\nmunicipality {2}trajectories {2}persons/);
    expect(stdout).toMatch(/GM0344 +1 +1 +1 +0 +0 +0 +1/);
    expect(stdout).toContain(
      'blocking model, 1 time: the delivery fits the exchange model\n  /leveringen/0/schuldhulptrajecten/0/begeleiding/0/soort  line 1: must be one of "Budgetcoaching"',
    );
    expect(stdout).toMatch(/\n2 blocking, 1 warning\n$/);
    const clean = await check(['--variant', 'shv', messageFile(message([shvLevering([traject()])]))]);
    expect(clean.stdout).toMatch(/\nNothing was found that breaks a rule\.\n$/);
  });

  it('goes to a file when one is named', async () => {
    const out = join(mkdtempSync(join(tmpdir(), 'check-')), 'report');
    const path = messageFile(faulty);
    for (const [form, begin] of [
      [['--html'], '<!DOCTYPE html>'],
      [['--json'], '{"period":'],
      [[], 'bericht.json\n'],
    ] as const) {
      const { status, stdout, stderr } = await check(['--variant', 'shv', ...form, '--out', out, path]);
      expect([status, stdout]).toEqual([1, '']);
      expect(stderr).toContain(`the report is in ${out}`);
      expect(readFileSync(out, 'utf8').startsWith(begin)).toBe(true);
    }
    const nowhere = await check(['--variant', 'shv', '--out', '/nergens/report', path]);
    expect(nowhere).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('the report cannot be written: ENOENT'),
    });
  });
});

describe('a page', () => {
  const html = async (path: string, ...words: readonly string[]): Promise<string> =>
    (await check(['--variant', 'shv', '--html', ...words, path])).stdout;

  it.each([0, 1, 400])('needs no other file, with %i municipalities', async (count) => {
    const leveringen = Array.from({ length: count }, (_, n) =>
      shvLevering([bare({ gemeentecode: `GM${String(n).padStart(4, '0')}` })]),
    );
    const page = await html(messageFile(message(leveringen)));
    // Nothing is executed or loaded from elsewhere.
    expect(page).not.toMatch(/<script|<link|<img|<iframe|@import|url\(|\ssrc=|\shref=|\son\w+=|https?:/i);
    expect(page).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
    expect(page).toMatch(/@page \{ size: A4;/);
    expect(page.match(/<th scope="row">GM\d{4}<\/th>/g)?.length ?? 0).toBe(count);
    expect(page.includes('Er zijn geen records.')).toBe(count === 0);
    // Every bar has its number in the next cell.
    expect(page.match(/<td class="bar"><span style="width:[\d.]+%"><\/span><\/td><td>\d+<\/td>/g)?.length ?? 0).toBe(
      page.match(/<span style=/g)?.length ?? 0,
    );
    for (const element of [
      'html',
      'head',
      'body',
      'main',
      'table',
      'thead',
      'tbody',
      'tr',
      'td',
      'th',
      'ul',
      'li',
      'span',
    ]) {
      const opened = page.match(new RegExp(`<${element}[\\s>]`, 'g'))?.length ?? 0;
      expect([element, page.match(new RegExp(`</${element}>`, 'g'))?.length ?? 0]).toEqual([element, opened]);
    }
  });

  it('says in words how severe a finding is', async () => {
    const page = await html(
      messageFile(message([shvLevering([traject({ toekenningsdatum: '2026-02-03' })], { gemeentecode: '1' })])),
    );
    expect(page).toContain('<span class="severity blocking">blokkerend</span> regel 1, 1 keer: ');
    expect(page).toContain('<span class="severity warning">waarschuwing</span> regel 8, 1 keer: ');
    expect(page).toContain('1 blokkerend, 1 waarschuwing: kan zo niet worden geleverd');
  });

  it('shows no text of a file as markup', async () => {
    const hostile = `<script>alert("1")</script>&'`;
    const directory = mkdtempSync(join(tmpdir(), 'check-'));
    const path = join(directory, '<img src=x onerror=alert(1)>.json');
    const record = traject({ gemeentecode: hostile, [hostile]: 1 });
    const text = message([shvLevering([record], { '(Statutaire) Naam': hostile, gemeentecode: hostile })]);
    writeFileSync(path, JSON.stringify(text));
    const page = await html(path);
    expect(page).not.toMatch(/<script|<img|alert\("/);
    expect(page).toContain('&lt;img src=x onerror=alert(1)&gt;.json');
    const vs = { signaal: { signaalpartner: { type: hostile } }, gemeentecode: hostile };
    const other = await check(['--variant', 'vs', '--html', messageFile(message([vsLevering('1.1', vs)]))]);
    expect(other.stdout).not.toMatch(/<script|alert/);
  });
});

it('shows no number or name of a person, in any form', async () => {
  const secrets = ['999990018', '123456782', 'Jansen', 'Pietersen', 'De Boer', 'jansen@', '1980-05-0', '1234AB'];
  const person = {
    ...{ Burgerservicenummer: '999990018', Geboortedatum: '1980-05-01', Geslachtsaanduiding: 'Jansen' },
    ...{ Postcode: '1234AB', 'Jansen, 123456782': 1 },
  };
  const contact = [{ naam: 'Pietersen', email: 'geen adres van jansen@' }];
  const shv = message([
    shvLevering(
      [
        traject({ client: [person], omschrijving: 'Jansen', gemeentecode: 'Jansen' }),
        traject({ client: [person], gemeentecode: '123456782', 'Jansen 999990018': 1 }),
        traject({ client: [person, person, person], uitstroom: { reden: 'De Boer' } }),
        traject({ client: [person], schulden: [{ schuldeiser: { naam: 'De Boer', Naam: 'Pietersen' } }] }),
        traject({ client: [person] }),
        traject({ client: [person] }),
      ],
      { '(Statutaire) Naam': 'J. Jansen', gemeentecode: 'Jansen', contactpersonen: contact },
    ),
  ]);
  const vs = message([
    vsLevering('1.1', {
      ...{ gemeentecode: 'De Boer', organisatie: { naam: 'Jansen', contactpersoonen: contact } },
      ...{ signaal: { ID: '999990018', signaalpartner: { type: 'Jansen' }, status: 'Nog niet opgepakt' } },
      ...{
        client: { ...person, Achternaam: 'Jansen' },
        zaak: { vroegsignalen: [{ ID: '999990018' }], resultaat: 'Jansen' },
      },
    }),
  ]);
  const twice = JSON.stringify(shv).replace('"omschrijving":"Jansen"', '"omschrijving":"Jansen","Jansen":1,"Jansen":2');
  const broken = JSON.stringify(shv).replace('"omschrijving":"Jansen"', '"omschrijving":Jansen');
  for (const [variant, text] of [
    ['shv', shv],
    ['vs', vs],
    ['shv', twice],
    ['shv', broken],
    ['vs', shv],
  ] as const) {
    const path = messageFile(text);
    for (const form of [[], ['--json'], ['--html']]) {
      const { status, stdout, stderr } = await check(['--variant', variant, ...form, path]);
      expect(status).toBe(1);
      for (const secret of secrets) expect(stdout + stderr).not.toContain(secret);
    }
  }
});

describe('uncheckable input', () => {
  it.each([
    ['nothing', ''],
    ['no JSON', 'hallo'],
    ['half a file', '{"startdatumLevering":"2026-01-01","leveringen":[{"schuldhulptrajecten":[{"a":1},'],
    ['other JSON', '[1, 2]'],
    ['no UTF-8', Buffer.from('{"codeGegevensleverancier":"é"}', 'latin1')],
  ])('is a finding of the model: %s', async (_what, text) => {
    const { status, report } = await judge('shv', text);
    expect([status, report.findings[0]?.rule, report.findings[0]?.severity]).toEqual([1, 'model', 'blocking']);
    expect(report.period).toBeNull();
  });

  it('is checked against the model of --model', async () => {
    const path = messageFile(message([vsLevering('1.2')]));
    const { status, stdout } = await check(['--variant', 'vs', '--json', path]);
    expect([status, JSON.parse(stdout).findings[0].rule]).toEqual([1, 'model']);
    expect((await check(['--variant', 'vs', '--model', '1.2', path])).status).toBe(0);
  });

  it('keeps all its findings, however many faults it has', async () => {
    const records = Array.from({ length: 300 }, (_, n) => traject({ omschrijving: `r${n}`, gemeentecode: undefined }));
    const { report } = await judge('shv', message([shvLevering(records)]));
    expect(report.findings.map(({ rule, count }) => [rule, count])).toEqual([
      ['model', 300],
      [2, 300],
      [12, 299],
    ]);
  });

  it('is checked against a custom model as far as its mapping names the places', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'check-'));
    const models = join(import.meta.dirname, '../../../../openapi/modellen/shv-1.0');
    const { controle, ...mapping } = JSON.parse(readFileSync(`${models}.mapping.json`, 'utf8'));
    const own = join(folder, 'eigen.schema.json');
    writeFileSync(own, readFileSync(`${models}.schema.json`));
    const file = message([shvLevering([traject({ toekenningsdatum: '2026-02-03', gemeentecode: '' })])]);
    const judged = async (more: object): Promise<unknown[]> => {
      writeFileSync(join(folder, 'eigen.mapping.json'), JSON.stringify({ ...mapping, ...more }));
      return found((await judge('shv', file, ['--model', own])).report).map((each) => Object(each)[0]);
    };
    expect(await judged({})).toEqual([2]);
    expect(await judged({ controle })).toEqual([2, 8]);
    const { stderr } = await check(['--variant', 'shv', '--model', '/nergens.json', messageFile(file)]);
    expect(stderr).toContain('/nergens.json');
  });

  it('includes an unreadable file', async () => {
    const missing = await check(['--variant', 'shv', '/nergens.json']);
    expect([missing.status, missing.stdout]).toEqual([1, '']);
    expect(missing.stderr).toMatch(/^koppelvlak: ENOENT.*nergens\.json/);
    const directory = await check(['--variant', 'shv', tmpdir()]);
    expect([directory.status, directory.stderr]).toEqual([1, expect.stringContaining('EISDIR')]);
    expect((await check(['--variant', 'shv', '--model', '9.9', messageFile('{}')])).stderr).toContain('9.9');
  });

  it('may come through a pipe, which may be closed at either end', async () => {
    const main = join(import.meta.dirname, '../../../../src/main.ts');
    const program = `"${process.execPath}" "${main}" gegevens check --variant shv /dev/stdin`;
    const path = messageFile(message([shvLevering([traject()])]));
    const shell = (script: string) =>
      spawnSync('sh', ['-c', script], {
        encoding: 'utf8',
        env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
      });
    expect(shell(`cat "${path}" | ${program}`)).toMatchObject({ status: 0, stdout: expect.stringContaining('GM0344') });
    const nothing = shell(`true | ${program}`);
    expect([nothing.status, nothing.stdout]).toEqual([1, expect.stringContaining('the file ends too early')]);
    // The reader of the report closed the pipe: it exits without crashing.
    expect(shell(`${program.replace('/dev/stdin', `"${path}"`)} | true`)).toMatchObject({ status: 0, stderr: '' });
  });

  it.each([
    [[]],
    [['--variant', 'x']],
    [['--variant', 'shv', '--json', '--html', 'a.json']],
    [['--variant', 'shv', '--period', '2026-01-01', 'a.json']],
    [['--variant', 'shv', '--period', '2026-02-30/2026-03-31', 'a.json']],
    [['--variant', 'shv', '--period', '2026-03-31/2026-01-01', 'a.json']],
    [['--variant', 'shv', '--period', 'gisteren/vandaag', 'a.json']],
  ])('is refused on wrong usage: %j', async (words) => {
    expect(await check(words)).toMatchObject({ status: 2, stdout: '' });
  });
});
