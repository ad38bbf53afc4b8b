import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actie, actieIn, EVERY, HEADERS, type LogServer, listIn, newPerson, ofPerson, startLog } from './support.ts';

let log: LogServer;

beforeAll(async () => {
  log = await startLog();
});
afterAll(() => log?.stop());

const READ = ['read:confidential'];
const NORMAL = { vertrouwelijkheid: 'normaal' };

/** Entries about a person left by readings; requesting them adds one more, which is not in this answer. */
async function readings(person: string, query: Record<string, string> = {}) {
  const path = `/verwerkingsacties?${ofPerson(person, { beperkteSet: 'false', ...query })}`;
  const { results } = listIn(await log.call(READ, 'GET', path, undefined, HEADERS));
  return results.filter(({ actieNaam }) => actieNaam === 'Raadplegen verwerkingenlog');
}

describe('reading the log', () => {
  it('leaves an entry with the headers, about the person', async () => {
    const person = newPerson();
    const headers = {
      oin: '00000099000000001000',
      verwerkingsactiviteitid: '5f0bef4c-f66f-4311-84a5-19e8bf359eaf',
      verwerkingsactiviteiturl: 'https://register.example/5f0bef4c',
      verwerkingid: '48086BF2-11b7-4603-9526-67d7c3bb6587',
      vertrouwelijkheid: 'NORMAAL',
      bewaartermijn: 'P3Y',
    };
    const path = `/verwerkingsacties?${ofPerson(person, NORMAL)}`;
    expect((await log.call(['read:restricted'], 'GET', path, undefined, headers)).status).toBe(200);
    expect(await readings(person)).toMatchObject([
      {
        actieNaam: 'Raadplegen verwerkingenlog',
        soortAfnemerId: 'OIN',
        afnemerId: '00000099000000001000',
        verwerkingsactiviteitIdAfnemer: '5f0bef4c-f66f-4311-84a5-19e8bf359eaf',
        verwerkingsactiviteitUrlAfnemer: 'https://register.example/5f0bef4c',
        verwerkingIdAfnemer: '48086bf2-11b7-4603-9526-67d7c3bb6587',
        vertrouwelijkheid: 'normaal',
        // Shorter than our own, so ours applies.
        bewaartermijn: 'P10Y',
        verwerkteObjecten: [{ objectId: person }],
      },
    ]);
  });

  it('leaves one entry for each of the four reading calls', async () => {
    const person = newPerson();
    const { actieId } = actieIn(await log.call(['create:normal'], 'POST', '/verwerkingsacties', actie(person)));
    for (const path of [
      `/verwerkingsacties?${ofPerson(person, NORMAL)}`,
      `/verwerkingsacties/${actieId}`,
      `/verwerkte-objecten?${ofPerson(person)}`,
      `/verwerkte-objecten/${actieId.slice(0, 32)}0001`,
    ]) {
      expect((await log.call(['read:normal'], 'GET', path, undefined, HEADERS)).status).toBe(200);
    }
    expect(await readings(person)).toHaveLength(4);
  });

  const keepConfidential = (person: string) =>
    log.call(
      ['create:confidential'],
      'POST',
      '/verwerkingsacties',
      actie(person, { vertrouwelijkheid: 'vertrouwelijk' }),
    );

  it('of confidential actions is confidential, whatever the consumer says', async () => {
    const person = newPerson();
    await keepConfidential(person);
    const path = `/verwerkingsacties?${ofPerson(person, EVERY)}`;
    await log.call(READ, 'GET', path);
    await log.call(READ, 'GET', path, undefined, HEADERS);
    expect(await readings(person, NORMAL)).toHaveLength(0);
    expect(await readings(person, { vertrouwelijkheid: 'vertrouwelijk' })).toHaveLength(2);
  });

  it('that could have shown confidential actions but showed none is not hidden from the person', async () => {
    const person = newPerson();
    await log.call(['create:normal'], 'POST', '/verwerkingsacties', actie(person));
    for (const query of [
      {},
      { vertrouwelijkheid: 'vertrouwelijk' },
      { vertrouwelijkheid__in: 'normaal,vertrouwelijk' },
    ]) {
      await log.call(READ, 'GET', `/verwerkingsacties?${ofPerson(person, query)}`, undefined, HEADERS);
    }
    const seen = listIn(
      await log.call(['read:restricted'], 'GET', `/verwerkte-objecten?${ofPerson(person)}`, undefined, HEADERS),
    );
    expect(seen.results.map(({ verwerkingsactie }) => Object(verwerkingsactie).actieNaam)).toEqual([
      'Raadplegen verwerkingenlog',
      'Raadplegen verwerkingenlog',
      'Raadplegen verwerkingenlog',
      'Zoeken persoon',
    ]);
  });

  it('is judged per page: the next one, with confidential actions on it, is', async () => {
    const person = newPerson();
    const at = (tijdstip: string, vertrouwelijkheid: string) =>
      log.call(['create:confidential'], 'POST', '/verwerkingsacties', actie(person, { tijdstip, vertrouwelijkheid }));
    const hours = (ahead: number) => new Date(Date.now() + ahead * 3_600_000).toISOString();
    await at(hours(2), 'normaal');
    await at(hours(1), 'vertrouwelijk');
    const first = listIn(
      await log.call(
        READ,
        'GET',
        `/verwerkingsacties?${ofPerson(person, { ...EVERY, limit: '1' })}`,
        undefined,
        HEADERS,
      ),
    );
    expect(await readings(person, NORMAL)).toHaveLength(1);
    const { search } = new URL(first.next ?? '');
    await log.call(READ, 'GET', `/verwerkingsacties${search}`, undefined, HEADERS);
    expect(await readings(person, { vertrouwelijkheid: 'vertrouwelijk' })).toHaveLength(1);
  });

  it.each([
    [['read:normal'], 'normaal'],
    [['read:normal', 'create:normal'], 'normaal'],
    [['read:normal', 'create:confidential'], 'vertrouwelijk'],
  ])('of non-confidential actions is hidden only if the token may hide it: %j', async (scopes, vertrouwelijkheid) => {
    const person = newPerson();
    const path = `/verwerkingsacties?${ofPerson(person, { ...NORMAL, beperkteSet: 'false' })}`;
    const headers = { ...HEADERS, Vertrouwelijkheid: 'vertrouwelijk' };
    expect((await log.call(scopes, 'GET', path, undefined, headers)).status).toBe(200);
    expect(await readings(person, { vertrouwelijkheid })).toHaveLength(1);
  });

  it.each([
    ['P1D', 'P10Y'],
    ['P11Y', 'P11Y'],
    ['P20Y', 'P20Y'],
    ['P21Y', 'P20Y'],
    ['P999Y', 'P20Y'],
    ['P3654D', 'P3654D'],
    [undefined, 'P10Y'],
  ])('is kept, where the consumer says %s, for %s', async (asked, kept) => {
    const person = newPerson();
    const { Bewaartermijn: _, ...others } = HEADERS;
    const headers = asked === undefined ? others : { ...others, Bewaartermijn: asked };
    await log.call(['read:normal'], 'GET', `/verwerkingsacties?${ofPerson(person, NORMAL)}`, undefined, headers);
    expect(await readings(person, NORMAL)).toMatchObject([{ bewaartermijn: kept }]);
  });

  it('belongs to a new processing each time, and to an activity in the register', async () => {
    const person = newPerson();
    const path = `/verwerkingsacties?${ofPerson(person, NORMAL)}`;
    for (let i = 0; i < 2; i += 1) await log.call(['read:normal'], 'GET', path, undefined, HEADERS);
    const entries = await readings(person, NORMAL);
    expect(entries).toHaveLength(2);
    for (const entry of entries) {
      expect(entry.verwerkingId).toMatch(/^[0-9a-f]{8}-/);
      expect(entry.verwerkingIdAfnemer).toBe(HEADERS.VerwerkingId);
      const activity = await log.call(READ, 'GET', `/verwerkingsactiviteiten/${entry.verwerkingsactiviteitId}`);
      expect(activity.status).toBe(200);
    }
    expect(new Set([HEADERS.VerwerkingId, ...entries.map(({ verwerkingId }) => verwerkingId)]).size).toBe(3);
  });

  it('can be found by the officer and retained or lifted by its processing, like any other', async () => {
    const person = newPerson();
    const all = ['read:confidential', 'update:confidential'];
    const kept = actieIn(await keepConfidential(person));
    await log.call(READ, 'GET', `/verwerkingsacties?${ofPerson(person, EVERY)}`, undefined, HEADERS);
    const [entry] = await readings(person, { vertrouwelijkheid: 'vertrouwelijk' });
    const path = `/verwerkingsacties?verwerkingId=${entry?.verwerkingId}`;
    const change = { vertrouwelijkheid: 'opgeheven', bewaartermijn: 'P30Y' };
    expect((await log.call(all, 'PATCH', path, change)).status).toBe(204);
    expect(kept.verwerkingId).not.toBe(entry?.verwerkingId);
    const seen = listIn(
      await log.call(['read:confidential'], 'GET', `/verwerkte-objecten?${ofPerson(person)}`, undefined, HEADERS),
    );
    expect(seen.results).toMatchObject([
      { verwerkingsactie: { bewaartermijn: 'P30Y', vertrouwelijkheid: 'opgeheven' } },
    ]);
  });

  it('belongs to the configured activity', async () => {
    const own = '0f5d1a40-6c0e-4f1c-9a52-6a4f7f1f2a10';
    const configured = await startLog({ env: { VERWERKINGENLOG_OWN_ACTIVITIES: `log=${own}` } });
    try {
      const person = newPerson();
      const path = `/verwerkingsacties?${ofPerson(person, NORMAL)}`;
      for (let i = 0; i < 2; i += 1) await configured.call(READ, 'GET', path, undefined, HEADERS);
      const { results } = listIn(await configured.call(READ, 'GET', path, undefined, HEADERS));
      expect(results[0]).toMatchObject({ verwerkingsactiviteitId: own });
    } finally {
      await configured.stop();
    }
  });

  it('leaves nothing when it is refused', async () => {
    const person = newPerson();
    const { actieId } = actieIn(
      await log.call(
        ['create:confidential'],
        'POST',
        '/verwerkingsacties',
        actie(person, { vertrouwelijkheid: 'vertrouwelijk' }),
      ),
    );
    expect((await log.call(['read:normal'], 'GET', `/verwerkingsacties/${actieId}`, undefined, HEADERS)).status).toBe(
      404,
    );
    expect(await readings(person)).toHaveLength(0);
  });

  it('leaves nothing when readings are not logged', async () => {
    const silent = await startLog({ env: { 'verwerkingenlog.logReads': 'false' } });
    try {
      const path = `/verwerkingsacties?${ofPerson('999990019')}`;
      for (let i = 0; i < 2; i += 1) expect(listIn(await silent.call(READ, 'GET', path)).count).toBe(0);
    } finally {
      await silent.stop();
    }
  });
});

describe('the six headers', () => {
  const path = () => `/verwerkte-objecten?${ofPerson(newPerson())}`;
  const missing = async (headers: Record<string, string>) => {
    const before = log.server.logged.length;
    const answer = await log.call(READ, 'GET', path(), undefined, headers);
    const line = log.server.logged.slice(before).find(({ msg }) => msg === 'processing headers are missing');
    return { status: answer.status, level: line?.level, missing: line?.missing };
  };

  it('cause a warning when they are missing', async () => {
    expect(await missing({})).toEqual({ status: 200, level: 40, missing: ['OIN', 'VerwerkingId'] });
    expect(await missing({ OIN: HEADERS.OIN })).toMatchObject({ missing: ['VerwerkingId'] });
    expect(await missing({ VerwerkingId: HEADERS.VerwerkingId })).toMatchObject({
      missing: ['OIN', 'Vertrouwelijkheid', 'Bewaartermijn'],
    });
    expect(await missing({ ...HEADERS, Bewaartermijn: '' })).toMatchObject({ status: 400 });
    expect(await missing(HEADERS)).toEqual({ status: 200 });
  });

  it('are counted when they are missing', async () => {
    const metrics = async () => (await fetch(`${log.server.managementUrl}/metrics`)).text();
    const count = async () =>
      Number(/^koppelvlak_processing_headers_missing_total\{header="OIN"\} (\d+)/m.exec(await metrics())?.[1] ?? 0);
    const before = await count();
    await log.call(READ, 'GET', path());
    expect(await count()).toBe(before + 1);
  });

  it('are all reported when they are malformed', async () => {
    const wrong = {
      OIN: '1234',
      VerwerkingsactiviteitId: 'x',
      VerwerkingsactiviteitUrl: 'no address',
      VerwerkingId: 'y',
      Vertrouwelijkheid: 'geheim',
      Bewaartermijn: '10 jaar',
    };
    const answer = await log.call(READ, 'GET', path(), undefined, wrong);
    expect(answer.status).toBe(400);
    const names = Object(answer.json).invalidParams.map(({ name }: { name: string }) => name);
    expect(new Set(names)).toEqual(new Set(Object.keys(wrong)));
  });

  it.each(['PT0S', 'P0D', 'P1001Y', 'P12001M'])('may not request a term of %s', async (Bewaartermijn) => {
    const answer = await log.call(READ, 'GET', path(), undefined, { ...HEADERS, Bewaartermijn });
    expect(answer.json).toMatchObject({ status: 400, invalidParams: [{ name: 'Bewaartermijn' }] });
  });

  it.each(['opgeheven', 'OPGEHEVEN'])('may not be %s: nothing is logged like that', async (Vertrouwelijkheid) => {
    for (const query of [path(), `/verwerkingsacties?${ofPerson(newPerson())}`]) {
      const answer = await log.call(READ, 'GET', query, undefined, { ...HEADERS, Vertrouwelijkheid });
      expect(answer.json).toMatchObject({ status: 400, invalidParams: [{ name: 'Vertrouwelijkheid' }] });
    }
  });

  it.each([
    ['the token, when the header agrees', '00000099000000003000', HEADERS.OIN],
    ['the token, when there is no header', '00000099000000003000', undefined],
    ['the header, when the token proves no OIN', 'balie', HEADERS.OIN],
  ])('identify the caller: %s', async (_title, subject, header) => {
    const person = newPerson();
    const { OIN: _, ...others } = HEADERS;
    const proven = /^\d{20}$/.test(subject) ? subject : undefined;
    const oin = header === undefined ? undefined : (proven ?? header);
    const token = await log.tokens.bearer(READ, { subject });
    await log.api.call('GET', `/verwerkingsacties?${ofPerson(person, NORMAL)}`, {
      headers: { ...token, ...others, ...(oin === undefined ? {} : { OIN: oin }) },
    });
    expect(await readings(person, NORMAL)).toMatchObject([{ soortAfnemerId: 'OIN', afnemerId: proven ?? header }]);
  });

  it("may not name an organisation other than the token's", async () => {
    const call = async (oin: string) => {
      const token = await log.tokens.bearer(READ, { subject: '00000099000000003000' });
      return log.api.call('GET', path(), { headers: { ...token, ...HEADERS, OIN: oin } });
    };
    expect((await call('00000099000000003000')).status).toBe(200);
    expect(await call(HEADERS.OIN)).toMatchObject({ status: 403, json: { code: 'forbidden' } });
  });

  it('are required with PROCESSING_HEADERS=required', async () => {
    const strict = await startLog({ env: { PROCESSING_HEADERS: 'required' } });
    try {
      const refused = await strict.call(READ, 'GET', path(), undefined, { Bewaartermijn: 'P1Y' });
      expect(refused.json).toMatchObject({
        status: 400,
        invalidParams: [
          { name: 'OIN', code: 'required' },
          { name: 'VerwerkingId', code: 'required' },
        ],
      });
      const { OIN, VerwerkingId } = HEADERS;
      expect((await strict.call(READ, 'GET', path(), undefined, { OIN, VerwerkingId })).status).toBe(200);
    } finally {
      await strict.stop();
    }
  });
});
