/** An action dated far ahead would outlive its term; the database's clock decides what is far ahead. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { startTokens, type TestTokens } from '../support/tokens.ts';
import { FORMS, type LdvServer, line, startLdv } from './ldv/support.ts';
import { actie, actieIn, HEADERS, newPerson } from './support.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const SECONDS = Math.floor(Date.now() / 1000);
const VALID = { iat: SECONDS - 800 * 86_400, exp: SECONDS + 800 * 86_400 };
const ALL = ['create:normal', 'update:normal', 'read:normal'];
let database: TestDatabase;
let tokens: TestTokens;

beforeAll(async () => {
  database = await createDatabase();
  const issuer = await startTokens();
  // Its tokens are valid by every clock of this test.
  const token: TestTokens['token'] = (scopes) => issuer.token(scopes, { claims: VALID });
  tokens = { ...issuer, token, bearer: async (scopes) => ({ authorization: `Bearer ${await token(scopes)}` }) };
});
afterAll(async () => {
  await tokens?.close();
  await database?.drop();
});

describe.each([
  ['right', 0],
  ['a year ahead', 365 * DAY],
  ['a year behind', -365 * DAY],
])('with a clock that is %s', (_how, wrong) => {
  let log: LdvServer;
  beforeAll(async () => {
    log = await startLdv({ databaseUrl: database.url, tokens, clock: { now: () => new Date(Date.now() + wrong) } });
  });
  afterAll(() => log?.stop());

  const at = (ahead: number) => new Date(Date.now() + ahead).toISOString();

  it('an action is stored up to 24 hours ahead, and refused beyond that', async () => {
    for (const ahead of [0, 23 * HOUR]) {
      const answer = await log.call(ALL, 'POST', '/verwerkingsacties', actie(newPerson(), { tijdstip: at(ahead) }));
      expect(answer.status, String(ahead)).toBe(201);
    }
    const far = actie(newPerson(), { tijdstip: at(25 * HOUR) });
    const refused = await log.call(ALL, 'POST', '/verwerkingsacties', far);
    expect(refused.status).toBe(400);
    expect(refused.json).toMatchObject({ invalidParams: [{ name: 'tijdstip', code: 'range' }] });
    const body = actie(newPerson());
    const { actieId } = actieIn(await log.call(ALL, 'POST', '/verwerkingsacties', body));
    const path = `/verwerkingsacties/${actieId}`;
    expect((await log.call(ALL, 'PUT', path, { ...body, tijdstip: far.tijdstip })).status).toBe(400);
    expect(await log.call(ALL, 'GET', path, undefined, HEADERS)).toMatchObject({ json: { tijdstip: body.tijdstip } });
  });

  it.each(FORMS)('a line is stored up to 24 hours ahead, and rejected beyond that (%s)', async (form) => {
    const span = (start: number, end = start) =>
      line({ start: BigInt(Date.now() + start) * 1_000_000n, end: BigInt(Date.now() + end) * 1_000_000n });
    const [now, near, far, longer] = [span(0), span(23 * HOUR), span(25 * HOUR), span(0, 25 * HOUR)];
    const { status, answer } = await log.send([now, near, far, longer], { form });
    expect([status, answer?.rejectedSpans]).toEqual([200, 2]);
    for (const { spanId } of [far, longer])
      expect(answer?.errorMessage).toContain(`${spanId}: een tijd ligt meer dan 24 uur in de toekomst`);
  });
});
