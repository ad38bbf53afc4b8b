/** Errors and HTTP, and finally the contract itself, against which every answer of the run is checked. */
import { valueAt } from '../../src/lib/json/json-value.ts';
import { busyWithoutRetryAfter, type Finding } from '../case.ts';
import type { Departure } from '../contract.ts';
import { objectsIn, textAt } from '../json-members.ts';
import { withoutTls } from '../transport-security.ts';
import { type Log, logChapter, NORMAL } from './log-case.ts';
import { adr, contract, rfc, vng } from './sources.ts';

/** Optional features of a log: not in the published standard, or not offered at all. */
const OPTIONAL = ['404', '405', '501'];
const PROBLEM = 'application/problem+json';

/** The first deviation from the contract in this run's answers. */
function departure({ subject }: Log, of: Departure['in']): Finding {
  const found = subject.contract.departures.filter((one) => one.in === of && !OPTIONAL.includes(one.what));
  const [first] = found;
  if (first === undefined) return undefined;
  const more = new Set(found.map(({ text }) => text)).size - 1;
  return { failed: `${first.text}${more > 0 ? ` (and ${more} others)` : ''}`, at: first.at };
}
const wrongRequest = (log: Log) => log.expect(400, ...log.storing('waarden', { tijdstip: 'gisteren' }));

/** Answers of an intermediary may lack the API version: see the rationale of the rule. */
const mayBeGateway = (status: number): boolean => [401, 403, 413, 429].includes(status) || status >= 500;

export const HTTP = logChapter('B-HTTP', ['Fouten en HTTP', 'Errors and HTTP'], {
  'B-HTTP-01': {
    must: vng('OpenAPI', "'400': application/problem+json: ValidatieFout"),
    nl: 'Een fout is een probleem, met `invalidParams` bij 400',
    en: 'An error is a problem, with `invalidParams` for 400',
    test: async (log) => {
      const { headers, json } = await wrongRequest(log);
      if (!headers['content-type']?.startsWith(PROBLEM)) return `content type ${headers['content-type'] ?? '(none)'}`;
      return Array.isArray(valueAt(json, ['invalidParams'])) ? undefined : 'it has no `invalidParams`';
    },
  },
  'B-HTTP-02': {
    should: vng('OpenAPI', 'FieldValidationError: name: Naam van het veld met ongeldige gegevens'),
    nl: '`invalidParams` noemt het veld, met een code en een reden',
    en: '`invalidParams` names the field, with a code and a reason',
    needs: ['B-HTTP-01'],
    test: async (log) => {
      const { json } = await wrongRequest(log);
      const named = objectsIn(json, 'invalidParams').find(({ name }) => name === 'tijdstip');
      if (typeof named?.code === 'string' && typeof named.reason === 'string' && named.reason !== '') return undefined;
      return 'it does not name `tijdstip` with a code and a reason';
    },
  },
  'B-HTTP-03': {
    must: rfc(9457, '3.1.2', 'generators MUST use the same status code in the actual HTTP response'),
    nl: 'De status in een probleem is gelijk aan die van het antwoord',
    en: 'The status in a problem equals that of the answer',
    needs: ['B-HTTP-01'],
    test: async (log) => {
      const { json } = await wrongRequest(log);
      const status = valueAt(json, ['status']);
      return status === 400 ? undefined : `it says ${String(status)}`;
    },
  },
  'B-HTTP-04': {
    should: vng('OpenAPI', "'400': Bad request"),
    nl: 'Een body die geen JSON is, geeft 400',
    en: 'A body that is not JSON gets 400',
    test: async (log) => {
      await log.expect(400, 'POST', '/verwerkingsacties', { as: 'create:normal', body: '{"tijdstip":' });
    },
  },
  'B-HTTP-05': {
    should: vng('OpenAPI', "'415': Unsupported media type"),
    nl: 'Een body van een ander mediatype geeft 415',
    en: 'A body of another media type gets 415',
    test: async (log) => {
      const headers = { 'content-type': 'application/xml' };
      await log.expect(415, 'POST', '/verwerkingsacties', { as: 'create:normal', headers, body: '<actie/>' });
    },
  },
  'B-HTTP-06': {
    should: vng('OpenAPI', "'406': Not acceptable"),
    nl: 'Een client die geen JSON accepteert, krijgt 406',
    en: 'A client that does not accept JSON gets 406',
    test: async (log) => {
      const headers = { accept: 'application/xml' };
      await log.expect(406, 'GET', log.listPath('gewoon', NORMAL), { as: 'read:normal', headers });
    },
  },
  'B-HTTP-07': {
    should: rfc(9110, '15.5.6', 'The origin server MUST generate an Allow header field in a 405 response'),
    nl: 'Een onbekende methode geeft 405 met `Allow`',
    en: 'An unsupported method gets 405 with `Allow`',
    test: async (log) => {
      const { status, headers } = await log.call('PUT', '/verwerkingsacties', { as: 'update:normal', body: {} });
      if (status !== 405) return { skipped: `the answer has status ${status}` };
      return headers.allow?.includes('POST') ? undefined : `Allow: ${headers.allow ?? '(none)'}`;
    },
  },
  'B-HTTP-08': {
    should: rfc(9110, '9.1', 'All general-purpose servers MUST support the methods GET and HEAD'),
    nl: 'HEAD geeft de headers van GET, zonder body',
    en: 'HEAD returns the headers of GET, without content',
    test: async (log) => {
      const { body } = await log.expect(200, 'HEAD', log.listPath('gewoon', NORMAL), { as: 'read:normal' });
      return body.length === 0 ? undefined : `it has ${body.length} bytes`;
    },
  },
  'B-HTTP-09': {
    must: adr('/core/version-header', 'The API-Version header MUST be returned in a response header in every response'),
    nl: 'Elk antwoord noemt de volledige versie van de API',
    en: 'Every answer states the full API version',
    test: ({ subject: { client, base } }) => {
      const own = client.exchanges.filter(({ url, status }) => url.startsWith(base) && !mayBeGateway(status));
      const at = own.find(({ headers }) => !/^\d+\.\d+\.\d+/.test(headers['api-version'] ?? ''));
      return at && { failed: `status ${at.status} has API-Version: ${at.headers['api-version'] ?? '(none)'}`, at };
    },
  },
  'B-HTTP-10': {
    must: adr('/core/no-trailing-slash', 'this MUST result in a 404 (not found) error response and not a redirect'),
    nl: 'Een adres met een schuine streep aan het eind geeft 404',
    en: 'An address with a trailing slash gets 404',
    test: async (log) => {
      await log.get(log.listPath('gewoon', NORMAL).replace('?', '/?'), 'read:normal', 404);
    },
  },
  'B-HTTP-11': {
    must: adr('/core/publish-openapi', 'It MUST be possible … to retrieve the document without having to authenticate'),
    nl: 'De dienst publiceert haar contract als `openapi.json`, zonder toegangseisen en ook leesbaar voor een browser',
    en: 'The service publishes its contract as `openapi.json`, without authentication and readable by browsers',
    test: async (log) => {
      const headers = { origin: 'https://afnemer.example' };
      const answer = await log.expect(200, 'GET', '/openapi.json', { headers });
      if (textAt(answer.json, 'openapi') === undefined) return 'it is not an OpenAPI document';
      return answer.headers['access-control-allow-origin'] === undefined ? 'a browser may not read it' : undefined;
    },
  },
  'B-HTTP-12': {
    may: rfc(6585, '4', 'MAY include a Retry-After header indicating how long to wait'),
    nl: 'Een client die te veel verzoeken stuurt, krijgt te horen wanneer het weer kan',
    en: 'A client that sends too many requests is told when to retry',
    test: ({ subject: { client } }) => busyWithoutRetryAfter(client),
  },
  'B-HTTP-13': {
    may: contract('paths', 'responses'),
    nl: 'Elk antwoord in deze test heeft een status die het contract voor de aanroep noemt',
    en: 'Every answer in this run has a status that the contract lists for the call',
    test: (log) => departure(log, 'status'),
  },
  'B-HTTP-14': {
    may: contract('responses', 'content'),
    nl: 'Elk antwoord heeft het mediatype van het contract',
    en: 'Every answer has the media type of the contract',
    test: (log) => departure(log, 'media type'),
  },
  'B-HTTP-16': {
    may: contract('responses', 'schema'),
    nl: 'De body van elk antwoord voldoet aan het contract',
    en: 'The body of every answer matches the contract',
    test: (log) => departure(log, 'body'),
  },
  'B-HTTP-17': {
    must: adr('/core/transport/tls', 'Information MUST be exchanged over TLS-based secured connections.'),
    nl: 'De dienst is bereikbaar over TLS',
    en: 'The service is reachable over TLS',
    needs: [],
    test: ({ subject: { base } }) => withoutTls(base),
  },
});
