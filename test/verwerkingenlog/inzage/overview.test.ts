/** The structure of the overview: a year in lines, the citizen's own visits apart, each organisation's responsibility; and refusals. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBrand } from '../../../src/html/brand.ts';
import { problemPage } from '../../../src/html/mount.ts';
import { html } from '../../../src/lib/template.ts';
import { platformProblems } from '../../../src/plugins/problems.ts';
import { readConfig } from '../../../src/settings/read-config.ts';
import { actie, HEADERS, listIn, ofPerson } from '../support.ts';
import { type InzageServer, logAbout, newBsn, registerActivity, startInzage } from './support.ts';
import { readPage as read } from './valid-page.ts';

let inzage: InzageServer;
beforeAll(async () => {
  inzage = await startInzage({
    env: {
      PAGES_LINKS:
        'contact=https://gemeente.example/contact,fg=mailto:fg@gemeente.example,toegankelijkheid=https://gemeente.example/t',
    },
  });
});
afterAll(() => inzage?.stop());

const OVERVIEW = '/inzage/overzicht';
/** The activities of the log's own entries, in the register from the beginning. */
const DEFAULT_ACTIVITY = '7d9f3c52-6b0e-4a5d-8f4e-2c1a90b6d3e7';
const SITE = {
  name: 'Inzage',
  home: '/inzage',
  stylesheet: '/inzage/stijl.css',
  menu: [],
  footer: html``,
  brand: readBrand(readConfig({ NODE_ENV: 'test' }, 'tool')),
};
/** Terms for programs. */
const TECHNICAL =
  /`|retry-after|accept|cursor|parameter|header|\bkop(pen)?\b|json|utf|token|instance|sec-fetch|methode|mediatype|gecodeerd/i;
const log = (bsn: string, wishes?: Record<string, unknown>): Promise<string> => logAbout(inzage, bsn, wishes);
const register = (id: string, wishes?: Record<string, unknown>): Promise<void> => registerActivity(inzage, id, wishes);

describe('the overview', () => {
  it("keeps the citizen's own visits apart: one line at the end, outside the paging", async () => {
    const bsn = newBsn();
    const thisYear = new Date().toISOString();
    for (let i = 0; i < 3; i += 1) await log(bsn, { actieNaam: `Eerder ${i}.`, tijdstip: thisYear });
    // Somebody with write access to the log pretends to be the citizen.
    await log(bsn, {
      actieNaam: 'Raadplegen verwerkingenlog',
      handelingNaam: 'Inzage door de betrokkene zelf',
      verwerkingNaam: 'Nagemaakt',
      tijdstip: thisYear,
    });
    const citizen = await inzage.loggedIn(bsn);
    for (let i = 0; i < 210; i += 1) await citizen.open(OVERVIEW);
    const { text } = await read(citizen, OVERVIEW);
    expect(text).toContain('<summary>U bekeek dit overzicht: 210 keer</summary>');
    expect(text).toContain('En nog 110 keer eerder: die staan in het gegevensbestand.');
    expect(text).toContain('4 keer op dat er iets');
    expect(text.match(/>Eerder \d\.</g)).toHaveLength(3);
    expect(text).toContain('Nagemaakt');
    expect(text).toContain('<span class="kv-entry__title">Iemand bekeek wat er met uw gegevens is gedaan</span>');
    expect(text).not.toContain('rel="next"');
    expect(text.indexOf('Eerder 0')).toBeLessThan(text.indexOf('U bekeek dit overzicht: 210'));
    expect(text).not.toContain('Raadplegen verwerkingenlog');
    const file = JSON.parse((await citizen.open(`${OVERVIEW}.json`)).text);
    expect(file).toMatchObject({ aantal: 4 });
    expect(file.uwEigenInzage).toHaveLength(211);
    // Not in a period without any.
    expect((await read(citizen, `${OVERVIEW}?van=2019-01-01&tot=2019-12-31`)).text).not.toContain('U bekeek');
  });

  it("shows somebody else's reading although a client named like these pages rewrote it as a visit", async () => {
    const bsn = newBsn();
    const scopes = ['read:confidential', 'create:confidential', 'update:confidential'];
    const client = await inzage.tokens.bearer(scopes, { subject: 'inzage' });
    const path = `/verwerkingsacties?${ofPerson(bsn, { beperkteSet: 'false', vertrouwelijkheid: 'normaal' })}`;
    await inzage.api.call('GET', path, { headers: { ...HEADERS, ...client } });
    const [reading] = listIn(await inzage.api.call('GET', path, { headers: { ...HEADERS, ...client } })).results;
    const disguised = actie(bsn, {
      actieNaam: 'Raadplegen verwerkingenlog',
      handelingNaam: 'Inzage door de betrokkene zelf',
      tijdstip: reading?.tijdstip,
    });
    const changed = await inzage.api.call('PUT', `/verwerkingsacties/${reading?.actieId}`, {
      headers: client,
      body: disguised,
    });
    expect(changed.status).toBe(200);
    const { text } = await read(await inzage.loggedIn(bsn), OVERVIEW);
    expect(text).toContain(String(reading?.actieId));
    expect(text).not.toContain('U bekeek dit overzicht');
  });

  it("folds others' readings of the log into the same line at the end, with all details of each", async () => {
    const bsn = newBsn();
    await log(bsn, { actieNaam: 'Inkomen opgevraagd' });
    const path = `/verwerkingsacties?${ofPerson(bsn, { beperkteSet: 'false', vertrouwelijkheid: 'normaal' })}`;
    const ask = () => inzage.call(['read:confidential'], 'GET', path, undefined, HEADERS);
    for (let i = 0; i < 3; i += 1) await ask();
    const citizen = await inzage.loggedIn(bsn);
    const { text: first } = await read(citizen, OVERVIEW);
    expect(first).toContain('<summary>3 keer ingezien door de organisatie</summary>');
    const { text } = await read(citizen, OVERVIEW);
    const [before = '', folded = ''] = text.split('<summary>4 keer ingezien door uzelf of de organisatie</summary>');
    expect(before).toContain('Inkomen opgevraagd');
    expect(before).not.toContain('Iemand bekeek');
    expect(folded).toContain('Een organisatie bekeek 3 keer wat er met uw gegevens is gedaan.');
    expect(folded.match(/>Iemand bekeek wat er met uw gegevens is gedaan</g)).toHaveLength(3);
    expect(folded).toContain('U bekeek dit overzicht: 1 keer.');
    const readings = listIn(await ask()).results.filter(({ actieNaam }) => actieNaam === 'Raadplegen verwerkingenlog');
    for (const { actieId, handelingNaam } of readings)
      expect(folded.includes(String(actieId))).toBe(handelingNaam !== 'Inzage door de betrokkene zelf');
    const file = JSON.parse((await citizen.open(`${OVERVIEW}.json`)).text);
    expect(file.inzageDoorAnderen).toHaveLength(4);
    expect(file.doelen).toHaveLength(1);
  });

  it("shows others' readings of the log when their activity is selected, in which the citizen has no visits", async () => {
    const bsn = newBsn();
    await log(bsn, { actieNaam: 'Inkomen opgevraagd', verwerkingsactiviteitId: DEFAULT_ACTIVITY });
    const path = `/verwerkingsacties?${ofPerson(bsn, { beperkteSet: 'false', vertrouwelijkheid: 'normaal' })}`;
    await inzage.call(['read:confidential'], 'GET', path, undefined, HEADERS);
    const citizen = await inzage.loggedIn(bsn);
    const { text } = await read(citizen, `${OVERVIEW}?activiteit=${DEFAULT_ACTIVITY}`);
    expect(text).toContain('Inkomen opgevraagd');
    const [, folded = ''] = text.split('<summary>1 keer ingezien door de organisatie</summary>');
    expect(folded.match(/>Iemand bekeek wat er met uw gegevens is gedaan</g)).toHaveLength(1);
  });

  it('uses another sentence if an entry names no organisation, no purpose and no action', async () => {
    const bsn = newBsn();
    await log(bsn, {
      uitvoerder: undefined,
      actieNaam: undefined,
      handelingNaam: undefined,
      verwerkingNaam: undefined,
      verwerkingsactiviteitId: undefined,
      verwerkingsactiviteitUrl: 'https://elders.example/doel',
    });
    const citizen = await inzage.loggedIn(bsn);
    const { text } = await read(citizen, OVERVIEW);
    expect(text).not.toMatch(/niet genoemd|niet bekend|onbekend/i);
    expect(text).toContain('Bij deze regels staat niet welke organisatie het deed. Vraag het aan Gemeente Test.');
    expect(text).toContain('U mag aan Gemeente Test vragen om uitleg');
    expect(text).toContain('<span class="kv-entry__title">Er is iets met uw gegevens gedaan</span>');
    const file = JSON.parse((await citizen.open(`${OVERVIEW}.json`)).text);
    expect(file.doelen).toMatchObject([{ organisatie: null }]);
  });

  it('shows a year as lines that open, the newest non-empty one first, and links to the others', async () => {
    const bsn = newBsn();
    // The first is in 2024 in the Netherlands.
    for (const [actieNaam, tijdstip] of [
      ['Oud en nieuw', '2023-12-31T23:30:00Z'],
      ['Zomer', '2024-07-01T10:00:00Z'],
      ['Lang geleden', '2019-03-01T10:00:00Z'],
    ])
      await log(bsn, { actieNaam, tijdstip });
    const citizen = await inzage.loggedIn(bsn);
    const { text } = await read(citizen, OVERVIEW);
    expect(text).toContain('In 2024 schreven wij 2 keer op dat er iets');
    expect(
      text.match(
        /<details class="kv-entry">\n<summary><span class="kv-entry__title">(?:Zomer|Oud en nieuw)<\/span> <time/g,
      ),
    ).toHaveLength(2);
    expect(text).not.toContain('Lang geleden');
    expect(text).toContain('value="2024-12-31"');
    const earlier = /<a [^>]*href="([^"]+)">2019<\/a>/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const then = await read(citizen, earlier);
    expect(then.text).toContain('Lang geleden');
    expect(then.text).not.toContain('Zomer');
    const all = await read(citizen, `${OVERVIEW}?alles=ja`);
    expect(all.text.match(/<details class="kv-entry" open>/g)).toHaveLength(3);
    expect((await citizen.open(`${OVERVIEW}.json`)).text).toContain('Lang geleden');
  });

  it('says for each organisation how long it is kept, and where to object and complain', async () => {
    const bsn = newBsn();
    const ids = ['5f0bef4c-f66f-4311-84a5-19e8bf359eb1', '5f0bef4c-f66f-4311-84a5-19e8bf359eb2'];
    await register(ids[0] ?? '', { naam: 'Belasting', bewaartermijn: 'P7Y' });
    await register(ids[1] ?? '', { naam: 'Archief', bewaartermijn: 'Volgens de selectielijst' });
    await log(bsn, { bewaartermijn: 'P5Y', verwerkingsactiviteitId: ids[0] });
    await log(bsn, { bewaartermijn: null, verwerkingsactiviteitId: ids[0] });
    const other = { uitvoerder: '00000099000000007777', bewaartermijn: null };
    await log(bsn, { ...other, verwerkingsactiviteitId: ids[1] });
    const citizen = await inzage.loggedIn(bsn);
    const { text } = await read(citizen, OVERVIEW);
    const [, ours = '', theirs = ''] = text
      .split('<h2')
      .map((part) => (part.includes('kv-objection') ? part : ''))
      .filter((part, i) => i === 0 || part !== '');
    for (const part of [ours, theirs]) {
      for (const shown of [
        'Hoe lang wij dit bewaren',
        'bezwaar maken',
        'verbeteren',
        'href="https://gemeente.example/contact"',
      ])
        expect(part).toContain(shown);
      expect(part).toContain('href="https://autoriteitpersoonsgegevens.nl/"');
    }
    const [us, them] = ours.includes('Gemeente Test</h2>') ? [ours, theirs] : [theirs, ours];
    expect(us).toMatch(/Dat verschilt: (5 jaar, of 7 jaar|7 jaar, of 5 jaar)/);
    expect(us).toMatch(/<dd[^>]*>5 jaar</);
    expect(us).toContain('href="mailto:fg@gemeente.example"');
    expect(them).toContain('Volgens de selectielijst');
    expect(them).toContain('van organisatie met nummer 00000099000000007777');
    expect(them).not.toContain('mailto:fg@gemeente.example');
    // Also when nothing is found.
    const nobody = await read(await inzage.loggedIn(newBsn()), OVERVIEW);
    for (const shown of ['bezwaar maken', 'Autoriteit Persoonsgegevens', '>Toegankelijkheid</a>'])
      expect(nobody.text).toContain(shown);
  });
});

describe('limits', () => {
  it('are those of every mount: requests per minute, address, method, unknown paths as pages', async () => {
    const limited = await startInzage({ provider: inzage.provider, env: { 'inzage.rateLimit': '3' } });
    try {
      for (let i = 0; i < 3; i += 1) expect((await limited.browser().open('/inzage/terug?x')).status).toBe(400);
      expect((await limited.browser().open('/inzage')).status).toBe(429);
    } finally {
      await limited.stop();
    }
    const anyone = inzage.browser();
    expect((await anyone.open('/inzage/niets')).status).toBe(404);
    expect((await anyone.open(`/inzage?${'x'.repeat(9000)}`)).status).toBe(414);
    expect((await anyone.open('/inzage/overzicht', { method: 'DELETE' })).status).toBe(405);
    const large = { method: 'POST', body: new URLSearchParams({ x: 'x'.repeat(5000) }) };
    expect((await anyone.open('/inzage/uitloggen', large)).status).toBe(413);
  });

  it('explain faults in plain Dutch, without names of headers and parameters', async () => {
    const citizen = await inzage.loggedIn(newBsn());
    const form = { method: 'POST', body: new URLSearchParams({ x: 'x' }) };
    const faults: [number, string, RequestInit?][] = [
      [400, `${OVERVIEW}?cursor=x`],
      [400, '/inzage/%zz'],
      [403, '/inzage/uitloggen', { ...form, headers: { 'sec-fetch-site': 'cross-site' } }],
      [404, '/inzage/niets'],
      [405, OVERVIEW, { method: 'DELETE' }],
      [413, '/inzage/uitloggen', { method: 'POST', body: new URLSearchParams({ x: 'x'.repeat(5000) }) }],
      [414, `/inzage?${'x'.repeat(9000)}`],
      [415, '/inzage/uitloggen', { method: 'POST', body: '<x/>', headers: { 'content-type': 'application/xml' } }],
    ];
    for (const [status, path, init] of faults) {
      const page = await citizen.open(path, init);
      expect(page.status, path).toBe(status);
      const main = /<main[\s\S]*<\/main>/.exec(page.text)?.[0] ?? '';
      expect(main, path).toMatch(/<h1/);
      expect(main, path).not.toMatch(TECHNICAL);
      expect(page.headers.get('content-security-policy'), path).toContain("style-src 'self'");
    }
  });

  it('report a missing page without advice on slashes', async () => {
    const { text } = await inzage.browser().open('/inzage/niets');
    expect(text).toContain('Deze pagina bestaat niet. Misschien is het adres veranderd.');
    expect(text).not.toContain('schuine streep');
  });

  it.each(Object.values(platformProblems))('have wording for people for $slug', ({ status, title, explanation }) => {
    const page = problemPage(SITE, { type: 'about:blank', status, title, detail: explanation, instance: 'urn:uuid:1' });
    expect(/<main[\s\S]*<\/main>/.exec(page)?.[0]).not.toMatch(TECHNICAL);
  });

  it('let one citizen read twice at a time, however many sessions there are', async () => {
    const bsn = newBsn();
    const browsers = await Promise.all(Array.from({ length: 6 }, () => inzage.loggedIn(bsn)));
    const statuses = await Promise.all(browsers.map(async (browser) => (await browser.open(OVERVIEW)).status));
    expect(statuses).toContain(200);
    expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
  });
});
