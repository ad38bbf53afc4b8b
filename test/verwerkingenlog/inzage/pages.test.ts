/** A citizen's view of the log, and what nobody may see: in pages, files, headers, log lines and cookies. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actie, actieIn, HEADERS, listIn, ofPerson } from '../support.ts';
import { type InzageServer, logAbout, newBsn, registerActivity, startInzage } from './support.ts';
import { readPage as read } from './valid-page.ts';

let inzage: InzageServer;
beforeAll(async () => {
  inzage = await startInzage();
});
afterAll(() => inzage?.stop());

const OVERVIEW = '/inzage/overzicht';
const HOSTILE = `<img src=x onerror=alert(1)>"'&</title></script><script>alert(1)</script>\u202e`;
const ACTIVITY = '5f0bef4c-f66f-4311-84a5-19e8bf359eaf';

const log = (bsn: string, wishes?: Record<string, unknown>): Promise<string> => logAbout(inzage, bsn, wishes);
const register = (id: string, wishes?: Record<string, unknown>): Promise<void> => registerActivity(inzage, id, wishes);

describe('the overview', () => {
  it('says who did what, when, why, with which data, and who received them', async () => {
    const bsn = newBsn();
    await register(ACTIVITY);
    const actieId = await log(bsn, {
      afnemerId: '00000099000000002000',
      verwerkteObjecten: [
        {
          objecttype: 'persoon',
          soortObjectId: 'BSN',
          objectId: bsn,
          betrokkenheid: 'Aanvrager',
          verwerkteSoortenGegevens: [{ soortGegeven: 'adres' }, { soortGegeven: 'inkomen' }],
        },
        {
          objecttype: 'persoon',
          soortObjectId: 'BSN',
          objectId: newBsn(),
          betrokkenheid: 'Partner',
          verwerkteSoortenGegevens: [{ soortGegeven: 'medische gegevens' }],
        },
      ],
    });
    const citizen = await inzage.loggedIn(bsn);
    const { text } = await read(citizen, OVERVIEW);
    for (const shown of [
      ...[
        '>Gemeente Test</h2>',
        '>Schuldhulpverlening</h3>',
        'Mensen met schulden helpen',
        'Wet gemeentelijke',
        'taak van de overheid (publieke taak).',
      ],
      ...['Zoeken persoon', 'Intake', 'Aanvraag schuldhulp', 'adres, inkomen', 'Aanvrager'],
      ...[
        'organisatie met nummer 00000099000000002000',
        '15 januari 2026 om 14:35 uur',
        actieId,
        'In 2026 schreven wij 1 keer op dat er iets',
      ],
    ]) {
      expect(text).toContain(shown);
    }
    // The limited set, and only this person.
    for (const hidden of ['Balie 2', '1234<', 'Personenregister', 'medische gegevens', 'Partner', bsn]) {
      expect(text).not.toContain(hidden);
    }
  });

  it('shows no number of a person who received data', async () => {
    const bsn = newBsn();
    const other = newBsn();
    await log(bsn, { soortAfnemerId: 'B.S.N.', afnemerId: other });
    await log(bsn, { soortAfnemerId: 'BSN', afnemerId: bsn });
    const citizen = await inzage.loggedIn(bsn);
    for (const path of [OVERVIEW, `${OVERVIEW}.json`]) {
      const { text } = await citizen.open(path);
      expect(text).toContain('een andere persoon');
      expect(text).toContain('u zelf');
      expect(text).not.toContain(other);
      expect(text).not.toContain(bsn);
    }
  });

  it('can be limited to a period, its last day included, and to a purpose', async () => {
    const bsn = newBsn();
    const other = '5f0bef4c-f66f-4311-84a5-19e8bf359ea0';
    await log(bsn, { actieNaam: 'Eind januari', tijdstip: '2026-01-31T22:59:59Z' });
    await log(bsn, { actieNaam: 'Begin februari', tijdstip: '2026-01-31T23:00:00Z', verwerkingsactiviteitId: other });
    const citizen = await inzage.loggedIn(bsn);
    const january = await read(citizen, `${OVERVIEW}?van=2026-01-31&tot=2026-01-31`);
    expect(january.text).toContain('Eind januari');
    expect(january.text).not.toContain('Begin februari');
    expect(january.text).toContain('value="2026-01-31"');
    const purpose = await read(citizen, `${OVERVIEW}?activiteit=${other}`);
    expect(purpose.text).toContain('Begin februari');
    expect(purpose.text).not.toContain('Eind januari');
    expect((await read(citizen, `${OVERVIEW}?van=&tot=`)).text).toContain('Eind januari');
  });

  it.each(['van=gisteren', 'van=2026-02-30', 'tot=0001-01-01', 'van=2026-02-02&tot=2026-02-01', 'activiteit=x'])(
    'explains what is wrong with %s, and reads nothing',
    async (query) => {
      const bsn = newBsn();
      const citizen = await inzage.loggedIn(bsn);
      expect((await read(citizen, `${OVERVIEW}?${query}`, 400)).text).toContain('role="alert"');
      expect((await read(citizen, `${OVERVIEW}.json?${query}`, 400)).text).toContain('Dit adres klopt niet');
      expect(await looks(bsn)).toHaveLength(0);
    },
  );

  it.each(['cursor=x', 'cursor=WzEsIngiXQ', `cursor=${'A'.repeat(300)}`, 'van=%00', 'cursor=%00'])(
    'refuses %s',
    async (query) => {
      const citizen = await inzage.loggedIn(newBsn());
      await read(citizen, `${OVERVIEW}?${query}`, 400);
    },
  );

  it('comes in pages that keep the period, and complete on one to print', async () => {
    const bsn = newBsn();
    for (let i = 0; i < 210; i += 1) {
      await log(bsn, { actieNaam: `Actie ${i}.`, tijdstip: new Date(Date.UTC(2026, 0, 1, 0, i)).toISOString() });
    }
    const citizen = await inzage.loggedIn(bsn);
    const first = await read(citizen, `${OVERVIEW}?van=2025-12-31&tot=2026-01-31`);
    expect(first.text).toContain('210 keer');
    expect(first.text).toContain('>Actie 209.<');
    expect(first.text).not.toContain('>Actie 9.<');
    const next = /href="([^"]+)" rel="next"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const second = await read(citizen, next);
    expect(second.text).toContain('>Actie 9.<');
    expect(second.text).not.toContain('>Actie 209.<');
    expect(second.text).toContain('value="2026-01-31"');
    const previous = /href="([^"]+)" rel="prev"/.exec(second.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    // Pages like those above, which were validated.
    expect((await citizen.open(previous)).text).toContain('>Actie 209.<');
    // An implicit year stays the same one.
    const found = /href="([^"]+)" rel="next"/.exec((await citizen.open(OVERVIEW)).text)?.[1];
    expect(found).toContain('van=2026-01-01&amp;tot=2026-12-31');
    const all = await read(citizen, `${OVERVIEW}?alles=ja`);
    expect(all.text.match(/>Actie \d+\.</g)).toHaveLength(210);
  });

  it('is also available as a file', async () => {
    const bsn = newBsn();
    await register(ACTIVITY);
    const actieId = await log(bsn);
    const citizen = await inzage.loggedIn(bsn);
    const file = await citizen.open(`${OVERVIEW}.json?tot=2026-02-01`);
    expect(file.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(file.headers.get('content-disposition')).toBe('attachment; filename="inzage.json"');
    expect(file.headers.get('cache-control')).toBe('no-store');
    expect(JSON.parse(file.text)).toMatchObject({
      totEnMet: '2026-02-01',
      aantal: 1,
      volgende: null,
      doelen: [
        {
          organisatie: 'Gemeente Test',
          activiteit: { doel: 'Mensen met schulden helpen' },
          acties: [
            { actieId, actieNaam: 'Zoeken persoon', soortenGegevens: ['BSN'], tijdstip: '2026-01-15T13:35:42Z' },
          ],
        },
      ],
    });
  });

  it('shows hostile text as text, in every member', async () => {
    const bsn = newBsn();
    const id = '5f0bef4c-f66f-4311-84a5-19e8bf359ea1';
    await register(id, {
      naam: HOSTILE,
      doel: HOSTILE,
      toelichtingGrondslag: HOSTILE,
      herkomst: HOSTILE,
      afnemendeCategorieOntvangers: [HOSTILE],
    });
    const texts = { actieNaam: HOSTILE, handelingNaam: HOSTILE, verwerkingNaam: HOSTILE, soortAfnemerId: HOSTILE };
    const person = {
      objecttype: 'persoon',
      soortObjectId: 'BSN',
      objectId: bsn,
      betrokkenheid: HOSTILE,
      verwerkteSoortenGegevens: [{ soortGegeven: HOSTILE }],
    };
    const who = { uitvoerder: null, afnemerId: '<b>x</b>', verwerkteObjecten: [person] };
    await log(bsn, { ...texts, ...who, verwerkingsactiviteitId: id });
    for (const verwerkingsactiviteitUrl of [
      'javascript:alert(1)//',
      'https://x.example/"onmouseover=alert(1)',
      'data:text/html,<script>',
      'https://www.gemeente.example@elders.example/uitleg',
    ]) {
      await inzage.call(
        ['create:normal'],
        'POST',
        '/verwerkingsacties',
        actie(bsn, { ...texts, ...who, verwerkingsactiviteitId: null, verwerkingsactiviteitUrl }),
      );
    }
    const citizen = await inzage.loggedIn(bsn);
    const { text } = await read(citizen, OVERVIEW);
    expect(text).toContain('&lt;img src=x onerror=alert(1)&gt;');
    expect(text).not.toMatch(/<(img|script|b)\b/);
    expect(text).not.toMatch(/href="(javascript|data):/i);
    expect(text).not.toMatch(/"\s*onmouseover/);
    // The host of an address with credentials is not what it seems.
    expect(text).not.toContain('elders.example');
    expect(text).not.toContain('\u202e');
  });
});

/** Entries about a person that viewing has left. */
async function looks(bsn: string) {
  const path = `/verwerkingsacties?${ofPerson(bsn, { beperkteSet: 'false', vertrouwelijkheid: 'normaal' })}`;
  const { results } = listIn(await inzage.call(['read:confidential'], 'GET', path, undefined, HEADERS));
  return results.filter(({ handelingNaam }) => handelingNaam === 'Inzage door de betrokkene zelf');
}

describe('a visit', () => {
  it('is logged like every other reading: about the person, by the pages, with no number beside the person’s', async () => {
    const bsn = newBsn();
    const citizen = await inzage.loggedIn(bsn);
    expect(await looks(bsn)).toHaveLength(0);
    await citizen.open(OVERVIEW);
    await citizen.open(`${OVERVIEW}.json`);
    const entries = await looks(bsn);
    expect(entries).toHaveLength(2);
    expect(entries[0]).toMatchObject({
      actieNaam: 'Raadplegen verwerkingenlog',
      systeem: 'Verwerkingenlog',
      vertrouwelijkheid: 'normaal',
      gebruiker: null,
      soortAfnemerId: null,
      afnemerId: null,
      bewaartermijn: 'P10Y',
      verwerkteObjecten: [{ soortObjectId: 'BSN', objectId: bsn }],
    });
    const { text } = await read(citizen, OVERVIEW);
    // This test's own reading is in it as well.
    expect(text).toContain('>4 keer ingezien door uzelf of de organisatie<');
    expect(text).toContain('>U bekeek dit overzicht: 2 keer.<');
    expect(text).not.toMatch(/Raadplegen verwerkingenlog|Inzage door de betrokkene zelf/);
  });

  it('ignores the processing headers, so that it cannot change its own trace', async () => {
    const bsn = newBsn();
    const citizen = await inzage.loggedIn(bsn);
    await citizen.open(OVERVIEW, { headers: { ...HEADERS, Vertrouwelijkheid: 'vertrouwelijk' } });
    expect(await looks(bsn)).toMatchObject([{ vertrouwelijkheid: 'normaal', afnemerId: null }]);
  });
});

it('leaves no trace of confidential entries: the same bytes with and without', async () => {
  const quiet = await startInzage({ provider: inzage.provider, env: { 'verwerkingenlog.logReads': 'false' } });
  try {
    const bsn = newBsn();
    const secret = '5f0bef4c-f66f-4311-84a5-19e8bf359ea2';
    const add = (wishes: Record<string, unknown>) =>
      quiet.call(['create:confidential'], 'POST', '/verwerkingsacties', actie(bsn, wishes));
    for (let i = 0; i < 205; i += 1) {
      expect((await add({ tijdstip: new Date(Date.UTC(2026, 0, 15, 10, i)).toISOString() })).status).toBe(201);
    }
    const citizen = await quiet.loggedIn(bsn);
    const paths = [
      OVERVIEW,
      `${OVERVIEW}?alles=ja`,
      `${OVERVIEW}.json`,
      `${OVERVIEW}?van=2026-03-01&tot=2026-03-31`,
      `${OVERVIEW}?activiteit=${secret}`,
    ];
    const everything = async () => {
      const pages = await Promise.all(paths.slice(0, 2).map((path) => citizen.open(path)));
      for (const path of paths.slice(2)) pages.push(await citizen.open(path));
      const next = /href="([^"]+)" rel="next"/.exec(pages[0]?.text ?? '')?.[1]?.replaceAll('&amp;', '&') ?? '';
      pages.push(await citizen.open(next));
      return pages.map(({ status, text, headers }) => ({
        status,
        text,
        // Except for the session, which is resealed each time, and the date.
        headers: [...headers].filter(([name]) => !['set-cookie', 'date'].includes(name)),
      }));
    };
    const before = await everything();
    expect(before[0]?.text).toContain('205 keer');
    const put = (vertrouwelijkheid: string) => ({
      naam: 'Geheim onderzoek',
      verantwoordelijkeOrganisatie: '00000099000000009999',
      doel: 'Opsporen',
      grondslag: 'Publieke taak',
      vertrouwelijkheid,
    });
    const path = `/verwerkingsactiviteiten/${secret}`;
    expect((await quiet.call(['register:write'], 'PUT', path, put('vertrouwelijk'))).status).toBe(201);
    for (const tijdstip of [
      '2026-01-15T13:30:30Z',
      '2026-03-03T00:00:00Z',
      '2019-01-01T00:00:00Z',
      new Date(Date.now() + 3_600_000).toISOString(),
    ]) {
      const made = await add({ tijdstip, vertrouwelijkheid: 'vertrouwelijk', verwerkingsactiviteitId: secret });
      expect(made.status).toBe(201);
      // One of them is lifted: it was confidential, so it stays out, as in the API.
      const { verwerkingId } = actieIn(made);
      if (tijdstip.startsWith('2019')) {
        const lifted = await quiet.call(
          ['update:confidential'],
          'PATCH',
          `/verwerkingsacties?verwerkingId=${verwerkingId}`,
          { vertrouwelijkheid: 'opgeheven' },
        );
        expect(lifted.status).toBe(204);
      }
    }
    expect(await everything()).toEqual(before);
    // A confidential activity explains nothing of an ordinary action either.
    await add({ tijdstip: '2026-03-04T00:00:00Z', verwerkingsactiviteitId: secret });
    const { text } = await citizen.open(`${OVERVIEW}?activiteit=${secret}`);
    expect(text).toContain('In ons register staat geen uitleg bij dit doel.');
    expect(text).not.toMatch(/Geheim|9999|Opsporen/);
  } finally {
    await quiet.stop();
  }
});

it('keeps the number out of every log line, address, header and cookie', async () => {
  const bsn = newBsn();
  await log(bsn);
  inzage.server.logged.length = 0;
  const citizen = await inzage.loggedIn(bsn);
  const pages = [await citizen.open(OVERVIEW), await citizen.open(`${OVERVIEW}.json`), await citizen.open('/inzage')];
  inzage.provider.lies = { claims: { bsn: `${bsn}x`, aud: [bsn] } };
  await inzage.loggedIn(bsn).catch(() => undefined);
  inzage.provider.lies = { claims: { bsn: `${bsn}x` } };
  await inzage.loggedIn(bsn).catch(() => undefined);
  inzage.provider.lies = { status: 500, body: JSON.stringify({ error: bsn, error_description: bsn }) };
  await inzage.loggedIn(bsn).catch(() => undefined);
  inzage.provider.lies = { status: 400, body: JSON.stringify({ error: bsn, error_description: bsn }) };
  await inzage.loggedIn(bsn).catch(() => undefined);
  inzage.provider.lies = {};
  pages.push(await citizen.open('/inzage/uitloggen', { method: 'POST' }));
  const lines = inzage.server.logged.map((line) => JSON.stringify(line));
  expect(lines.filter((line) => line.includes('could not be logged in'))).toHaveLength(4);
  expect(lines.filter((line) => line.includes('/inzage/overzicht')).length).toBeGreaterThanOrEqual(2);
  expect(lines.filter((line) => line.includes(bsn))).toEqual([]);
  for (const { text, headers, location } of pages) {
    expect(`${text} ${location} ${JSON.stringify([...headers])}`).not.toContain(bsn);
  }
  const metrics = await (await fetch(`${inzage.server.managementUrl}/metrics`)).text();
  expect(metrics).toMatch(/koppelvlak_inzage_logins_total\{result="ok"[,}]/);
  expect(metrics).not.toContain(bsn);
});
