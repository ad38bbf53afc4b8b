import { isRecord, valueAt } from '../../src/lib/json/json-value.ts';
import { busyWithoutRetryAfter, type CaseRun, type Finding, firstFaulty } from '../case.ts';
import type { Exchange } from '../exchange.ts';
import { objectsIn, textAt } from '../json-members.ts';
import { PUBLISHED, publishedContract } from './service-document.ts';
import { contract, draft, rfc } from './sources.ts';
import { feedChapters, gives } from './subject.ts';

const errorRule = (number: number, quote: string) => draft(`Errors, area C ${number}`, quote);
const PROBLEM = 'application/problem+json';
/** Requests that get errors, each for a different reason. */
const WRONG = ['{feed}?limit=0', '{feed}?cursor=geen-cursor', '{feed}?organisatiecode=utrecht'];

/** Judges the answers that refuse one of these requests. */
async function eachRefusal({ ask }: CaseRun, judge: (answer: Exchange) => string | undefined): Promise<Finding> {
  const answers: Exchange[] = [];
  for (const to of WRONG) answers.push(await ask({ to }));
  const errors = answers.filter(({ status }) => status >= 400);
  return errors.length === 0 ? { skipped: 'no request was refused' } : firstFaulty(errors, judge);
}

export const ERRORS = feedChapters('C-FEED-01')('C-ERR', ['Fouten en toegang', 'Errors and access'], {
  'C-ERR-01': {
    must: errorRule(1, 'Errors use RFC 9457 `application/problem+json`'),
    nl: 'Een foutmelding heeft de vorm van RFC 9457',
    en: 'An error has the form of RFC 9457',
    check: (_, run) =>
      eachRefusal(run, ({ headers, json }) =>
        headers['content-type']?.startsWith(PROBLEM) && isRecord(json)
          ? undefined
          : `content type ${headers['content-type'] ?? '(none)'}`,
      ),
  },
  'C-ERR-02': {
    must: errorRule(1, 'with an `invalidParams` member'),
    nl: 'De foutmelding over een parameter heeft `invalidParams`',
    en: 'An error about a parameter has `invalidParams`',
    needs: ['C-ERR-01'],
    check: (_, run) =>
      eachRefusal(run, ({ json }) =>
        valueAt(json, ['invalidParams']) === undefined ? 'there is no `invalidParams`' : undefined,
      ),
  },
  'C-ERR-03': {
    may: contract('Probleem', 'Naam van de parameter. … Wat er mis mee is.'),
    nl: '`invalidParams` noemt de parameter en wat eraan mis is',
    en: '`invalidParams` names the parameter and what is wrong with it',
    needs: ['C-ERR-02'],
    ...gives(400, '{feed}?organisatiecode=utrecht'),
    check: (_, { answers: [answer] }) => {
      const [first] = objectsIn(answer?.json, 'invalidParams');
      if (textAt(first, 'name') === 'organisatiecode' && textAt(first, 'reason')) return undefined;
      return 'it does not name `organisatiecode` with a reason';
    },
  },
  'C-ERR-04': {
    must: rfc(9457, '3.1.2', 'Generators MUST use the same status code in the actual HTTP response'),
    nl: 'De status in een foutmelding is gelijk aan die van het antwoord',
    en: 'The status in an error equals that of the answer',
    needs: ['C-ERR-01'],
    check: (_, run) =>
      eachRefusal(run, ({ json, status: actual }) => {
        const status = valueAt(json, ['status']);
        return status === undefined || status === actual ? undefined : `it says ${String(status)}`;
      }),
  },
  'C-ERR-05': {
    may: contract('Probleem', 'Een fout volgens RFC 9457.'),
    nl: 'Een foutmelding voldoet aan het contract',
    en: 'An error matches the contract',
    needs: ['C-ERR-01', 'C-ERR-04'],
    ask: [{ to: '{feed}?organisatiecode=utrecht' }],
    expect: { status: [400], schema: 'Probleem' },
  },
  'C-ERR-06': {
    should: errorRule(1, 'Errors use RFC 9457 `application/problem+json`'),
    nl: 'Een onbekend adres geeft 404 met een foutmelding in dezelfde vorm',
    en: 'An unknown address gets 404 with an error in the same form',
    needs: ['C-SVC-01'],
    ask: [{ to: '{base}/bestaat-niet-conformance' }],
    expect: { status: [404], mediaType: PROBLEM },
  },
  'C-ERR-07': {
    must: draft('Authentication, area C', 'requires no authentication. There is no 401 response'),
    nl: 'Niemand hoeft in te loggen',
    en: 'No login is required',
    ask: [{ to: '{feed}?limit=1', headers: { authorization: 'Bearer geen-token' } }],
    check: ({ client }) => {
      const closed = client.exchanges.find(
        ({ status, headers }) => status === 401 || headers['www-authenticate'] !== undefined,
      );
      return closed === undefined ? undefined : { failed: `${closed.url} requires a login`, at: closed };
    },
  },
  'C-ERR-08': {
    must: errorRule(2, 'status 429 or 503 with header `Retry-After`'),
    nl: 'Een afnemer die te veel verzoeken stuurt, krijgt te horen wanneer het weer kan',
    en: 'A consumer that sends too many requests is told when to retry',
    needs: [],
    check: ({ client }) => busyWithoutRetryAfter(client),
  },
  'C-ERR-09': {
    must: draft('Authentication, area C', 'no security scheme'),
    nl: 'Het contract van de dienst zelf stelt geen toegangseisen',
    en: "The service's own contract requires no authentication",
    needs: ['C-SVC-01'],
    ...PUBLISHED,
    check: (_, run) => {
      const { security, operations } = publishedContract(run);
      const requirements = [security, ...operations.map(({ operation }) => valueAt(operation, ['security']))];
      const isClosed = requirements.some((one) => Array.isArray(one) && one.length > 0);
      return isClosed ? 'it has a security requirement' : undefined;
    },
  },
  'C-ERR-10': {
    may: contract('info', 'Een adres van meer dan 8192 tekens krijgt 414.'),
    nl: 'Een adres van meer dan 8192 tekens krijgt 414',
    en: 'An address of more than 8192 characters gets 414',
    ...gives(414, `{feed}?cursor=${'a'.repeat(8200)}`),
  },
});
