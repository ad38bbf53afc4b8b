import { hash } from 'node:crypto';
import { digestOf } from '../../src/lib/jades/signature.ts';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { firstFaulty } from '../case.ts';
import { rfc } from '../clause.ts';
import { bytesOf } from '../client.ts';
import type { Ask } from '../exchange.ts';
import { withoutTls } from '../transport-security.ts';
import { FSC_ERROR, PROBLEM } from './fsc-error.ts';
import { SMALL } from './signed-request.ts';
import { answer, contract, errors, transport } from './sources.ts';
import { type GegevensSubject, gegevensChapter, signed } from './subject.ts';

const wrong = signed({ body: { page: 0, pageSize: 1 } });
const elsewhere = signed({ to: '{elsewhere}' });
const withMethod =
  (method: string) =>
  (subject: GegevensSubject): Ask => {
    const { as, to } = subject.signed();
    return { to, method, headers: subject.freshHeaders?.() ?? {}, ...(as === undefined ? {} : { as }) };
  };

export const ERRORS = gegevensChapter('A-ERR', ['Fouten', 'Errors'], {
  'A-ERR-01': {
    must: errors('400 Invalid request (for example invalid filters or syntax) `ProblemDetails`'),
    nl: 'Een 400 is een probleem volgens RFC 9457',
    en: 'A 400 is an RFC 9457 problem',
    needs: ['A-REQ-03'],
    ask: [wrong],
    expect: { status: [400], mediaType: PROBLEM, schema: 'ProblemDetails' },
  },
  'A-ERR-02': {
    must: rfc(9457, '3.1.2', 'MUST use the same status code in the actual HTTP response'),
    nl: 'De status in een probleem is gelijk aan die van het antwoord',
    en: 'The status in a problem equals that of the answer',
    needs: ['A-ERR-01'],
    ask: [wrong],
    expect: { status: [400] },
    check: (_, { answers: [only] }) => {
      const status = isRecord(only?.json) ? only.json.status : undefined;
      return status === 400 ? undefined : `the problem says ${String(status)}`;
    },
  },
  'A-ERR-03': {
    must: errors('404 Service or resource not found `FscError` … use content type `application/problem+json`'),
    nl: 'Een onbekend adres geeft 404 met een FSC-fout',
    en: 'An unknown address gets 404 with an FSC error',
    ask: [elsewhere],
    expect: { status: [404], mediaType: PROBLEM, schema: FSC_ERROR },
  },
  'A-ERR-04': {
    must: errors('Service not found goes with 404'),
    nl: 'Een 404 heeft een header met de FSC-foutcode',
    en: 'A 404 has the FSC error code in a header',
    needs: ['A-ERR-03'],
    ask: [elsewhere],
    expect: { status: [404], headers: { 'fsc-error-code': /^ERROR_CODE_SERVICE_NOT_FOUND$/ } },
  },
  'A-ERR-05': {
    must: answer('The requested records'),
    nl: 'Een foutantwoord bevat geen gegevens',
    en: 'An error contains no data',
    needs: ['A-REQ-03', 'A-ERR-03'],
    ask: [wrong, elsewhere],
    expect: { status: [400, 404] },
    check: (_, { answers }) =>
      firstFaulty(answers, ({ json }) =>
        isRecord(json) && Object.hasOwn(json, 'gegevens') ? 'an error has `gegevens`' : undefined,
      ),
  },
});

export const HTTP = gegevensChapter('A-HTTP', ['HTTP', 'HTTP'], {
  'A-HTTP-01': {
    must: errors('405 HTTP method not supported (Outway error) `FscError` `Fsc-Error-Code`'),
    nl: 'GET geeft geen gegevens, maar 405',
    en: 'GET gets 405 and no data',
    ask: [withMethod('GET')],
    expect: { status: [405], headers: { 'fsc-error-code': /^ERROR_CODE_METHOD_UNSUPPORTED$/ }, schema: FSC_ERROR },
  },
  'A-HTTP-02': {
    should: rfc(9110, '15.5.6', 'The origin server MUST generate an Allow header field'),
    nl: 'Een 405 noemt de toegestane methode',
    en: 'A 405 names the allowed method',
    needs: ['A-HTTP-01'],
    ask: [withMethod('GET')],
    expect: { status: [405], headers: { allow: /\bPOST\b/ } },
  },
  'A-HTTP-03': {
    must: errors('405 HTTP method not supported'),
    nl: 'Andere methoden worden ook geweigerd: PUT, PATCH en DELETE',
    en: 'Other methods are refused too: PUT, PATCH and DELETE',
    needs: ['A-HTTP-01'],
    ask: ['PUT', 'PATCH', 'DELETE'].map(withMethod),
    expect: { status: [405] },
  },
  'A-HTTP-04': {
    should: rfc(9110, '15.5.16', 'the content is in a format not supported by this method'),
    nl: 'Een ander mediatype geeft 415',
    en: 'Another media type gets 415',
    ask: [signed({ headers: { 'content-type': 'text/plain' } })],
    expect: { status: [415] },
  },
  'A-HTTP-05': {
    must: rfc(9110, '8.3.1', 'The type and subtype tokens are case-insensitive'),
    nl: 'Een mediatype mag hoofdletters hebben',
    en: 'A media type may be in upper case',
    ask: [signed({ headers: { 'content-type': 'Application/JSON' } })],
  },
  'A-HTTP-06': {
    may: contract('Cache-Control', 'Het antwoord wordt nergens bewaard en niet veranderd.'),
    nl: 'Een antwoord mag nergens worden gecachet',
    en: 'An answer must not be cached',
    ask: [signed()],
    expect: { headers: { 'cache-control': /\bno-store\b/ } },
  },
  'A-HTTP-07': {
    may: contract('API-Version', 'De volledige versie van deze API.'),
    nl: 'De versie van de API staat in een header',
    en: 'The API version is in a header',
    ask: [signed()],
    expect: { headers: { 'api-version': /^1\.\d+\.\d+$/ } },
  },
  'A-HTTP-08': {
    open: rfc(3230, '4.3.2', 'Digest = "Digest" ":" #(instance-digest)'),
    nl: 'Wat er gebeurt bij een `Digest` met ook SHA-512 (RFC 3230 staat een lijst toe)',
    en: 'What happens for a `Digest` that also has SHA-512 (RFC 3230 allows a list)',
    check: async (subject, { ask }) => {
      const small = bytesOf(SMALL);
      const digest = `SHA-512=${hash('sha512', small, 'base64')},${digestOf(small)}`;
      const { status } = await ask(subject.signed({ digest }));
      return { seen: `the answer has status ${status}` };
    },
  },
  'A-HTTP-09': {
    should: rfc(8259, '11', 'Adding one really has no effect on compliant recipients'),
    nl: 'Een `charset` bij het mediatype wordt genegeerd',
    en: 'A `charset` in the media type is ignored',
    ask: [signed({ headers: { 'content-type': 'application/json; charset=utf-8' } })],
  },
  'A-HTTP-10': {
    must: transport('Het transport van de berichten verloopt volgens de FSC-standaard … Dubbelzijdig TLS'),
    nl: 'De dienst is bereikbaar over TLS',
    en: 'The service is reachable over TLS',
    needs: [],
    check: ({ values: { direct } }) =>
      direct === undefined ? { skipped: 'the Outway makes the TLS connection' } : withoutTls(direct),
  },
});
