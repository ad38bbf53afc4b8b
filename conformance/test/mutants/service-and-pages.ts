import type { Request } from '../proxy.ts';
import {
  accepting,
  type FeedMutant,
  has,
  header,
  isFeed,
  isJson,
  isService,
  json,
  list,
  status,
  where,
} from './breaking.ts';

export const SERVICE_AND_PAGES: readonly FeedMutant[] = [
  {
    kills: 'C-SVC-01',
    what: 'the service document is HTML',
    mutation: where(isService, (answer) => {
      answer.json = undefined;
      answer.body = '<!DOCTYPE html><title>Feed</title>';
    }),
  },
  {
    kills: 'C-SVC-02',
    what: 'organisations are only names',
    mutation: json(isService, (body) => {
      body.organisaties = list(body, 'organisaties').map(({ naam }) => naam);
    }),
  },
  {
    kills: 'C-SVC-03',
    what: 'codes are in upper case',
    mutation: json(isService, (body) => {
      for (const one of list(body, 'organisaties')) one.organisatiecode = String(one.organisatiecode).toUpperCase();
    }),
  },
  {
    kills: 'C-SVC-05',
    what: 'no resource types',
    mutation: json(isService, (body) => {
      delete body.resourceTypes;
    }),
  },
  {
    kills: 'C-SVC-06',
    what: 'retention is missing',
    mutation: json(isService, (body) => {
      delete body.retentie;
      delete body.historieVanaf;
    }),
  },
  {
    kills: 'C-SVC-07',
    what: 'no role',
    mutation: json(isService, (body) => {
      delete body.rol;
    }),
  },
  {
    kills: 'C-SVC-08',
    what: 'an unknown role',
    mutation: json(isService, (body) => {
      body.rol = 'doorgeefluik';
    }),
  },
  {
    kills: 'C-SVC-09',
    what: 'up to date until next year',
    mutation: json(isService, (body) => {
      for (const one of list(body, 'organisaties')) one.laatstBijgewerkt = '2999-01-01T00:00:00Z';
    }),
  },
  {
    kills: 'C-SVC-10',
    what: 'an aggregator that hides its sources',
    mutation: json(isService, (body) => {
      body.rol = 'aggregator';
      for (const one of list(body, 'organisaties')) {
        delete one.herkomst;
        delete one.herkomstSoort;
      }
    }),
  },
  {
    kills: 'C-SVC-11',
    what: 'the well-known address leads nowhere',
    mutation: where(
      ({ path }) => path.startsWith('/.well-known'),
      (answer) => {
        answer.headers.location = '/ori/v1/snapshot';
      },
    ),
  },
  { kills: 'C-SVC-12', what: 'no version header', mutation: header(isService, 'api-version', undefined) },
  {
    kills: 'C-SVC-13',
    what: 'the contract has a POST',
    mutation: json(
      ({ path }) => path.startsWith('/openapi.json'),
      (body) => {
        if (isJson(body.paths)) body.paths['/feed'] = { post: {} };
      },
    ),
  },
  {
    kills: 'C-SVC-14',
    what: 'the HTML page names no organisation',
    mutation: where(
      ({ headers, path }) => (path === '/' || path === '') && String(headers.accept).includes('html'),
      (answer) => {
        answer.body = '<!DOCTYPE html><title>Feed</title>';
      },
    ),
  },
  {
    kills: 'C-SVC-15',
    what: "an organisation's currency is missing",
    mutation: json(isService, (body) => {
      for (const one of list(body, 'organisaties')) delete one.laatstBijgewerkt;
    }),
  },
  {
    kills: 'C-SVC-16',
    what: 'a register that copies content',
    mutation: where(
      ({ path }) => path === '/register',
      (answer) => {
        answer.status = 200;
        answer.json = { results: [{ data: { naam: 'Raad' } }], cursor: null, hasMore: false, next: null };
      },
    ),
  },
  {
    kills: 'C-FEED-01',
    what: 'no head',
    mutation: json(isFeed, (page) => {
      delete page.head;
    }),
  },
  {
    kills: 'C-FEED-02',
    what: 'newest first',
    mutation: json(isFeed, (page) => {
      page.records = list(page, 'records').reverse();
    }),
  },
  {
    kills: 'C-FEED-03',
    what: 'a cursor is ignored on one-record pages',
    mutation: {
      forward: ({ path, query }) =>
        isFeed({ path } as Request) && query.get('limit') === '1' && query.has('cursor')
          ? { path: '/feed?limit=1' }
          : undefined,
    },
  },
  {
    kills: 'C-FEED-04',
    what: 'a number is missing',
    mutation: json(isFeed, (page) => {
      page.records = list(page, 'records').filter(({ sequenceNumber }) => sequenceNumber !== 8);
    }),
  },
  {
    kills: 'C-FEED-05',
    what: 'one record too many',
    mutation: {
      forward: (request) =>
        isFeed(request) &&
        request.query.get('limit') === '1' &&
        !request.query.has('cursor') &&
        !request.query.has('organisatiecode')
          ? { path: '/feed?limit=2' }
          : undefined,
    },
  },
  {
    kills: 'C-FEED-06',
    what: 'a limit of a thousand is refused',
    mutation: status((request) => isFeed(request) && request.query.get('limit') === '1000', 400),
  },
  {
    kills: 'C-FEED-07',
    what: 'more than a thousand',
    mutation: where(
      (request) => isFeed(request) && request.query.get('limit') === '1001',
      (answer) => {
        answer.status = 200;
        answer.headers['content-type'] = 'application/json';
        answer.json = { records: Array.from({ length: 1001 }, () => ({})) };
      },
    ),
  },
  {
    kills: 'C-FEED-08',
    what: 'a default of a thousand',
    mutation: json(
      (request) => isFeed(request) && request.query.size === 0,
      (page) => {
        page.records = Array.from({ length: 501 }, () => list(page, 'records')[0]);
      },
    ),
  },
  {
    kills: 'C-FEED-09',
    what: 'any limit is accepted',
    mutation: accepting(
      (request) => isFeed(request) && has('limit', (limit) => !/^[1-9]\d{0,2}$|^1000$/.test(limit))(request),
      ['limit'],
    ),
  },
  {
    kills: 'C-FEED-10',
    what: 'hasMore is false too soon',
    mutation: json(
      (request) => isFeed(request) && request.query.get('limit') === '250',
      (page) => {
        page.records = list(page, 'records').slice(0, -1);
        page.hasMore = false;
      },
    ),
  },
  {
    kills: 'C-FEED-11',
    what: 'hasMore is always false',
    mutation: json(
      (request) => isFeed(request) && request.query.get('limit') === '1',
      (page) => {
        page.hasMore = false;
      },
    ),
  },
  {
    kills: 'C-FEED-12',
    what: 'head is behind',
    mutation: json(isFeed, (page) => {
      page.head = 1;
      page.hasMore = true;
    }),
  },
  {
    kills: 'C-FEED-13',
    what: 'hasMore is true at the end',
    mutation: json(isFeed, (page) => {
      if (list(page, 'records').length === 0) page.hasMore = true;
    }),
  },
  {
    kills: 'C-FEED-14',
    what: 'a redacted number is filled later',
    mutation: json(
      (request) => isFeed(request) && request.query.get('limit') === '250',
      (page) => {
        page.records = list(page, 'records').filter(({ sequenceNumber }) => sequenceNumber !== 5);
      },
    ),
  },
  {
    kills: 'C-FEED-15',
    what: 'a total',
    mutation: json(isFeed, (page) => {
      page.total = 42;
    }),
  },
  { kills: 'C-FEED-16', what: 'no Cache-Control', mutation: header(isFeed, 'cache-control', undefined) },
  { kills: 'C-FEED-17', what: 'no Link', mutation: header(isFeed, 'link', undefined) },
  {
    kills: 'C-FEED-18',
    what: 'the link points to the beginning',
    mutation: where(isFeed, ({ headers }, { query }) => {
      if (query.get('limit') === '1') headers.link = '<?limit=1>; rel="next"';
    }),
  },
  {
    kills: 'C-FEED-19',
    what: 'next is not an address',
    mutation: json(
      (request) => isFeed(request) && request.query.get('limit') === '1',
      (page) => {
        if (page.next !== null) page.next = '/feed';
      },
    ),
  },
  {
    kills: 'C-FEED-20',
    what: 'next is a number',
    mutation: json(
      (request) => isFeed(request) && request.query.get('limit') === '250',
      (page) => {
        page.next = 3;
      },
    ),
  },
  {
    kills: 'C-FEED-21',
    what: 'an unknown parameter is ignored',
    mutation: accepting((request) => isFeed(request) && request.query.has('onbekend'), ['onbekend']),
  },
  {
    kills: 'C-FEED-22',
    what: 'the list of records has another name',
    mutation: json(isFeed, (page) => {
      page.items = page.records;
      delete page.records;
    }),
  },
  {
    kills: 'C-FEED-23',
    what: 'records change at each reading',
    mutation: json(
      (request) => isFeed(request) && request.query.get('limit') === '50',
      (page) => {
        for (const one of list(page, 'records')) one.gelezen = Math.random();
      },
    ),
  },
  {
    kills: 'C-FEED-24',
    what: 'the last page has no link',
    mutation: where(isFeed, ({ headers, json: body }) => {
      if (body?.next === null) headers.link = String(headers.link).replace('rel="next"', 'rel="last"');
    }),
  },
];
