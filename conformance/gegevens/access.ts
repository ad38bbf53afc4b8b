import { generateKeyPairSync, sign } from 'node:crypto';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { type Expectation, Skipped } from '../case.ts';
import { rfc } from '../clause.ts';
import { bytesOf, jsonIn } from '../client.ts';
import type { Ask } from '../exchange.ts';
import { FSC_ERROR, PROBLEM } from './fsc-error.ts';
import { ddas, errors } from './sources.ts';
import { type GegevensSubject, gegevensChapter } from './subject.ts';

const TOKEN_CODES = /^ERROR_CODE_ACCESS_TOKEN_(?:MISSING|INVALID|EXPIRED)$/;

/** A good request with another value of the token's header; without it when undefined. */
const withHeader =
  (change: (token: string) => string | undefined) =>
  async (subject: GegevensSubject): Promise<Ask> => {
    const { token, tokenHeader } = subject;
    // The Outway adds the token: only the Inway could be called with another one.
    if (token === undefined) throw new Skipped('the token is added by the Outway');
    const { as: _, ...ask } = subject.signed();
    return { ...ask, headers: { ...ask.headers, [tokenHeader]: change(await token()) } };
  };
const withToken = (change: (token: string) => string) => withHeader((token) => `Bearer ${change(token)}`);
const without = withHeader(() => undefined);
const unreadable = withToken(() => 'geen.geldig.token');

/** The parts of a token that is a JWT. */
function partsOf(token: string) {
  const encoded = token.split('.');
  const [header, claims] = encoded.map((part) => jsonIn(Buffer.from(part, 'base64url')));
  if (encoded.length !== 3 || !isRecord(header) || !isRecord(claims)) throw new Skipped('the token is not a JWT');
  return { header, claims, encoded };
}

const encode = (value: object): string => bytesOf(value).toString('base64url');

const widened = withToken((token) => {
  const { claims, encoded } = partsOf(token);
  return [encoded[0], encode({ ...claims, exp: 4_102_444_800 }), encoded[2]].join('.');
});
const unsigned = withToken((token) => {
  const { header, claims } = partsOf(token);
  return `${encode({ ...header, alg: 'none' })}.${encode(claims)}.`;
});
const bringsItsKey = withToken((token) => {
  const { header, claims } = partsOf(token);
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const input = `${encode({ ...header, alg: 'ES256', jwk: publicKey.export({ format: 'jwk' }) })}.${encode(claims)}`;
  const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
});
/** A good request with the token that the tester gave under this name. */
const named =
  (as: string) =>
  (subject: GegevensSubject): Ask => ({ ...subject.signed(), to: '{direct}', as });

/**
 * A request that must be refused because of its token.
 * @param more further requirements on the 401, or another status
 */
const refusesToken = (ask: (subject: GegevensSubject) => Ask | Promise<Ask>, more: Expectation = {}) => ({
  needs: ['A-ACC-01'],
  ask: [ask],
  expect: { status: [401], ...more },
});

export const ACCESS = gegevensChapter('A-ACC', ['Toegang', 'Access'], {
  'A-ACC-01': {
    must: errors('401 No or invalid authentication'),
    nl: 'Zonder token is het antwoord 401',
    en: 'A request without a token gets 401',
    ...refusesToken(without),
    needs: [],
  },
  'A-ACC-02': {
    must: rfc(6750, '3', 'the resource server MUST include the HTTP "WWW-Authenticate" response header field'),
    nl: 'Een 401 meldt dat een Bearer-token nodig is',
    en: 'A 401 says that a Bearer token is required',
    ...refusesToken(without, { headers: { 'www-authenticate': /\bBearer\b/i } }),
  },
  'A-ACC-03': {
    must: errors('the header `Fsc-Error-Code` is set to one of these exact values'),
    nl: 'Een 401 heeft een header met de FSC-foutcode',
    en: 'A 401 has the FSC error code in a header',
    ...refusesToken(without, { headers: { 'fsc-error-code': TOKEN_CODES } }),
  },
  'A-ACC-04': {
    must: errors('401 No or invalid authentication `FscError` … use content type `application/problem+json`'),
    nl: 'Een 401 heeft een FSC-fout als body',
    en: 'A 401 has an FSC error as its body',
    ...refusesToken(without, { mediaType: PROBLEM, schema: FSC_ERROR }),
  },
  'A-ACC-05': {
    must: errors('the invalid-token code is shown with 401'),
    nl: 'Een onleesbaar token wordt geweigerd, met de FSC-foutcode',
    en: 'An unreadable token is refused, with the FSC error code',
    ...refusesToken(unreadable, { headers: { 'fsc-error-code': /^ERROR_CODE_ACCESS_TOKEN_INVALID$/ } }),
  },
  'A-ACC-06': {
    must: rfc(8725, '3.3', 'the entire JWT MUST be rejected if any of them fail to validate'),
    nl: 'Een token waarvan de inhoud is veranderd, wordt geweigerd',
    en: 'A token whose claims were changed is refused',
    ...refusesToken(widened),
  },
  'A-ACC-07': {
    must: rfc(8725, '3.1', 'MUST NOT use any other algorithms when performing cryptographic operations'),
    nl: 'Een token met `alg: none` wordt geweigerd',
    en: 'A token with `alg: none` is refused',
    ...refusesToken(unsigned),
  },
  'A-ACC-08': {
    must: rfc(
      8725,
      '3.8',
      'the application MUST validate that the cryptographic keys used for the cryptographic operations in the JWT belong to the issuer',
    ),
    nl: 'Een token dat zijn eigen sleutel meebrengt, wordt geweigerd',
    en: 'A token that carries its own key is refused',
    ...refusesToken(bringsItsKey),
  },
  'A-ACC-09': {
    should: rfc(6750, '3', 'the resource server SHOULD include the "error" attribute'),
    nl: 'Een 401 voor een ongeldig token zegt `invalid_token`',
    en: 'A 401 for an invalid token says `invalid_token`',
    ...refusesToken(unreadable, { headers: { 'www-authenticate': /error="?invalid_token"?/ } }),
    needs: ['A-ACC-05'],
  },
  'A-ACC-11': {
    should: rfc(6750, '2.3', 'it SHOULD NOT be used'),
    nl: 'Een token in het webadres geeft geen toegang',
    en: 'A token in the URL gives no access',
    ...refusesToken(
      async (subject) => ({
        ...(await without(subject)),
        to: `{direct}?access_token=${encodeURIComponent((await subject.token?.()) ?? '')}`,
      }),
      { status: [400, 401] },
    ),
  },
  'A-ACC-12': {
    must: rfc(9110, '11.1', 'It uses a case-insensitive token to identify the authentication scheme'),
    nl: '`bearer` mag in kleine letters',
    en: '`bearer` may be in lower case',
    ask: [withHeader((token) => `bearer ${token}`)],
  },
  'A-ACC-13': {
    must: errors('Token-related codes go with status 401'),
    nl: 'Een verlopen token wordt geweigerd',
    en: 'An expired token is refused',
    ...refusesToken(named('expired'), { headers: { 'fsc-error-code': /^ERROR_CODE_ACCESS_TOKEN_EXPIRED$/ } }),
  },
  'A-ACC-14': {
    must: ddas('Authentication 1', 'The scope is required on `POST /gegevens`'),
    nl: 'Een token zonder scope `read` wordt geweigerd',
    en: 'A token without scope `read` is refused',
    // The source does not say with which of the two.
    ...refusesToken(named('without-scope'), { status: [401, 403] }),
  },
  'A-ACC-15': {
    must: errors('Wrong group goes with 403'),
    nl: 'Een token van een andere groep wordt geweigerd',
    en: 'A token from another group is refused',
    ...refusesToken(named('other-group'), {
      status: [403],
      headers: { 'fsc-error-code': /^ERROR_CODE_WRONG_GROUP_ID_IN_TOKEN$/ },
    }),
  },
  'A-ACC-16': {
    must: rfc(
      8725,
      '3.9',
      'if the audience value is not present or not associated with the recipient, it MUST reject the JWT',
    ),
    nl: 'Een token voor een andere dienst wordt geweigerd',
    en: 'A token for another service is refused',
    ...refusesToken(named('other-service'), { status: [401, 403, 404] }),
  },
});
