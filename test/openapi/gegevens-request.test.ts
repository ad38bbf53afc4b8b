import { describe, expect, it } from 'vitest';
import { compileDocument, faultsOf, readRules } from './contract-schemas.ts';

const compile = compileDocument(readRules('gegevens.yaml'));
const request = compile('#/components/schemas/GegevensRequest');

describe('GegevensRequest', () => {
  it('requests everything with an empty object', () => {
    expect(faultsOf(request, {})).toEqual([]);
  });

  it.each([
    ['an unknown member', { pagina: 1 }, '/pagina'],
    ['an impossible date', { aanleverperiodeStartdatum: '2026-02-30' }, '/aanleverperiodeStartdatum'],
    ['the year 0000', { aanleverperiodeEinddatum: '0000-01-01' }, '/aanleverperiodeEinddatum'],
    ['page 0', { page: 0 }, '/page'],
    ['half a page', { page: 1.5 }, '/page'],
    ['a page as text', { page: '1' }, '/page'],
    ['a pageSize above the maximum', { pageSize: 25_001 }, '/pageSize'],
    ['null', { aanleverende_organisatie: null }, '/aanleverende_organisatie'],
  ])('refuses %s', (_what, body, place) => {
    expect(faultsOf(request, body)).toEqual([place]);
  });

  it('reports all faults at once', () => {
    const body = { page: 0, pageSize: 0, aanleverperiodeStartdatum: 'gisteren', extra: true };
    expect(faultsOf(request, body)).toEqual(['/aanleverperiodeStartdatum', '/extra', '/page', '/pageSize']);
  });
});

describe('the headers of area A', () => {
  const digest = compile('#/components/parameters/Digest/schema');
  const hash = `${'A'.repeat(43)}=`;

  it.each([`SHA-256=${hash}`, `MD5=abc, SHA-256=${hash}`, `SHA-256=${hash},SHA-512=x`])(
    'reads the digest %s',
    (value) => {
      expect(faultsOf(digest, value)).toEqual([]);
    },
  );

  it.each(['', `SHA-512=${hash}`, 'SHA-256=kort', `XSHA-256=${hash}`])('refuses the digest "%s"', (value) => {
    expect(faultsOf(digest, value)).toEqual(['']);
  });
});
