/** The settings that the pages need, and how they show features that are elsewhere. */
import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from '../../../src/settings/read-config.ts';
import { durationInWords } from '../../../src/verwerkingenlog/inzage/organisation-sections.ts';
import { overviewPage } from '../../../src/verwerkingenlog/inzage/overview-page.ts';
import { frontPage } from '../../../src/verwerkingenlog/inzage/site.ts';
import { inzageEnv } from './support.ts';

const TOKENS = { OAUTH_ISSUER: 'https://issuer.example', OAUTH_AUDIENCE: 'x', AREAS: 'verwerkingenlog' };
const PRODUCTION = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://db.example/x',
  VERWERKINGENLOG_KEY: `een:${Buffer.alloc(32, 7).toString('base64')}`,
};

/** The refused variables. */
function faultsOf(env: Record<string, string>): string[] {
  try {
    readConfig({ ...TOKENS, ...env }, 'serve');
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map(({ variable }) => variable).toSorted();
    throw error;
  }
}

const secure = inzageEnv('https://provider.example', {
  PUBLIC_BASE_URL: 'https://gemeente.example',
  PAGES_LINKS: 'contact=https://gemeente.example/contact',
});

describe('the settings', () => {
  it('are needed only when the pages are enabled', () => {
    expect(faultsOf({})).toEqual([]);
    expect(faultsOf({ VERWERKINGENLOG_PAGES: 'true', AREAS: 'raadsfeed' })).toEqual([]);
    expect(faultsOf({ VERWERKINGENLOG_PAGES: 'true' })).toEqual([
      ...['INZAGE_OIDC_CLIENT_ID', 'INZAGE_OIDC_CLIENT_SECRET', 'INZAGE_OIDC_ISSUER', 'INZAGE_SESSION_KEY'],
    ]);
    expect(faultsOf(secure)).toEqual([]);
  });

  it('must name TLS in production', () => {
    expect(faultsOf({ ...PRODUCTION, ...secure })).toEqual([]);
    expect(faultsOf({ ...PRODUCTION, ...secure, INZAGE_OIDC_ISSUER: 'http://provider.example' })).toEqual([
      'INZAGE_OIDC_ISSUER',
    ]);
    expect(faultsOf({ ...PRODUCTION, ...secure, PUBLIC_BASE_URL: 'http://gemeente.example' })).toEqual([
      'PUBLIC_BASE_URL',
    ]);
    expect(faultsOf({ ...PRODUCTION, ...secure, PAGES_LINKS: 'privacy=https://x.example' })).toEqual(['PAGES_LINKS']);
    expect(faultsOf({ ...PRODUCTION, ...secure, PUBLIC_BASE_URL: '' })).toEqual(['PUBLIC_BASE_URL']);
  });

  it.each([
    ['INZAGE_SESSION_KEY', 'kort'],
    ['INZAGE_OIDC_SCOPE', 'profile'],
    ['INZAGE_ORGANISATION_NAMES', '123=x'],
    ['PAGES_LINKS', 'contact=javascript:alert(1)'],
    ['PAGES_LINKS', 'contact=https://wie:wat@gemeente.example'],
    ['PAGES_LINKS', 'anders=https://gemeente.example/'],
  ])('refuse %s=%s', (variable, value) => expect(faultsOf({ ...secure, [variable]: value })).toEqual([variable]));
});

const settings = {
  ...readConfig(secure, 'tool').inzage,
  organisation: 'Gemeente Test',
  links: new Map(),
  maxRetention: undefined,
};

it('link to the proof of an entry if there is one, and to nothing if there is none', () => {
  const entry = {
    actieId: 'a',
    tijdstip: '2026-01-15T13:35:42Z',
    actieNaam: 'Zoeken',
    handelingNaam: null,
    verwerkingNaam: null,
    uitvoerder: null,
    ontvanger: null,
    rol: [],
    soortenGegevens: [],
    bewaartermijn: null,
  };
  const group = { organisatie: 'x', verwerkingsactiviteitId: null, verwerkingsactiviteitUrl: null, activiteit: null };
  const acties = [{ ...entry, bewijs: '/inzage/bewijs/a' }, entry];
  const shown = { period: {}, years: ['2026'], isCut: false, looks: [], readings: [] };
  const overview = { ...shown, count: 2, next: null, previous: null, groups: [{ ...group, acties }] };
  const asked = { from: undefined, to: undefined, all: false };
  const { body } = overviewPage({ settings, asked, overview });
  expect(
    [body]
      .flat(9)
      .join('')
      .match(/href="\/inzage\/bewijs\/a"/g),
  ).toHaveLength(1);
});

it('link to earlier years when there may be more entries than they look through', () => {
  const period = { from: '2026-01-01', to: '2026-12-31' };
  const group = { organisatie: 'x', verwerkingsactiviteitId: null, verwerkingsactiviteitUrl: null, activiteit: null };
  const shown = { period, years: ['2026'], looks: [], readings: [], count: 1, next: null, previous: null };
  const pageOf = (isCut: boolean): string => {
    const overview = { ...shown, isCut, groups: [{ ...group, acties: [] }] };
    return [overviewPage({ settings, asked: { all: false }, overview }).body].flat(9).join('');
  };
  expect(pageOf(false)).not.toContain('Toon alles');
  expect(pageOf(true)).toContain('Toon alles');
});

it('make no link of a dangerous logout address', () => {
  const text = (address: string): string => [frontPage(settings, 'logged-out', address).body].flat(9).join('');
  expect(text('https://provider.example/uit')).toContain('href="https://provider.example/uit"');
  expect(text('javascript:alert(1)')).not.toContain('javascript:');
});

it.each([
  ['P5Y', '5 jaar'],
  ['P1Y6M', '1 jaar en 6 maanden'],
  ['P1M1D', '1 maand en 1 dag'],
  ['P2W', '2 weken'],
  ['P1DT1H1M30S', '1 dag, 1 uur, 1 minuut en 30 seconden'],
  ['P0Y30D', '30 dagen'],
])('describe %s for people: %s', (duration, words) => expect(durationInWords(duration)).toBe(words));
