import {
  accepting,
  type FeedMutant,
  header,
  isCollection,
  isFeed,
  isResource,
  isSnapshot,
  json,
  list,
  status,
  where,
} from './breaking.ts';

export const STATE_AND_STREAM: readonly FeedMutant[] = [
  {
    kills: 'C-SNAP-01',
    what: 'no feedCursor',
    mutation: json(isSnapshot, (page) => {
      delete page.feedCursor;
    }),
  },
  {
    kills: 'C-SNAP-02',
    what: 'feedCursor is invalid for the feed',
    mutation: {
      answer: ({ json: body }, request) => {
        if (body !== undefined && isSnapshot(request)) body.feedCursor = 'geen-cursor';
      },
    },
  },
  {
    kills: 'C-SNAP-03',
    what: 'feedCursor differs by page',
    mutation: json(
      (request) => isSnapshot(request) && request.query.has('cursor') && request.query.get('limit') === '1',
      (page) => {
        page.feedCursor = `${page.feedCursor}2`;
      },
    ),
  },
  {
    kills: 'C-SNAP-04',
    what: 'records without content',
    mutation: json(isSnapshot, (page) => {
      for (const one of list(page, 'records')) delete one.data;
    }),
  },
  {
    kills: 'C-SNAP-05',
    what: 'a resource twice',
    mutation: json(isSnapshot, (page) => {
      page.records = [...list(page, 'records'), ...list(page, 'records').slice(0, 1)];
    }),
  },
  {
    kills: 'C-SNAP-06',
    what: 'a resource is missing',
    mutation: json(
      (request) => isSnapshot(request) && request.query.get('limit') === '250',
      (page) => {
        page.records = list(page, 'records').slice(1);
      },
    ),
  },
  {
    kills: 'C-SNAP-07',
    what: 'a deleted resource is still there',
    mutation: json(
      (request) => isSnapshot(request) && request.query.get('limit') === '250',
      (page) => {
        page.records = [
          ...list(page, 'records'),
          {
            op: 'upsert',
            sequenceNumber: 1,
            resourceType: 'Informatieobject',
            resource: { organisatiecode: 'gm9901', bronidentificatie: 'd-weg' },
            data: { bronidentificatie: 'd-weg' },
          },
        ];
      },
    ),
  },
  {
    kills: 'C-SNAP-08',
    what: 'a limit that is ignored',
    mutation: {
      forward: (request) =>
        isSnapshot(request) && request.query.get('limit') === '1' && !request.query.has('cursor')
          ? { path: '/snapshot?limit=2' }
          : undefined,
    },
  },
  {
    kills: 'C-SNAP-09',
    what: 'a total',
    mutation: json(isSnapshot, (page) => {
      page.totalRecords = 42;
    }),
  },
  {
    kills: 'C-SNAP-10',
    what: 'the last page has a cursor',
    mutation: json(isSnapshot, (page) => {
      page.cursor ??= 'verder';
    }),
  },
  {
    kills: 'C-SNAP-11',
    what: 'hasMore is a string',
    mutation: json(
      (request) => isSnapshot(request) && request.query.get('limit') === '250',
      (page) => {
        page.next = 5;
        page.cursor = page.cursor ?? null;
        if (page.hasMore === false) page.next = null;
        page.feedCursor = '';
      },
    ),
  },
  {
    kills: 'C-SNAP-12',
    what: 'filters are ignored',
    mutation: accepting(
      (request) => isSnapshot(request) && request.query.has('resourceType'),
      ['resourceType', 'organisatiecode'],
    ),
  },
  {
    kills: 'C-SNAP-13',
    what: 'a garbled cursor restarts the snapshot',
    mutation: accepting((request) => isSnapshot(request) && request.query.get('cursor') === 'geen-cursor', ['cursor']),
  },
  {
    kills: 'C-SNAP-14',
    what: 'an operation other than upsert',
    mutation: json(isSnapshot, (page) => {
      for (const one of list(page, 'records')) one.op = 'state';
    }),
  },
  {
    kills: 'C-COL-01',
    what: 'a list has another address',
    mutation: status((request) => isCollection(request) && request.path.includes('gm9901/informatieobjecten'), 404),
  },
  {
    kills: 'C-COL-02',
    what: 'an empty list is 404',
    mutation: status((request) => isCollection(request) && request.path.includes('gm0000'), 404),
  },
  {
    kills: 'C-COL-03',
    what: 'a list without hasMore',
    mutation: json(
      (request) => isCollection(request) && request.query.get('limit') === '50',
      (page) => {
        delete page.hasMore;
      },
    ),
  },
  {
    kills: 'C-COL-04',
    what: 'a limit that is ignored',
    mutation: {
      forward: (request) =>
        isCollection(request) && request.query.get('limit') === '1' && !request.query.has('cursor')
          ? { path: request.path.replace('limit=1', 'limit=2') }
          : undefined,
    },
  },
  {
    kills: 'C-COL-05',
    what: 'a cursor that is ignored',
    mutation: accepting((request) => isCollection(request) && request.query.get('limit') === '1', ['cursor']),
  },
  {
    kills: 'C-COL-06',
    what: 'a total',
    mutation: json(isCollection, (page) => {
      page.total = 42;
    }),
  },
  {
    kills: 'C-COL-07',
    what: 'a different resource is returned',
    mutation: json(isResource, (body) => {
      body.naam = 'anders';
      body.titel = 'anders';
    }),
  },
  {
    kills: 'C-COL-08',
    what: 'an unknown resource is empty',
    mutation: where(
      (request) => request.path.includes('bestaat-niet-conformance') && isResource(request),
      (answer) => {
        answer.status = 200;
        answer.json = {};
      },
    ),
  },
  {
    kills: 'C-COL-09',
    what: 'any code has a list',
    mutation: {
      forward: ({ path }) => (path.includes('/utrecht/') ? { path: path.replace('utrecht', 'gm0000') } : undefined),
    },
  },
  { kills: 'C-COL-10', what: 'upper case is refused', mutation: status(({ path }) => /\/GM\d/.test(path), 400) },
  {
    kills: 'C-COL-11',
    what: 'a deleted resource is still answered',
    mutation: where(
      ({ path }) => path.endsWith('/d-weg'),
      (answer) => {
        answer.status = 200;
      },
    ),
  },
  {
    kills: 'C-COL-12',
    what: 'a redacted resource is still answered',
    mutation: where(
      ({ path }) => path.endsWith('/d-geheim'),
      (answer) => {
        answer.status = 200;
      },
    ),
  },
  {
    kills: 'C-COL-13',
    what: 'a slash in an id is not supported',
    mutation: status(({ path }) => path.includes('%2F'), 404),
  },
  {
    kills: 'C-COL-14',
    what: 'an empty list of an organisation in the feed is 404',
    mutation: status((request) => isCollection(request) && request.path.includes('ws0655/agendapunten'), 404),
  },
  {
    kills: 'C-COL-15',
    what: 'the list of resources has another name',
    mutation: json(isCollection, (page) => {
      page.items = page.results;
      delete page.results;
    }),
  },
  {
    kills: 'C-STR-01',
    what: 'the stream is plain text',
    mutation: { streamHeaders: { 'content-type': 'text/plain' } },
  },
  {
    kills: 'C-STR-02',
    what: 'ids are not the sequence numbers',
    mutation: { stream: (text) => text.replaceAll(/^id: (\d+)/gm, 'id: 7$1') },
  },
  {
    kills: 'C-STR-03',
    what: 'the stream starts at the beginning',
    mutation: {
      forward: ({ path, headers }) =>
        path.startsWith('/feed/stream') && headers['last-event-id'] !== undefined && !path.includes('?')
          ? { headers: { 'last-event-id': '0' } }
          : undefined,
    },
  },
  {
    kills: 'C-STR-04',
    what: 'events lack members of the record',
    mutation: { stream: (text) => text.replaceAll(/"storedAt":"[^"]*",/g, '') },
  },
  {
    kills: 'C-STR-05',
    what: 'events have a name',
    mutation: { stream: (text) => text.replaceAll(/^id:/gm, 'event: record\nid:') },
  },
  {
    kills: 'C-STR-07',
    what: 'a cursor is ignored',
    mutation: {
      forward: ({ path, query }) =>
        path.startsWith('/feed/stream') && query.has('cursor')
          ? { path: '/feed/stream', headers: { 'last-event-id': '0' } }
          : undefined,
    },
  },
  {
    kills: 'C-STR-08',
    what: 'resource types are not filtered',
    mutation: accepting(
      ({ path, query }) => path.startsWith('/feed/stream') && query.has('resourceType'),
      ['resourceType'],
    ),
  },
  {
    kills: 'C-STR-09',
    what: 'silence while nothing happens',
    mutation: { stream: (text) => text.replaceAll(/^:.*\n/gm, '') },
  },
  {
    kills: 'C-STR-10',
    what: 'any Last-Event-ID is accepted',
    mutation: {
      forward: ({ headers }) =>
        headers['last-event-id'] === 'x' ? { headers: { 'last-event-id': undefined } } : undefined,
    },
  },
  {
    kills: 'C-STR-11',
    what: 'no `Cache-Control` on the stream',
    mutation: { streamHeaders: { 'cache-control': '' } },
  },
  {
    kills: 'C-STR-12',
    what: 'the stream always starts at the beginning',
    mutation: {
      forward: ({ path, headers }) =>
        path === '/feed/stream' && headers['last-event-id'] === undefined
          ? { headers: { 'last-event-id': '0' } }
          : undefined,
    },
  },
  { kills: 'C-HTTP-01', what: 'no ETag', mutation: header(isFeed, 'etag', undefined) },
];
