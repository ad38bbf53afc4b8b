/** Mistakes that a supplier can make in answers and errors. */
import { ANSWER_SIGNATURE } from '../../gegevens/answer-signature.ts';
import { isJson, OVER_HTTP } from './breaking.ts';
import {
  type Asked,
  accepts,
  answersWith,
  changes,
  delivers,
  type GegevensMutant,
  head,
  leveringen,
  ok,
  paging,
  problem,
  recordLists,
} from './breaking-gegevens.ts';
import { ruleMutants } from './signature-faults.ts';

const SIGNATURE = 'nlgov-adr-payload-sig';
const isPaged = ({ json }: Asked): boolean => json.pageSize === 3;
const isLaterPage = ({ json }: Asked): boolean => Number(json.page) > 1;
const has = (name: string) => (one: Asked) => one.json[name] !== undefined;
const hasDates = has('aanleverperiodeEinddatum');
const isMonth = ({ json }: Asked): boolean => String(json.aanleverperiodeEinddatum).endsWith('-28');
const flips = new Map<string, number>();

const ANSWERS: readonly GegevensMutant[] = [
  { kills: 'A-ANS-01', what: 'an answer is plain text', mutation: head(ok, 'content-type', 'text/plain') },
  {
    kills: 'A-ANS-02',
    what: '`gegevens` has another name',
    mutation: delivers((body) => {
      delete body.gegevens;
    }),
  },
  {
    kills: 'A-ANS-03',
    what: 'a `teller` is a string',
    mutation: delivers((body) => {
      for (const levering of leveringen(body)) levering.teller = 'een';
    }),
  },
  {
    kills: 'A-ANS-05',
    what: 'a page does not state its number',
    mutation: delivers((body) => {
      delete body.paginering;
    }),
  },
  {
    kills: 'A-ANS-06',
    what: 'a page has one record too many',
    mutation: delivers((body) => {
      for (const records of recordLists(body).slice(0, 1)) records.push(records[0]);
    }, isPaged),
  },
  {
    kills: 'A-ANS-07',
    what: 'every page is the first',
    mutation: delivers((body) => {
      paging(body).currentPage = 1;
    }, isLaterPage),
  },
  {
    kills: 'A-ANS-08',
    what: '`totalPages` is one too high',
    mutation: delivers((body) => {
      paging(body).totalPages = Number(paging(body).totalPages) + 1;
    }, isPaged),
  },
  {
    kills: 'A-ANS-09',
    what: 'a counted record is not delivered',
    mutation: delivers((body) => {
      paging(body).totalRecords = Number(paging(body).totalRecords) + 1;
    }, isPaged),
  },
  {
    kills: 'A-ANS-10',
    what: 'the total grows from page to page',
    mutation: delivers((body) => {
      paging(body).totalRecords = Number(paging(body).totalRecords) + 1;
    }, isLaterPage),
  },
  {
    kills: 'A-ANS-11',
    what: 'one record is on two pages, another on none',
    mutation: delivers(
      (body) => {
        for (const records of recordLists(body).slice(0, 1)) records[0] = records.at(-1);
      },
      (asked) => isPaged(asked) && !isLaterPage(asked),
    ),
  },
  {
    kills: 'A-ANS-12',
    what: 'the order changes each time',
    mutation: delivers((body, { text }) => {
      const times = (flips.get(text) ?? 0) + 1;
      flips.set(text, times);
      const [first] = recordLists(body);
      if (times % 2 === 0 && first !== undefined)
        first[0] = { ...(isJson(first[0]) ? first[0] : {}), omschrijving: 'x' };
    }, isPaged),
  },
  {
    kills: 'A-ANS-14',
    what: 'the period is ignored',
    mutation: delivers((body) => {
      for (const [record] of recordLists(body)) if (isJson(record)) record.startdatum = '2027-01-01';
    }, isMonth),
  },
  {
    kills: 'A-ANS-15',
    what: 'a request without dates gets other records',
    mutation: delivers(
      (body) => {
        for (const records of recordLists(body).slice(0, 1)) records.pop();
      },
      (asked) => hasDates(asked) && !isMonth(asked),
    ),
  },
  {
    kills: 'A-ANS-17',
    what: 'the organisation is ignored',
    mutation: accepts(has('aanleverende_organisatie'), {}),
  },
  {
    kills: 'A-ANS-19',
    what: 'a request without `page` gets the second',
    mutation: delivers(
      (body) => {
        paging(body).currentPage = 2;
      },
      (asked) => asked.json.page === undefined && asked.json.pageSize !== undefined,
    ),
  },
  {
    kills: 'A-ANS-18',
    what: 'page size is unlimited',
    mutation: (parties) => ({
      ...accepts(({ json }) => Number(json.pageSize) > 1000)(parties),
      ...delivers(
        (body, { json }) => {
          paging(body).pageSize = json.pageSize;
        },
        ({ json }) => Number(json.pageSize) > 1000,
      )(parties),
    }),
  },
];

const ANSWER_SIGNATURE_MUTANTS: readonly GegevensMutant[] = ruleMutants([ANSWER_SIGNATURE], (make) =>
  changes(ok, (answer, _, { identities: { supplier }, keys }) => {
    const { headers, body } = make({ body: Buffer.from(answer.body), identity: supplier, keys });
    const { digest: __, [SIGNATURE]: ___, ...others } = answer.headers;
    answer.headers = { ...others, ...Object.fromEntries(headers) };
    answer.body = body.toString();
  }),
);

const isWrongPage = ({ json }: Asked): boolean => json.page === 0;
const isElsewhere = ({ path }: Asked): boolean => path.includes('bestaat-niet');

const ERRORS: readonly GegevensMutant[] = [
  {
    kills: 'A-ERR-01',
    what: 'an error is plain JSON',
    mutation: head((_, asked) => isWrongPage(asked), 'content-type', 'application/json'),
  },
  {
    kills: 'A-ERR-02',
    what: 'a problem states another status',
    mutation: problem(
      (_, asked) => isWrongPage(asked),
      (body) => {
        body.status = 422;
      },
    ),
  },
  {
    kills: 'A-ERR-03',
    what: 'a 404 is a plain problem',
    mutation: problem(
      (_, asked) => isElsewhere(asked),
      (body) => {
        delete body.code;
      },
    ),
  },
  {
    kills: 'A-ERR-04',
    what: 'a 404 has no code',
    mutation: head((_, asked) => isElsewhere(asked), 'fsc-error-code'),
  },
  {
    kills: 'A-ERR-05',
    what: 'an error contains data',
    mutation: problem(
      (_, asked) => isElsewhere(asked),
      (body) => {
        body.gegevens = { leveringen: [] };
      },
    ),
  },
  { kills: 'A-HTTP-01', what: 'GET is answered', mutation: answersWith(({ method }) => method === 'GET', 200) },
  { kills: 'A-HTTP-02', what: 'a 405 has no `Allow`', mutation: head((_, { method }) => method === 'GET', 'allow') },
  { kills: 'A-HTTP-03', what: 'PUT is answered', mutation: answersWith(({ method }) => method === 'PUT', 200) },
  {
    kills: 'A-HTTP-04',
    what: 'any media type is accepted',
    mutation: accepts(({ headers }) => headers['content-type'] === 'text/plain'),
  },
  {
    kills: 'A-HTTP-05',
    what: 'media types are case-sensitive',
    mutation: answersWith(({ headers }) => headers['content-type'] === 'Application/JSON', 415),
  },
  { kills: 'A-HTTP-06', what: 'answers may be cached', mutation: head(ok, 'cache-control') },
  { kills: 'A-HTTP-07', what: 'no version', mutation: head(ok, 'api-version') },
  {
    kills: 'A-HTTP-09',
    what: 'a media type with `charset` is refused',
    mutation: answersWith(({ headers }) => headers['content-type']?.includes('charset') === true, 415),
  },
  { kills: 'A-HTTP-10', what: 'no TLS', mutation: () => OVER_HTTP },
];

export const ANSWER_MUTANTS: readonly GegevensMutant[] = [...ANSWERS, ...ANSWER_SIGNATURE_MUTANTS, ...ERRORS];
