/** A citizen's session: whose it is, how long it lasts, and that it ends completely. */
import { EncryptJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { actie } from '../support.ts';
import { type Browser, type InzageServer, leave, newBsn, SESSION_KEY, startInzage } from './support.ts';

const MINUTE = 60_000;
let database: TestDatabase;
let inzage: InzageServer;
/** A second instance, which shares only the settings and the database. */
let other: InzageServer;

beforeAll(async () => {
  database = await createDatabase();
  inzage = await startInzage({ databaseUrl: database.url });
  other = await startInzage({ databaseUrl: database.url, clock: inzage.clock });
});
afterAll(async () => {
  await inzage?.stop();
  await other?.stop();
  await database?.drop();
});

const OVERVIEW = '/inzage/overzicht';
const statusOf = async (browser: Browser): Promise<number> => (await browser.open(OVERVIEW)).status;

describe('a session', () => {
  it('is required for everything personal, and for nothing else', async () => {
    for (const path of [OVERVIEW, `${OVERVIEW}.json`]) {
      const page = await inzage.browser().open(path);
      expect(page.status).toBe(401);
      expect(page.text).toContain('Inloggen');
    }
    expect((await inzage.browser().open('/inzage')).status).toBe(200);
  });

  it('belongs to one browser: two at once see their own, and logging out of one leaves the other', async () => {
    const [first, second] = [newBsn(), newBsn()];
    for (const [bsn, actieNaam] of [
      [first, 'Van de eerste'],
      [second, 'Van de tweede'],
    ]) {
      await inzage.call(['create:normal'], 'POST', '/verwerkingsacties', actie(bsn ?? '', { actieNaam }));
    }
    const [one, two] = [await inzage.loggedIn(first), await inzage.loggedIn(second)];
    const again = await inzage.loggedIn(first);
    const [ofOne, ofTwo] = await Promise.all([one.open(OVERVIEW), two.open(OVERVIEW)]);
    expect(ofOne.text).toContain('Van de eerste');
    expect(ofOne.text).not.toContain('Van de tweede');
    expect(ofTwo.text).toContain('Van de tweede');
    expect(ofTwo.text).not.toContain('Van de eerste');
    await one.open('/inzage/uitloggen', { method: 'POST' });
    expect([await statusOf(one), await statusOf(again), await statusOf(two)]).toEqual([401, 200, 200]);
  });

  it('ends fifteen minutes after the last request, and says so', async () => {
    const citizen = await inzage.loggedIn(newBsn());
    for (let i = 0; i < 3; i += 1) {
      inzage.clock.forward(14 * MINUTE);
      expect(await statusOf(citizen)).toBe(200);
    }
    const kept = citizen.copy();
    inzage.clock.forward(15 * MINUTE + 1000);
    const page = await citizen.open(OVERVIEW);
    expect(page.status).toBe(401);
    expect(page.text).toContain('U bent uitgelogd, omdat u een tijd niets deed');
    expect(await statusOf(kept)).toBe(401);
  });

  it('ends after an hour, whatever the citizen does', async () => {
    const citizen = await inzage.loggedIn(newBsn());
    for (let i = 0; i < 5; i += 1) {
      inzage.clock.forward(11 * MINUTE);
      expect(await statusOf(citizen)).toBe(200);
    }
    inzage.clock.forward(5 * MINUTE + 1000);
    expect(await statusOf(citizen)).toBe(401);
  });

  it('works on another instance, and ends on both by logging out, even for a copied cookie', async () => {
    const citizen = await inzage.loggedIn(newBsn());
    const elsewhere = other.browser();
    for (const [name, value] of citizen.cookies) elsewhere.cookies.set(name, value);
    expect(await statusOf(elsewhere)).toBe(200);
    const thief = citizen.copy();
    expect(await statusOf(thief)).toBe(200);
    const out = await citizen.open('/inzage/uitloggen', { method: 'POST' });
    expect([out.status, out.location]).toEqual([303, '/inzage/uitgelogd']);
    expect(citizen.cookies.size).toBe(0);
    expect((await citizen.open('/inzage/uitgelogd')).text).toContain('U bent uitgelogd.');
    expect(await statusOf(thief)).toBe(401);
    expect(await statusOf(elsewhere)).toBe(401);
  });

  it('cannot be logged out from another site', async () => {
    const citizen = await inzage.loggedIn(newBsn());
    for (const site of ['cross-site', 'same-site']) {
      const out = await citizen
        .copy()
        .open('/inzage/uitloggen', { method: 'POST', headers: { 'sec-fetch-site': site } });
      expect(out.status).toBe(403);
    }
    expect((await citizen.copy().open('/inzage/uitloggen')).status).toBe(405);
    expect(await statusOf(citizen)).toBe(200);
    const form = { method: 'POST', headers: { 'sec-fetch-site': 'same-origin' }, body: new URLSearchParams() };
    expect((await citizen.open('/inzage/uitloggen', form)).status).toBe(303);
  });

  it('cannot be forged, modified, or taken from another cookie', async () => {
    const citizen = await inzage.loggedIn(newBsn());
    const good = citizen.cookies.get('inzage') ?? '';
    const claims = { jti: '0198aaaa-0000-7000-8000-000000000000', bsn: newBsn(), until: Date.now() + 1e6 };
    const made = new EncryptJWT(claims).setProtectedHeader({ alg: 'dir', enc: 'A256GCM' }).setExpirationTime('5m');
    const login = inzage.browser();
    await leave(login, newBsn());
    const wrong = [
      ...Array.from({ length: 8 }, (_, i) => flip(good, Math.floor(((i + 0.5) * good.length) / 8))),
      good.slice(0, -4),
      `${good}x`,
      'x'.repeat(5000),
      '',
      await made.encrypt(Buffer.alloc(32, 1)),
      await made.encrypt(Buffer.from(SESSION_KEY, 'base64')),
      Buffer.from(JSON.stringify(claims)).toString('base64url'),
      login.cookies.get('inzage-inloggen') ?? '',
    ];
    for (const value of wrong) {
      const forger = inzage.browser();
      forger.cookies.set('inzage', value);
      expect(await statusOf(forger)).toBe(401);
    }
    expect(await statusOf(citizen)).toBe(200);
  });

  it('is kept in a cookie that scripts cannot read, that other sites do not send, and that reveals nothing', async () => {
    const bsn = newBsn();
    const citizen = inzage.browser();
    const back = await citizen.open(await leave(citizen, bsn));
    const [line = ''] = back.headers.getSetCookie().filter((cookie) => cookie.startsWith('inzage='));
    expect(line).toMatch(/; Path=\/inzage; HttpOnly; SameSite=Lax$/);
    expect(line).not.toContain(bsn);
    expect(Buffer.from(line, 'base64').toString('latin1')).not.toContain(bsn);
    expect(line).not.toContain(Buffer.from(bsn).toString('base64url').slice(1, -2));
  });

  it('is sent over TLS only, under a name that no other host can plant, if the pages use TLS', async () => {
    const secure = await startInzage({ env: { PUBLIC_BASE_URL: 'https://inzage.example' } });
    try {
      const citizen = await secure.loggedIn(newBsn());
      expect([...citizen.cookies.keys()]).toEqual(['__Host-inzage']);
      const page = await citizen.open(OVERVIEW);
      expect(page.headers.getSetCookie()[0]).toMatch(/^__Host-inzage=[^;]+; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
      citizen.cookies.set('inzage', citizen.cookies.get('__Host-inzage') ?? '');
      citizen.cookies.delete('__Host-inzage');
      expect(await statusOf(citizen)).toBe(401);
    } finally {
      await secure.stop();
    }
  });
});

/** The text with another character at a position. */
function flip(text: string, at: number): string {
  const character = text[at] === 'A' ? 'B' : 'A';
  return text.slice(0, at) + character + text.slice(at + 1);
}
