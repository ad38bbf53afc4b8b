/**
 * The pages in a real browser, with the demo's stand-in for the national login: from the front page to logging out by keyboard only and
 * without script, at 320 pixels, with assistive technology, and on paper.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findChromium, inChromium } from '../../../scripts/chromium.ts';
import { startAuthorizationServer } from '../../../src/demo/authorization-server.ts';
import { serveLogin } from '../../../src/demo/parts/login.ts';
import { axeFindings, sharedChromium } from '../../support/chromium.ts';
import { actie, type LogServer, startLog } from '../support.ts';
import { CLIENT, Browser as Fetcher, inzageEnv } from './support.ts';

const PERSONS = [
  { bsn: '999990019', name: 'Mevrouw E. de Eerste' },
  { bsn: '999991905', name: 'De heer T. Tweede' },
];
const executable = findChromium();
const failures: unknown[] = [];
let directory: string;
let issuer: Awaited<ReturnType<typeof startAuthorizationServer>>;
let log: LogServer;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'koppelvlak-inzage-'));
  issuer = await startAuthorizationServer({
    environment: 'test',
    port: 0,
    audience: 'x',
    clients: [],
    keysDirectory: directory,
    register: async (app, address) => {
      const options = {
        issuer: () => `${address()}/digid`,
        client: CLIENT,
        returnPath: '/inzage/terug',
        persons: PERSONS,
      };
      await app.register((scope) => serveLogin(scope, options), { prefix: '/digid' });
    },
    log: { info: () => undefined, error: (fields) => void failures.push(fields) },
  });
  log = await startLog({
    env: inzageEnv(`${issuer.issuer}/digid`, {
      PAGES_LINKS: 'contact=https://gemeente.example/contact,fg=mailto:fg@gemeente.example',
    }),
  });
  const id = '5f0bef4c-f66f-4311-84a5-19e8bf359eaf';
  await log.call(['register:write'], 'PUT', `/verwerkingsactiviteiten/${id}`, {
    naam: 'Schuldhulpverlening',
    doel: 'Mensen met schulden helpen',
    grondslag: 'Publieke taak',
    verantwoordelijkeOrganisatie: '00000099000000001000',
  });
  for (let i = 0; i < 52; i += 1) {
    const tijdstip = new Date(Date.UTC(2025, 11, 30, i)).toISOString();
    await log.call(['create:normal'], 'POST', '/verwerkingsacties', actie(PERSONS[0]?.bsn ?? '', { tijdstip }));
  }
  const long = { actieNaam: 'x'.repeat(242), handelingNaam: 'y'.repeat(242), uitvoerder: '0'.repeat(19).concat('1') };
  await log.call(
    ['create:normal'],
    'POST',
    '/verwerkingsacties',
    actie(PERSONS[0]?.bsn ?? '', { ...long, tijdstip: '2026-02-01T00:00:00Z' }),
  );
});
afterAll(async () => {
  await log?.stop();
  await issuer?.close();
  await rm(directory, { recursive: true, force: true });
});

describe('the stand-in for the national login', () => {
  it('logs in the person that the visitor picks, and accepts a code once', async () => {
    const citizen = new Fetcher(log.server.url);
    const away = await citizen.open('/inzage/inloggen');
    const provider = new Fetcher(issuer.issuer);
    const picking = await provider.open(away.location);
    expect(picking.text).toContain('Nagemaakte DigiD');
    expect(picking.text).toContain('Dit is niet de echte DigiD.');
    const done = await provider.open(away.location, { method: 'POST', body: new URLSearchParams({ persoon: '1' }) });
    expect(done.location).toMatch(new RegExp(`^${log.server.url}/inzage/terug\\?code=`));
    const thief = citizen.copy();
    expect((await citizen.open(done.location)).location).toBe('/inzage/overzicht');
    expect((await thief.open(done.location)).status).toBe(403);
    const overview = await citizen.open('/inzage/overzicht');
    expect(overview.status).toBe(200);
    // Nothing of the first person.
    expect(overview.text).not.toContain('Zoeken persoon');
    expect(failures).toEqual([]);
  });

  it('refuses another client, another redirect address, and a request without PKCE', async () => {
    const away = new URL((await new Fetcher(log.server.url).open('/inzage/inloggen')).location);
    for (const [name, value] of [
      ['client_id', 'boef'],
      ['redirect_uri', 'https://boef.example/terug'],
      ['code_challenge', ''],
    ] as const) {
      const changed = new URL(away);
      if (value === '') changed.searchParams.delete(name);
      else changed.searchParams.set(name, value);
      const answer = await new Fetcher(issuer.issuer).open(changed.href);
      expect(answer.status, name).toBe(400);
    }
  });

  it('gives no token for another verifier, or for a code that it never gave', async () => {
    const away = new URL((await new Fetcher(log.server.url).open('/inzage/inloggen')).location);
    const provider = new Fetcher(issuer.issuer);
    const exchange = async (code: string): Promise<number> => {
      const form = { grant_type: 'authorization_code', code, code_verifier: 'another' };
      const redirect = { redirect_uri: away.searchParams.get('redirect_uri') ?? '' };
      const authorization = `Basic ${btoa(`${CLIENT.id}:${CLIENT.secret}`)}`;
      const body = new URLSearchParams({ ...form, ...redirect });
      return (await provider.open('/digid/token', { method: 'POST', headers: { authorization }, body })).status;
    };
    const done = await provider.open(away.href, { method: 'POST', body: new URLSearchParams({ persoon: '1' }) });
    expect(await exchange(new URL(done.location).searchParams.get('code') ?? '')).toBe(400);
    expect(await exchange('x')).toBe(400);
  });
});

describe.runIf(executable !== undefined)(inChromium(executable), () => {
  const open = async (
    options: Parameters<Browser['newContext']>[0] = {},
  ): Promise<{ context: BrowserContext; page: Page }> => {
    const context = await (await sharedChromium()).newContext({ javaScriptEnabled: false, ...options });
    return { context, page: await context.newPage() };
  };

  /** Presses Tab until the focused element has this text, and then Enter. */
  const follow = async (page: Page, text: string): Promise<void> => {
    for (let i = 0; i < 200; i += 1) {
      await page.keyboard.press('Tab');
      const focused: unknown = await page.evaluate("document.querySelector(':focus')?.textContent");
      if (typeof focused === 'string' && focused.includes(text)) {
        await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
        return;
      }
    }
    throw new Error(`nothing with the text ${text} can be reached by keyboard`);
  };

  const logIn = async (page: Page): Promise<void> => {
    await page.goto(`${log.server.url}/inzage`);
    await follow(page, 'Inloggen');
    await follow(page, 'E. de Eerste');
    expect(page.url()).toBe(`${log.server.url}/inzage/overzicht`);
  };

  it('goes from the front page to logging out by keyboard only, without script', async () => {
    const { context, page } = await open();
    await logIn(page);
    await follow(page, 'Toon alleen: Schuldhulpverlening');
    expect(page.url()).toContain('activiteit=');
    await follow(page, 'Toon alles');
    await page.goto(`${log.server.url}/inzage/overzicht`);
    await follow(page, '2025');
    expect(page.url()).toContain('van=2025-01-01');
    // Without script, by keyboard: a line opens.
    const entry = page.locator('.kv-entry').first();
    expect(await entry.locator('dl').isVisible()).toBe(false);
    await entry.locator('summary').focus();
    await page.keyboard.press('Enter');
    expect(await entry.locator('dl').isVisible()).toBe(true);
    expect(await page.locator('main h1').textContent()).toBe('Wat er met uw gegevens is gedaan');
    await follow(page, 'Uitloggen');
    expect(page.url()).toBe(`${log.server.url}/inzage/uitgelogd`);
    const names = (await context.cookies()).map(({ name }) => name);
    expect(names.filter((name) => name.includes('inzage'))).toEqual([]);
    await page.goto(`${log.server.url}/inzage/overzicht`);
    expect(await page.locator('main').textContent()).toContain('Inloggen');
    await context.close();
  });

  it('has no axe findings, and no line wider than 320 pixels', async () => {
    const { context, page } = await open({
      javaScriptEnabled: true,
      bypassCSP: true,
      viewport: { width: 320, height: 800 },
    });
    await page.reload();
    const errors: string[] = [];
    page.on('pageerror', ({ message }) => errors.push(message));
    page.on(
      'console',
      (message) => message.type() === 'error' && !message.text().includes('status of 4') && errors.push(message.text()),
    );
    const check = async (): Promise<void> => {
      expect(await axeFindings(page), page.url()).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth'), page.url()).toBeLessThanOrEqual(320);
    };
    await page.goto(`${log.server.url}/inzage`);
    await check();
    await logIn(page);
    await check();
    for (const path of [
      '/overzicht?van=x',
      '/overzicht?van=2020-01-01&tot=2020-01-02',
      '/uitgelogd',
      '/terug',
      '/niets',
    ]) {
      await page.goto(`${log.server.url}/inzage${path}`);
      await check();
    }
    // An unreadable session, as when it has ended.
    await logIn(page);
    const cookies = await context.cookies();
    await context.addCookies(cookies.map((cookie) => ({ ...cookie, value: `${cookie.value.slice(0, -8)}AAAAAAAA` })));
    await page.goto(`${log.server.url}/inzage/overzicht`);
    expect(await page.locator('main').textContent()).toContain('U bent uitgelogd, omdat u een tijd niets deed');
    await check();
    expect(errors).toEqual([]);
    await context.close();
  });

  it('shows a citizen who objects what was done, how long it is kept, and where to object, and prints it compactly', async () => {
    const bsn = PERSONS[1]?.bsn ?? '';
    const other = '5f0bef4c-f66f-4311-84a5-19e8bf359ea3';
    await log.call(['register:write'], 'PUT', `/verwerkingsactiviteiten/${other}`, {
      naam: 'Kwijtschelding',
      doel: 'Beoordelen of iemand belasting kan betalen',
      bewaartermijn: 'P7Y',
      grondslag: 'Wettelijke verplichting',
      toelichtingGrondslag: 'Invorderingswet 1990, artikel 26',
      verantwoordelijkeOrganisatie: '00000099000000001000',
      herkomst: 'Basisregistratie Personen en de Belastingdienst',
    });
    for (let i = 0; i < 26; i += 1) {
      const tijdstip = new Date(Date.UTC(2026, 2, 1 + i, 9)).toISOString();
      const more = i % 2 === 0 ? {} : { verwerkingsactiviteitId: other, bewaartermijn: null };
      const texts = { actieNaam: `Gegevens opgevraagd, keer ${i + 1}`, handelingNaam: 'Beoordelen van de aanvraag' };
      const made = await log.call(
        ['create:normal'],
        'POST',
        '/verwerkingsacties',
        actie(bsn, { ...texts, ...more, tijdstip }),
      );
      expect(made.status).toBe(201);
    }
    const { context, page } = await open();
    await page.goto(`${log.server.url}/inzage`);
    await page.getByRole('link', { name: 'Inloggen' }).click();
    await page.getByRole('button', { name: /T\. Tweede/ }).click();
    // The actions: a compact list, of which one entry opens.
    const entry = page.locator('.kv-entry', { hasText: 'Gegevens opgevraagd, keer 7' }).first();
    const { height = 999 } = (await entry.boundingBox()) ?? {};
    expect(height).toBeLessThan(60);
    await entry.locator('summary').click();
    const facts = await entry.locator('dl').textContent();
    expect(facts ?? '').toContain('Beoordelen van de aanvraag');
    const number = /Nummer\s*([0-9a-f-]{36})/.exec(facts ?? '')?.[1];
    expect(number).toBeDefined();
    // Why, how long it is kept, and whom to ask.
    const organisation = await page.locator('main').textContent();
    for (const shown of ['Invorderingswet 1990, artikel 26', '7 jaar', '10 jaar', 'bezwaar maken', 'Noem het nummer'])
      expect(organisation).toContain(shown);
    const objection = page.locator('.kv-objection');
    const leadsTo = (name: string): Promise<string | null> =>
      objection.getByRole('link', { name }).getAttribute('href');
    expect(await leadsTo('Neem contact op')).toBe('https://gemeente.example/contact');
    expect(await leadsTo('functionaris gegevensbescherming')).toBe('mailto:fg@gemeente.example');
    expect(await leadsTo('Autoriteit Persoonsgegevens')).toBe('https://autoriteitpersoonsgegevens.nl/');
    // Printed from the screen, and from the print page: every entry complete, two or more to a page.
    for (const address of [page.url(), `${log.server.url}/inzage/overzicht?alles=ja`]) {
      await page.goto(address);
      await page.emulateMedia({ media: 'print' });
      for (const one of await page.locator('.kv-entries .kv-entry dl').all()) expect(await one.isVisible()).toBe(true);
      expect(await page.getByText(number ?? '').isVisible()).toBe(true);
      expect(await objection.isVisible()).toBe(true);
      const pdf = await page.pdf({ format: 'A4' });
      expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
      const sheets = pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0;
      expect(sheets, address).toBeGreaterThan(1);
      expect(sheets, address).toBeLessThanOrEqual(13);
    }
    await context.close();
  });

  it('prints the contents but no controls', async () => {
    const { context, page } = await open();
    await logIn(page);
    await page.goto(`${log.server.url}/inzage/overzicht?alles=ja`);
    await page.emulateMedia({ media: 'print' });
    for (const hidden of ['.kv-search', 'main form button', '.utrecht-page-header', '.utrecht-skip-link']) {
      for (const one of await page.locator(hidden).all()) expect(await one.isVisible(), hidden).toBe(false);
    }
    expect(await page.getByText('Zoeken persoon').count()).toBe(52);
    expect(await page.getByText('Wat u hier niet ziet').isVisible()).toBe(true);
    await context.close();
  });
});
