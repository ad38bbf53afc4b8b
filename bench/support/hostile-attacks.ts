/** Requests of a hostile client, limited in number and in time. */
import { randomUUID } from 'node:crypto';
import { sampleActie } from './sample-actie.ts';

/** An attack's knowledge of the service; sent to the attacking process. */
export interface Target {
  readonly url: string;
  /** `Authorization` of several clients that may log and change actions. */
  readonly clients: readonly string[];
  /** A processing that has actions. */
  readonly verwerkingId: string;
  /** Sequence number before the large records of the feed. */
  readonly beforeLarge: number;
  /** The address that the well-behaved client calls from. */
  readonly sharedAddress: string;
}

export interface HostileRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Attack {
  readonly name: string;
  /** Concurrent requests, each on its own connection. */
  readonly connections: number;
  readonly requests: number;
  readonly seconds: number;
  /**
   * `read`: reads answers to their end. `hold`: keeps connections open and answers unread until the time is up.
   * `quarter`: the same for every fourth connection only. `half`: sends half of each body. `pipeline`: writes this many
   * requests to each connection at once and reads no answer.
   */
  readonly manner: 'read' | 'hold' | 'quarter' | 'half' | { readonly pipeline: number };
  readonly make: (i: number, target: Target) => HostileRequest;
  /** A status that none of its answers may have. */
  readonly never?: number;
  /** Megabytes by which the service may grow. */
  readonly mayGrowMb?: number;
}

/**
 * Records at the end of the feed for streams that do not read: many large ones, and one of the largest size a source
 * may send.
 */
export const LARGE_RECORDS = [...Array.from({ length: 300 }, () => 90_000), 9_000_000];

const FEED = '/ori/v1/feed?limit=5';
const LOG = '/verwerkingenlog/v1/verwerkingsacties';
const KILOBYTE = 1024;

const address = (i: number): string => `198.${18 + ((i >> 16) & 1)}.${(i >> 8) & 255}.${i & 255}`;
/** Text of a length unique to each request. */
const filled = (i: number, part: string, length: number): string =>
  `${i}${part.repeat(length / part.length)}`.slice(0, length);
const get = (path: string, i: number, headers: Readonly<Record<string, string>> = {}): HostileRequest => ({
  path,
  headers: { 'x-forwarded-for': address(i), ...headers },
});
const post = (body: string, i: number, { clients }: Target): HostileRequest => ({
  method: 'POST',
  path: LOG,
  headers: {
    'content-type': 'application/json',
    'x-forwarded-for': address(i),
    authorization: clients[i % clients.length] ?? '',
  },
  body,
});

/** An action with many objects, nearly as large as a body may be. */
function largeActie(i: number): string {
  const actie = JSON.parse(sampleActie('100000009', i));
  const [object] = actie.verwerkteObjecten;
  const objects = Math.floor((900 * KILOBYTE) / (JSON.stringify(object).length + 1));
  return JSON.stringify({
    ...actie,
    verwerkteObjecten: Array.from({ length: objects }, (_, n) => ({ ...object, objectId: String(100_000_000 + n) })),
  });
}

const manyMembers = (() => {
  let body: string | undefined;
  return (): string => {
    body ??= JSON.stringify(Object.fromEntries(Array.from({ length: 90_000 }, (_, n) => [`u${n}`, 1])));
    return body;
  };
})();

const patch = (i: number, { clients, verwerkingId }: Target): HostileRequest => ({
  method: 'PATCH',
  path: `${LOG}?verwerkingId=${verwerkingId}`,
  headers: { 'content-type': 'application/json', authorization: clients[i % clients.length] ?? '' },
  body: JSON.stringify({ bewaartermijn: `P${10 + (i % 20)}Y` }),
});

/** A well-behaved client that requests a page from many addresses: the baseline for the attacks. */
export const PLAIN: Attack = {
  name: 'plain load',
  connections: 16,
  requests: 1_000_000,
  seconds: 4,
  manner: 'read',
  make: (i) => get(FEED, i),
};

const many = { connections: 16, requests: 50_000, seconds: 4, manner: 'read' } as const;

const PAGES = '/raad/gm9001';
/** Addresses of pages and of the interface with U+0000 in place of an identifier. */
const NULLS = [
  ...['vergaderingen', 'agendapunten', 'informatieobjecten'].flatMap((collection) => [
    `${PAGES}/${collection}/%00`,
    `${PAGES}/${collection}/a%00b/agenda.csv`,
    `${PAGES}/${collection}/%00/%00`,
    `/ori/v1/${collection}/gm9001/%00`,
  ]),
  ...[`${PAGES}?gremium=%00`, `/raad/zoeken?q=raad&gremium=%00`, '/raad/zoeken?q=%00', '/raad/%00', `${PAGES}/%00`],
];

const STREAM = '/ori/v1/feed/stream';

export const ATTACKS: readonly Attack[] = [
  {
    name: '2000 streams of which 500 do not read a record of 9 MB',
    connections: 2000,
    requests: 2000,
    seconds: 15,
    manner: 'quarter',
    mayGrowMb: 200,
    make: (i, { beforeLarge }) =>
      get(STREAM, i, { 'last-event-id': String(beforeLarge + LARGE_RECORDS.length - (i % 4 === 0 ? 1 : 0)) }),
  },
  {
    name: 'streams from one address that do not read large records',
    connections: 100,
    requests: 100,
    seconds: 10,
    manner: 'hold',
    mayGrowMb: 200,
    make: (i, { beforeLarge }) =>
      get(STREAM, 7, { 'last-event-id': String(beforeLarge + (i % 2 === 0 ? 0 : LARGE_RECORDS.length - 1)) }),
  },
  { ...many, name: 'queries of 60 KB of &', make: (i) => get(`${FEED}${filled(i, '&', 60 * KILOBYTE)}`, i) },
  { ...many, name: 'the same page in many spellings', make: (i) => get(`${FEED}${'&'.repeat(i % 90)}`, i) },
  { ...many, name: 'long unknown parameters', make: (i) => get(`${FEED}&x=${filled(i, 'y', 7 * KILOBYTE)}`, i) },
  { ...many, name: 'cursors of 7 KB', make: (i) => get(`${FEED}&cursor=${filled(i, 'y', 7 * KILOBYTE)}`, i) },
  {
    ...many,
    name: 'X-Forwarded-For of 60 KB',
    make: (i) => get(FEED, i, { 'x-forwarded-for': filled(i, '1.2.3.4,', 60 * KILOBYTE) }),
  },
  {
    ...many,
    name: 'an invalid X-Forwarded-For of 2 KB',
    make: (i) => get(FEED, i, { 'x-forwarded-for': filled(i, 'x', 2000) }),
  },
  {
    ...many,
    name: 'Accept-Encoding of 60 KB',
    make: (i) => get(FEED, i, { 'accept-encoding': filled(i, ';q=0.1,gzip', 60 * KILOBYTE) }),
  },
  {
    ...many,
    name: 'Accept-Encoding of 1 KB',
    make: (i) => get(FEED, i, { 'accept-encoding': filled(i, ',a;q=0.1', 1000) }),
  },
  {
    ...many,
    name: 'Accept of 60 KB',
    make: (i) => get(FEED, i, { accept: `*/*;q=0.1,${filled(i, '/b;q=0.1,a', 60 * KILOBYTE)}` }),
  },
  { ...many, name: 'Accept of 1 KB', make: (i) => get(FEED, i, { accept: `*/*;q=0.1,${filled(i, '/b,a', 1000)}` }) },
  {
    ...many,
    name: 'If-None-Match of 60 KB',
    make: (i) => get(FEED, i, { 'if-none-match': filled(i, ',"a"', 60 * KILOBYTE) }),
  },
  { ...many, name: 'If-None-Match of 2 KB', make: (i) => get(FEED, i, { 'if-none-match': filled(i, ',"a"', 2000) }) },
  {
    ...many,
    name: 'paths of 60 KB, percent-encoded',
    make: (i) => get(`/ori/v1/${filled(i, '%2f', 60 * KILOBYTE)}`, i),
  },
  { ...many, name: '%00 in addresses', never: 500, make: (i) => get(NULLS[i % NULLS.length] ?? '/', i) },
  { ...many, name: 'unknown paths', make: (i) => get(`/ori/v1/x${i}`, i) },
  {
    ...many,
    name: 'other methods',
    make: (i) => ({ ...get(FEED, i), method: ['OPTIONS', 'HEAD', 'DELETE'][i % 3] ?? 'PUT' }),
  },
  {
    ...many,
    name: 'bodies to unknown paths',
    make: (i) => ({ ...get('/x', i, { 'content-type': 'application/json' }), method: 'POST', body: manyMembers() }),
  },
  {
    ...many,
    name: 'the contract and its pages',
    make: (i) =>
      get(
        `/${['shv/v1', 'ori/v1', 'verwerkingenlog/v1'][i % 3]}/${['openapi.json', 'docs/json', 'docs/yaml', 'docs'][i % 4]}`,
        i,
      ),
  },
  { ...many, name: 'problem pages', make: (i) => get('/problems/not-found', i) },
  {
    ...many,
    name: 'no valid token, from the well-behaved client’s address',
    make: (i, { sharedAddress }) => ({
      path: i % 2 === 0 ? LOG : '/shv/v1/gegevens',
      method: 'POST',
      headers: { 'x-forwarded-for': sharedAddress, ...(i % 3 === 0 ? {} : { authorization: `Bearer e30.${i}.c2ln` }) },
      body: '{}',
    }),
  },
  {
    name: '60 concurrent appends of 0.9 MB, from one client',
    connections: 60,
    requests: 60,
    seconds: 8,
    manner: 'read',
    make: (i, target) => post(largeActie(i), i, { ...target, clients: target.clients.slice(0, 1) }),
  },
  {
    name: '60 concurrent appends of 0.9 MB, from several clients',
    connections: 60,
    requests: 60,
    seconds: 8,
    manner: 'read',
    make: (i, target) => post(largeActie(i), i, target),
  },
  {
    name: '90 000 unknown members',
    connections: 16,
    requests: 400,
    seconds: 4,
    manner: 'read',
    make: (i, target) => post(manyMembers(), i, target),
  },
  { name: '25 PATCHes on one processing', connections: 25, requests: 1000, seconds: 4, manner: 'read', make: patch },
  { name: '200 PATCHes on one processing', connections: 200, requests: 2000, seconds: 4, manner: 'read', make: patch },
  {
    name: 'bodies that never end',
    connections: 300,
    requests: 300,
    seconds: 4,
    manner: 'half',
    make: (i, target) => post(largeActie(i), i, target),
  },
  {
    name: 'streams from one address',
    connections: 1000,
    requests: 1000,
    seconds: 4,
    manner: 'hold',
    make: () => get(STREAM, 7),
  },
  {
    name: 'pages that nobody reads',
    connections: 100,
    requests: 100,
    seconds: 4,
    manner: 'hold',
    make: (i) => get('/ori/v1/feed?limit=1000', i),
  },
  {
    name: 'pipelined pages that nobody reads',
    connections: 20,
    requests: 20,
    seconds: 4,
    manner: { pipeline: 100 },
    make: (i) => get('/ori/v1/feed?limit=1000', i),
  },
  {
    name: 'ordinary appends',
    connections: 16,
    requests: 50_000,
    seconds: 4,
    manner: 'read',
    make: (i, target) => ({
      ...post(sampleActie('100000009', i), i, target),
      headers: { ...post('', i, target).headers, 'idempotency-key': randomUUID() },
    }),
  },
];
