import { isRecord } from '../../../lib/json/json-value.ts';
import { type Chapter, firstFault } from '../case.ts';
import { contract, draft, rfc } from './sources.ts';
import { type FeedSubject, objectsIn, textAt } from './subject.ts';

const errorRule = (number: number, quote: string) => draft(`Errors, area C ${number}`, quote);
const PROBLEM = 'application/problem+json';
/** Requests that get an error, each for another reason. */
const WRONG = ['{feed}?limit=0', '{feed}?cursor=geen-cursor', '{feed}?organisatiecode=utrecht'].map((to) => ({ to }));

export const ERRORS: Chapter<FeedSubject> = {
  id: 'C-ERR',
  title: { nl: 'Fouten en toegang', en: 'Errors and access' },
  cases: [
    {
      id: 'C-ERR-01',
      title: { nl: 'Een fout is een probleem volgens RFC 9457', en: 'An error is a problem of RFC 9457' },
      level: 'must',
      source: errorRule(1, 'Errors use RFC 9457 `application/problem+json`'),
      dependsOn: ['C-FEED-01'],
      check: async (_, { ask }) => {
        const answers = [];
        for (const request of WRONG) answers.push(await ask(request));
        const errors = answers.filter(({ status }) => status >= 400);
        if (errors.length === 0) return { skipped: 'no request was refused' };
        return firstFault(
          errors,
          ({ headers, json }) =>
            headers['content-type']?.startsWith(PROBLEM) && isRecord(json)
              ? undefined
              : `content type ${headers['content-type'] ?? '(none)'}`,
          (answer) => answer,
        );
      },
    },
    {
      id: 'C-ERR-02',
      title: {
        nl: 'Een fout in een parameter noemt `invalidParams`',
        en: 'An error in a parameter has `invalidParams`',
      },
      level: 'must',
      source: errorRule(1, 'with an `invalidParams` member'),
      dependsOn: ['C-ERR-01'],
      ask: [{ to: '{feed}?organisatiecode=utrecht' }],
      expect: { status: [400] },
      check: (_, { answers: [answer] }) =>
        isRecord(answer?.json) && Array.isArray(answer.json.invalidParams) && answer.json.invalidParams.length > 0
          ? undefined
          : { failed: '`invalidParams` is not a list with an element' },
    },
    {
      id: 'C-ERR-03',
      title: {
        nl: '`invalidParams` noemt de parameter en wat eraan mis is',
        en: '`invalidParams` names the parameter and what is wrong with it',
      },
      level: 'should',
      source: contract('Probleem', 'invalidParams: name, reason'),
      dependsOn: ['C-ERR-02'],
      ask: [{ to: '{feed}?organisatiecode=utrecht' }],
      expect: { status: [400] },
      check: (_, { answers: [answer] }) => {
        const [first] = objectsIn(answer?.json, 'invalidParams');
        return textAt(first, 'name') === 'organisatiecode' && textAt(first, 'reason')
          ? undefined
          : { failed: 'it does not name `organisatiecode` with a reason' };
      },
    },
    {
      id: 'C-ERR-04',
      title: {
        nl: 'De status in een probleem is die van het antwoord',
        en: 'The status in a problem is that of the answer',
      },
      level: 'must',
      source: rfc(9457, '3.1.2', 'MUST use the same status code in the actual HTTP response'),
      dependsOn: ['C-ERR-01'],
      ask: [{ to: '{feed}?organisatiecode=utrecht' }],
      expect: { status: [400] },
      check: (_, { answers: [answer] }) => {
        const status = isRecord(answer?.json) ? answer.json.status : undefined;
        return status === undefined || status === answer?.status ? undefined : { failed: `it says ${String(status)}` };
      },
    },
    {
      id: 'C-ERR-05',
      title: { nl: 'Een probleem past bij het contract', en: 'A problem fits the contract' },
      level: 'should',
      source: contract('Probleem', 'Een fout volgens RFC 9457.'),
      dependsOn: ['C-ERR-01', 'C-ERR-04'],
      ask: [{ to: '{feed}?organisatiecode=utrecht' }],
      expect: { status: [400], schema: 'Probleem' },
    },
    {
      id: 'C-ERR-06',
      title: {
        nl: 'Een adres dat er niet is, geeft 404 met een probleem',
        en: 'An address that is not there gives 404 with a problem',
      },
      level: 'should',
      source: errorRule(1, 'Errors use RFC 9457 `application/problem+json`'),
      dependsOn: ['C-SVC-01'],
      ask: [{ to: '{base}/bestaat-niet-conformance' }],
      expect: { status: [404], mediaType: PROBLEM },
    },
    {
      id: 'C-ERR-07',
      title: { nl: 'Niemand hoeft zich te melden', en: 'Nobody has to identify themselves' },
      level: 'must',
      source: errorRule(3, 'There is no 401'),
      dependsOn: ['C-FEED-01'],
      ask: [{ to: '{feed}?limit=1', headers: { authorization: 'Bearer geen-token' } }],
      expect: { status: [200] },
      check: ({ client }) => {
        const closed = client.exchanges.find(
          ({ status, headers }) => status === 401 || headers['www-authenticate'] !== undefined,
        );
        return closed === undefined ? undefined : { failed: `${closed.url} asks for a login`, at: closed };
      },
    },
    {
      id: 'C-ERR-08',
      title: {
        nl: 'Wie te veel vraagt, hoort wanneer hij terug kan komen',
        en: 'A consumer that asks too much is told when to come back',
      },
      level: 'must',
      source: errorRule(2, 'status 429 or 503 with header `Retry-After`'),
      check: ({ client }) => {
        const busy = client.exchanges.filter(({ status }) => status === 429 || status === 503);
        if (busy.length === 0) return { skipped: 'no answer was 429 or 503' };
        return firstFault(
          busy,
          ({ status, headers }) =>
            headers['retry-after'] === undefined ? `a ${status} has no \`Retry-After\`` : undefined,
          (answer) => answer,
        );
      },
    },
  ],
};
