/** A requester's requests: the message, its signature, and whether they match the instructions. */
import { isRecord } from '../../src/lib/json/json-value.ts';
import { type Finding, firstFault } from '../case.ts';
import { rfc } from '../clause.ts';
import { ddas, MOST_RECORDS, request } from '../gegevens/sources.ts';
import { messageChapter } from '../signature/suite.ts';
import { QUARTER, type ScenarioName } from './scenarios.ts';
import { orderOf, type RequesterSubject, requesterChapter } from './subject.ts';
import type { ReceivedRequest } from './suppliers.ts';

/** A rule that every request must follow. */
const every = (judge: (request: ReceivedRequest, subject: RequesterSubject) => string | undefined) => ({
  needs: [],
  check: async (subject: RequesterSubject) =>
    firstFault(
      await subject.requests(),
      ({ shown }) => shown,
      (request) => {
        const fault = judge(request, subject);
        return fault && `${request.message.name}: ${fault}`;
      },
    ),
});

const headerOf = ({ message }: ReceivedRequest, name: string): string => message.values(name).join(', ');

export const MESSAGES = requesterChapter('R-REQ', ['Het verzoek', 'The request'], {
  'R-REQ-01': {
    must: ddas('What the service does, area A 3', 'All data is requested with `POST`'),
    nl: 'De afnemer gebruikt `POST`',
    en: 'The requester uses `POST`',
    ...every(({ shown: { method } }) => (method === 'POST' ? undefined : `the method is ${method}`)),
  },
  'R-REQ-02': {
    must: ddas('Endpoints', 'Content type `application/json`'),
    nl: 'De body is `application/json`',
    en: 'The body is `application/json`',
    ...every((one) => {
      const type = headerOf(one, 'content-type');
      return /^application\/json\s*(;|$)/i.test(type) ? undefined : `the content type is ${type || '(none)'}`;
    }),
  },
  'R-REQ-03': {
    must: ddas('What the service does, area A 5', 'Message encoding is UTF-8'),
    nl: 'De body is een JSON-object in UTF-8',
    en: 'The body is a JSON object in UTF-8',
    ...every(({ json }) => (isRecord(json) ? undefined : 'the body is not a JSON object in UTF-8')),
  },
  'R-REQ-04': {
    must: request('no other properties allowed'),
    nl: 'De body voldoet aan `GegevensRequest`',
    en: 'The body matches `GegevensRequest`',
    ...every(({ json }, { fault, model: { variant, mapping } }) => {
      const { [mapping.organisatieLeden[0]]: organisation, pageSize, ...rest } = Object(json);
      // The contract has the maximum page size of SHV, the smaller of the two.
      const isAllowed = typeof pageSize === 'number' && pageSize <= MOST_RECORDS[variant];
      const size = isAllowed ? Math.min(pageSize, MOST_RECORDS.shv) : pageSize;
      return fault('GegevensRequest', {
        ...rest,
        ...(organisation === undefined ? {} : { aanleverende_organisatie: organisation }),
        pageSize: size,
      });
    }),
    needs: ['R-REQ-03'],
  },
  'R-REQ-05': {
    should: rfc(
      6750,
      '2.1',
      'Clients SHOULD make authenticated requests with a bearer token using the "Authorization" request header field',
    ),
    nl: 'Het token staat in de header `Authorization` of `Fsc-Authorization`',
    en: 'The token is in the header `Authorization` or `Fsc-Authorization`',
    ...every(({ message: { values } }) => {
      const sent = [...values('authorization'), ...values('fsc-authorization')];
      return sent.some((value) => /^Bearer \S+$/i.test(value)) ? undefined : 'there is no Bearer token';
    }),
  },
  'R-REQ-06': {
    should: ddas('What the service does, area A 3', 'parameters in a URL can lead to cached answers'),
    nl: 'Het adres heeft geen parameters',
    en: 'The address has no parameters',
    ...every(({ shown }) => (shown.url.includes('?') ? 'the address has parameters' : undefined)),
  },
  'R-REQ-07': {
    should: rfc(9110, '12.5.1', 'to specify their preferences regarding response media types'),
    nl: '`Accept` laat `application/json` toe',
    en: '`Accept` allows `application/json`',
    ...every((one) => {
      const accept = headerOf(one, 'accept');
      if (accept === '' || /application\/(json|\*)|\*\/\*/i.test(accept)) return undefined;
      return `\`Accept\` is ${accept.slice(0, 100)}`;
    }),
  },
});

/** Messages whose signature is checked: all are signed alike. */
const MOST_JUDGED = 12;

export const SIGNED_REQUESTS = messageChapter<RequesterSubject>(
  'R-SIG',
  ['De handtekening van het verzoek', 'The signature of the request'],
  async ({ requests }) => (await requests()).slice(-MOST_JUDGED).map(({ message, shown }) => ({ ...message, shown })),
);

/** @param quote the clause on the requested member */
const asks = (scenario: ScenarioName, quote: string) => ({
  should: request(quote),
  needs: ['R-REQ-03'],
  check: async ({ play, program, model }: RequesterSubject): Promise<Finding> => {
    if (program === undefined) return { skipped: 'instructions are only given with --command' };
    const [first] = (await play(scenario)).requests;
    if (first === undefined) return 'it sent no request';
    const wanted = orderOf(scenario, model);
    const sent: Record<string, unknown> = isRecord(first.json) ? first.json : {};
    // It may choose a page size of its own when none is wanted.
    const names = [...Object.keys(QUARTER), model.mapping.organisatieLeden[0], ...Object.keys(wanted)];
    const wrong = names.find((name) => sent[name] !== wanted[name]);
    if (wrong === undefined) return undefined;
    return `\`${wrong}\` is ${JSON.stringify(sent[wrong])}, instead of ${JSON.stringify(wanted[wrong])}`;
  },
});

export const CALENDAR = requesterChapter('R-CAL', ['Gevraagde periodes', 'Requested periods'], {
  'R-CAL-01': {
    nl: 'Een kwartaal',
    en: 'A quarter',
    ...asks('pages', 'Start of the reporting period'),
  },
  'R-CAL-02': {
    nl: 'Een heel jaar',
    en: 'A whole year',
    ...asks('year', 'End of the reporting period'),
  },
  'R-CAL-03': {
    nl: 'De meest recente periode: zonder datums',
    en: 'The most recent period: without dates',
    ...asks('recent', 'Empty: the supplier decides the start date'),
  },
  'R-CAL-04': {
    nl: 'Alleen een begindatum',
    en: 'A start date only',
    ...asks('from-start', 'Empty: the supplier decides the end date'),
  },
  'R-CAL-05': {
    nl: 'Alleen een einddatum',
    en: 'An end date only',
    ...asks('until-end', 'Empty: the supplier decides the start date'),
  },
  'R-CAL-06': {
    nl: 'Eén organisatie',
    en: 'One organisation',
    ...asks('organisation', 'Default: all organisations'),
  },
  'R-CAL-07': {
    nl: 'Een paginagrootte',
    en: 'A page size',
    ...asks('page-size', 'Number of records (signals or trajectories) in one response'),
  },
  'R-CAL-08': {
    should: ddas(
      'What the service does, area A 3',
      'parameters in a URL can lead to cached answers when the parameters do not change',
    ),
    nl: 'Een periode die opnieuw wordt opgevraagd, levert verse gegevens op: een verbeterde levering komt aan',
    en: 'Requesting a period again fetches fresh data: a corrected delivery arrives',
    check: async ({ play, playAgain }) => {
      await play('corrected');
      const { accepted, requests, refused } = await playAgain('corrected');
      if (requests.length === 0) return 'it did not send another request';
      return accepted ? undefined : `it refused the corrected delivery: ${refused ?? ''}`;
    },
  },
});
