/** Values that the fields of an action accept and refuse, at the limits. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actie, type LogServer, newPerson, startLog } from './support.ts';

let log: LogServer;

beforeAll(async () => {
  log = await startLog();
});
afterAll(() => log?.stop());

/** The field as stored, or the status of a refusal that names only this field. */
async function kept(name: string, value: unknown): Promise<unknown> {
  const answer = await log.call(['create:normal'], 'POST', '/verwerkingsacties', actie(newPerson(), { [name]: value }));
  if (answer.status === 201) return Object(answer.json)[name];
  const faults: { name: string }[] = Object(answer.json).invalidParams;
  return faults.length > 0 && faults.every((fault) => fault.name === name) ? answer.status : answer.text;
}

describe('bewaartermijn', () => {
  it.each(['P10Y', 'P1Y2M10DT2H30M', 'P1W', 'P0Y1D', 'PT36H', 'P1000Y', 'P12000M', 'PT99999H99999M99999S'])(
    'accepts %s',
    async (text) => expect(await kept('bewaartermijn', text)).toBe(text),
  );
  it.each([
    '',
    'P',
    'PT',
    'P1YT',
    '-P1D',
    'P-1D',
    'p1y',
    'P1D1Y',
    'P1Y1W',
    'P1S',
    ' P1D',
    'P1D\n',
    'P100000Y',
    'P0001-01-01T00:00:00',
    'P0.5Y',
    'P0D',
    'PT0S',
    'P1000Y1D',
    'P99999W',
    'P99999Y99999M99999DT99999H99999M99999S',
    'P1,5D',
    10,
  ])('refuses %j', async (text) => expect(await kept('bewaartermijn', text)).toBe(400));
});

describe('tijdstip', () => {
  it.each([
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00Z'],
    ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00Z'],
    ['2026-03-29T02:30:00+01:00', '2026-03-29T02:30:00+01:00'],
    ['2026-10-25T02:30:00+02:00', '2026-10-25T02:30:00+02:00'],
    ['2026-01-01t12:00:00z', '2026-01-01T12:00:00Z'],
    ['2026-01-01T12:00:00+23:59', '2026-01-01T12:00:00+23:59'],
    ['2026-01-01T12:00:00-00:00', '2026-01-01T12:00:00-00:00'],
    ['2026-01-01T12:00:00.123456789Z', '2026-01-01T12:00:00.123Z'],
  ])('%s is stored as %s', async (text, moment) => expect(await kept('tijdstip', text)).toBe(moment));

  it.each([
    '2026-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-06-31T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T12:00:60Z',
    '2016-12-31T23:59:60Z',
    '2026-01-01 12:00:00Z',
    '2026-01-01T12:00:00',
    '2026-01-01T12:00:00+0100',
    '2026-01-01T12:00:00+01',
    '2026-01-01T12:00:00+24:00',
    '2026-01-01T12:00Z',
    '2026-01-01T12:00:00,5Z',
    '2026-01-01',
    '0000-12-31T23:59:59-01:00',
    '0001-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59.999Z',
    '9999-12-31T23:59:59-00:01',
    '10000-01-01T00:00:00Z',
    '+002026-01-01T00:00:00Z',
    '',
    null,
    1768484142,
  ])('refuses %j', async (text) => expect(await kept('tijdstip', text)).toBe(400));
});

describe('identities', () => {
  const uuid = randomUUID();
  it.each(['verwerkingId', 'verwerkingsactiviteitId', 'verwerkingIdAfnemer', 'verwerkingsactiviteitIdAfnemer'])(
    '%s is a UUID in either case, and nothing else',
    async (name) => {
      expect(await kept(name, uuid.toUpperCase())).toBe(uuid);
      expect(await kept(name, null)).toBeNull();
      for (const other of [`urn:uuid:${uuid}`, `{${uuid}}`, uuid.replaceAll('-', ''), `${uuid}\n`, ` ${uuid}`, '', 5]) {
        expect(await kept(name, other), String(other)).toBe(400);
      }
    },
  );

  it('uitvoerder is twenty digits', async () => {
    expect(await kept('uitvoerder', '0'.repeat(20))).toBe('0'.repeat(20));
    for (const other of [
      '1'.repeat(19),
      '1'.repeat(21),
      `${'1'.repeat(20)}\n`,
      '٣'.repeat(20),
      `${'1'.repeat(19)}x`,
      '',
      1e19,
    ]) {
      expect(await kept('uitvoerder', other), String(other)).toBe(400);
    }
  });

  it('soortAfnemerId is anything of a reasonable length, or nothing', async () => {
    for (const kind of ['OIN', 'BSN', 'oin', 'KvK', '', null]) expect(await kept('soortAfnemerId', kind)).toBe(kind);
    for (const other of ['K'.repeat(243), 7]) expect(await kept('soortAfnemerId', other)).toBe(400);
  });
});

describe('texts', () => {
  it.each([
    ['actieNaam', 242],
    ['handelingNaam', 242],
    ['verwerkingNaam', 242],
    ['systeem', 242],
    ['gegevensbron', 242],
    ['gebruiker', 40],
    ['afnemerId', 40],
  ])('%s has at most %i characters, whatever their size', async (name, most) => {
    for (const character of ['x', 'é', '😀']) {
      expect(await kept(name, character.repeat(most))).toBe(character.repeat(most));
      expect(await kept(name, character.repeat(most + 1))).toBe(400);
    }
    expect(await kept(name, 'a\0')).toBe(400);
    expect(await kept(name, '')).toBe('');
  });

  it.each(['verwerkingsactiviteitUrl', 'verwerkingsactiviteitUrlAfnemer'])(
    '%s is an address of at most 2042 characters',
    async (name) => {
      const address = (length: number) => 'https://x/'.padEnd(length, 'a');
      expect(await kept(name, address(2042))).toBe(address(2042));
      for (const other of [address(2043), 'x', '/relative', 'https://x/é', 'https://x y', ''])
        expect(await kept(name, other), other).toBe(400);
    },
  );

  it('vertrouwelijkheid is accepted in any case and returned in lower case', async () => {
    expect(await kept('vertrouwelijkheid', 'NorMaal')).toBe('normaal');
    for (const other of ['geheim', 'normaal ', '', null, ['normaal']])
      expect(await kept('vertrouwelijkheid', other)).toBe(400);
  });
});

describe('a query', () => {
  it.each([
    'objectId=2',
    'limit=1&limit=1',
    'limit=0',
    'limit=1001',
    'limit=1e2',
    'limit=',
    'limit=-1',
    'beperkteSet=1',
    'beperkteSet=',
    'beperkteSet=true&beperkteSet=false',
    'vertrouwelijkheid=',
    'vertrouwelijkheid=normaal,opgeheven',
    'vertrouwelijkheid__in=normaal,',
    'vertrouwelijkheid__in=',
    'vertrouwelijkheid__in=normaal&vertrouwelijkheid__in=normaal',
    '__proto__=1',
    'constructor=1',
    'x[]=1',
    'verwerkingsactiviteitId=urn:uuid:5f0bef4c-f66f-4311-84a5-19e8bf359eaf',
    'cursor=',
    'cursor=%00',
    'objecttype=persoon',
  ])('with %s is refused', async (more) => {
    const path = `/verwerkingsacties?objecttype=PERSOON&soortObjectId=BSN&objectId=1&${more}`;
    expect((await log.call(['read:confidential'], 'GET', path)).status).toBe(400);
  });

  it.each([
    ['vertrouwelijkheid=normaal&vertrouwelijkheid__in=NORMAAL', 200],
    ['vertrouwelijkheid=normaal&vertrouwelijkheid__in=opgeheven', 403],
    ['vertrouwelijkheid=normaal&vertrouwelijkheid=vertrouwelijk', 403],
    ['vertrouwelijkheid=normaal&%6Cimit=1', 200],
    ['limit=1000', 200],
  ])('with %s and read:restricted gets %i', async (more, status) => {
    const path = `/verwerkingsacties?objecttype=persoon&soortObjectId=BSN&objectId=1&${more}`;
    expect((await log.call(['read:restricted'], 'GET', path)).status).toBe(status);
    expect((await log.call(['read:restricted'], 'HEAD', path)).status).toBe(status);
  });
});
