import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actie, actieIn, HEADERS, type LogServer, listIn, newPerson, ofPerson, startLog } from './support.ts';

let log: LogServer;

beforeAll(async () => {
  log = await startLog();
});
afterAll(() => log?.stop());

const READ = ['read:confidential'];
const NORMAL = { vertrouwelijkheid: 'normaal' };

/** Entries that readings left about a person; asking for them leaves one more, which is not in this answer. */
async function readings(person: string, query: Record<string, string> = {}) {
  const path = `/verwerkingsacties?${ofPerson(person, { beperkteSet: 'false', ...query })}`;
  const { results } = listIn(await log.call(READ, 'GET', path, undefined, HEADERS));
  return results.filter(({ actieNaam }) => actieNaam === 'Raadplegen verwerkingenlog');
}

describe('reading the log', () => {
  it('leaves an entry with what the headers said, about the person', async () => {
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
        bewaartermijn: 'P3Y',
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

  it('keeps a look at confidential actions confidential, unless the consumer says otherwise', async () => {
    const person = newPerson();
    const path = `/verwerkingsacties?${ofPerson(person)}`;
    await log.call(READ, 'GET', path);
    await log.call(READ, 'GET', path, undefined, HEADERS);
    expect(await readings(person, NORMAL)).toHaveLength(1);
    expect(await readings(person, { vertrouwelijkheid: 'vertrouwelijk' })).toHaveLength(1);
  });

  it('leaves nothing when the reading is refused', async () => {
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
      403,
    );
    expect(await readings(person)).toHaveLength(0);
  });

  it('leaves nothing with VERWERKINGENLOG_LOG_READS=false', async () => {
    const silent = await startLog({ env: { VERWERKINGENLOG_LOG_READS: 'false' } });
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

  it('are named in a warning when they are missing', async () => {
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
      Number(/^processing_headers_missing_total\{header="OIN"\} (\d+)/m.exec(await metrics())?.[1] ?? 0);
    const before = await count();
    await log.call(READ, 'GET', path());
    expect(await count()).toBe(before + 1);
  });

  it('are all named when they are malformed', async () => {
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

  it('may not name another organisation than the token', async () => {
    const call = async (oin: string) => {
      const token = await log.tokens.bearer(READ, { subject: '00000099000000003000' });
      return log.api.call('GET', path(), { headers: { ...token, ...HEADERS, OIN: oin } });
    };
    expect((await call('00000099000000003000')).status).toBe(200);
    expect(await call(HEADERS.OIN)).toMatchObject({ status: 403, json: { code: 'forbidden' } });
  });

  it('are demanded with PROCESSING_HEADERS=required', async () => {
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
