/** Citizen login: only the person that the provider names, once, in the browser that started it. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Browser, type InzageServer, type Lies, leave, newBsn, startInzage, startProvider } from './support.ts';

let inzage: InzageServer;

beforeAll(async () => {
  inzage = await startInzage();
});
afterAll(() => inzage?.stop());
afterEach(() => {
  inzage.provider.lies = {};
});

const OVERVIEW = '/inzage/overzicht';

async function isOut(browser: Browser): Promise<boolean> {
  return (await browser.open(OVERVIEW)).status === 401;
}

describe('logging in', () => {
  it('goes through the provider, with state, nonce and PKCE, to the overview', async () => {
    const citizen = inzage.browser();
    const front = await citizen.open('/inzage');
    expect(front.text).toContain('href="/inzage/inloggen"');
    const away = await citizen.open('/inzage/inloggen');
    expect(away.status).toBe(303);
    const { origin, pathname, searchParams } = new URL(away.location);
    expect(origin + pathname).toBe(`${inzage.provider.issuer}/auth`);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: 'code',
      client_id: 'inzage',
      scope: 'openid',
      redirect_uri: `${inzage.server.url}/inzage/terug`,
      code_challenge_method: 'S256',
      prompt: 'login',
    });
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(searchParams.get(name)?.length).toBeGreaterThanOrEqual(43);
    }
    await fetch(away.location);
    const state = searchParams.get('state') ?? '';
    const back = await citizen.open(`/inzage/terug?${new URLSearchParams({ code: `${newBsn()}.${state}`, state })}`);
    expect([back.status, back.location]).toEqual([303, OVERVIEW]);
    expect((await citizen.open(OVERVIEW)).status).toBe(200);
    const { authorization, form } = inzage.provider.exchanged.at(-1) ?? {};
    expect(authorization).toMatch(/^Basic /);
    expect(form?.get('grant_type')).toBe('authorization_code');
  });

  it('uses new values each time, and requests the provider’s metadata once', async () => {
    const before = inzage.provider.discovered();
    const places = await Promise.all(
      Array.from({ length: 5 }, async () => new URL((await inzage.browser().open('/inzage/inloggen')).location)),
    );
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(new Set(places.map(({ searchParams }) => searchParams.get(name))).size).toBe(5);
    }
    expect(inzage.provider.discovered() - before).toBeLessThanOrEqual(1);
  });

  const refused = async (browser: Browser, address: string, status: number): Promise<void> => {
    const back = await browser.open(address);
    expect([back.status, back.location]).toEqual([status, '']);
    expect(back.text).toContain('Inloggen is niet gelukt');
    expect(await isOut(browser)).toBe(true);
  };

  it('refuses another state, and then the right one too: an attempt is single-use', async () => {
    const citizen = inzage.browser();
    const address = await leave(citizen, newBsn());
    await refused(citizen, address.replace(/state=[^&]*$/, 'state=ander'), 400);
    await refused(citizen, address, 400);
  });

  it('refuses an answer without state, and one with two', async () => {
    const first = inzage.browser();
    await refused(first, (await leave(first, newBsn())).replace(/&state=.*$/, ''), 400);
    const second = inzage.browser();
    const address = await leave(second, newBsn());
    await refused(second, `${address}&state=ander`, 400);
  });

  it('refuses an attempt of another browser', async () => {
    const citizen = inzage.browser();
    const address = await leave(citizen, newBsn());
    await refused(inzage.browser(), address, 400);
    const attacker = inzage.browser();
    await leave(attacker, newBsn());
    await refused(attacker, address, 400);
  });

  it('refuses a code twice, even with the earlier cookies', async () => {
    const citizen = inzage.browser();
    const address = await leave(citizen, newBsn());
    const thief = citizen.copy();
    expect((await citizen.open(address)).status).toBe(303);
    await refused(thief, address, 403);
  });

  it('sends the verifier of its own challenge: a code for another challenge is worthless', async () => {
    const citizen = inzage.browser();
    const mine = await leave(citizen, newBsn());
    const other = inzage.browser();
    const theirs = await leave(other, newBsn());
    const code = new URLSearchParams(theirs.split('?')[1]).get('code') ?? '';
    const swapped = new URLSearchParams(mine.split('?')[1]);
    swapped.set('code', code);
    await refused(citizen, `/inzage/terug?${swapped}`, 403);
  });

  it.each<[string, Lies, number]>([
    ['another nonce', { claims: { nonce: 'ander' } }, 400],
    ['no nonce', { without: ['nonce'] }, 400],
    ['another audience', { claims: { aud: 'een-ander' } }, 400],
    ['two audiences without an authorised party', { claims: { aud: ['inzage', 'een-ander'] } }, 400],
    ['another issuer', { claims: { iss: 'https://boef.example' } }, 400],
    ['an expired ID token', { claims: { iat: 1, exp: 2 } }, 400],
    ['a signature by another key', { key: 'other' }, 400],
    ['no signature', { alg: 'none' }, 400],
    ['no number', { without: ['bsn'] }, 403],
    ['a number that fails the eleven test', { claims: { bsn: '123456789' } }, 403],
    ['a number of zeros', { claims: { bsn: '000000000' } }, 403],
    ['a number as a number', { claims: { bsn: 999990019 } }, 403],
    ['a list', { claims: { bsn: ['999990019'] } }, 403],
    ['markup', { claims: { bsn: '<script>alert(1)</script>' } }, 403],
    ['a refusal', { status: 400 }, 403],
    ['a failure', { status: 500, body: 'kapot' }, 503],
    ['no JSON', { status: 200, body: '<html>' }, 400],
    ['no ID token', { status: 200, body: '{"access_token":"x","token_type":"Bearer"}' }, 400],
    ['a redirect', { status: 302 }, 400],
    ['an answer beyond its size limit', { status: 200, body: JSON.stringify({ x: 'x'.repeat(300_000) }) }, 503],
  ])('refuses a provider that answers with %s', async (_what, lies, status) => {
    const citizen = inzage.browser();
    const address = await leave(citizen, newBsn());
    inzage.provider.lies = lies;
    await refused(citizen, address, status);
  });

  it('reports that the citizen cancelled', async () => {
    const citizen = inzage.browser();
    const address = await leave(citizen, newBsn());
    const state = new URLSearchParams(address.split('?')[1]).get('state') ?? '';
    const query = new URLSearchParams({ error: 'access_denied', error_description: '<b>boe</b>', state });
    const back = await citizen.open(`/inzage/terug?${query}`);
    expect(back.status).toBe(403);
    expect(back.text).not.toContain('boe');
  });

  it('redirects nowhere else, whatever the address contains', async () => {
    const citizen = inzage.browser();
    const address = await leave(citizen, newBsn());
    const more = '&next=https://boef.example&redirect_uri=https://boef.example&returnTo=//boef.example';
    expect((await citizen.open(address + more)).location).toBe(OVERVIEW);
    const away = await inzage
      .browser()
      .open(`/inzage/inloggen?redirect_uri=https://boef.example&issuer=https://boef.example`);
    expect(away.location).toMatch(new RegExp(`^${inzage.provider.issuer}/auth`));
    expect(away.location).not.toContain('boef');
    // The address of the pages does not come from the request.
    const host = await inzage.browser().open('/inzage/inloggen', { headers: { 'x-forwarded-host': 'boef.example' } });
    expect(host.location).not.toContain('boef');
  });

  it('begins a new session, whatever session the browser had', async () => {
    const attacker = await inzage.loggedIn(newBsn());
    const planted = attacker.cookies.get('inzage') ?? '';
    const victim = inzage.browser();
    victim.cookies.set('inzage', planted);
    expect((await victim.open(await leave(victim, newBsn()))).status).toBe(303);
    expect(victim.cookies.get('inzage')).not.toBe(planted);
    await victim.open('/inzage/uitloggen', { method: 'POST' });
    expect(await isOut(attacker)).toBe(false);
  });
});

describe('a provider', () => {
  it('that is unreachable causes 503 eventually, and is used again when it is back', async () => {
    const provider = await startProvider();
    const { port } = new URL(provider.issuer);
    await provider.close();
    const alone = await startInzage({ provider: { ...provider, issuer: `http://127.0.0.1:${port}` } });
    try {
      const page = await alone.browser().open('/inzage/inloggen');
      expect(page.status).toBe(503);
      expect(page.text).toContain('Inloggen kan nu niet');
      expect((await alone.browser().open('/inzage')).status).toBe(200);
    } finally {
      await alone.stop();
    }
  });

  it('whose metadata name another issuer is not used until they are corrected', async () => {
    const provider = await startProvider();
    provider.metadata = { issuer: 'http://boef.example' };
    const wrong = await startInzage({ provider });
    try {
      expect((await wrong.browser().open('/inzage/inloggen')).status).toBe(503);
      provider.metadata = {};
      expect((await wrong.browser().open('/inzage/inloggen')).status).toBe(303);
    } finally {
      await wrong.stop();
      await provider.close();
    }
  });

  it('must have applied the configured level', async () => {
    const strict = await startInzage({
      env: { INZAGE_OIDC_ACR: 'substantieel,hoog', INZAGE_OIDC_BSN_CLAIM: 'nl:bsn' },
    });
    try {
      const bsn = newBsn();
      const claims = { 'nl:bsn': bsn, acr: 'hoog' };
      strict.provider.lies = { claims };
      const citizen = await strict.loggedIn('1');
      expect((await citizen.open(OVERVIEW)).status).toBe(200);
      expect(strict.provider.asked.at(-1)?.get('acr_values')).toBe('substantieel hoog');
      for (const acr of ['midden', undefined]) {
        strict.provider.lies = { claims: { ...claims, acr } };
        const other = strict.browser();
        const back = await other.open(await leave(other, '1'));
        expect(back.status).toBe(403);
        expect(back.text).toContain('te laag niveau');
      }
    } finally {
      await strict.stop();
    }
  });
});
