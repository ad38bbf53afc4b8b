import { type FeedMutant, header, isFeed, json, status, where } from './breaking.ts';

export const TRANSPORT: readonly FeedMutant[] = [
  {
    kills: 'C-HTTP-02',
    what: 'never 304',
    mutation: {
      forward: ({ headers }) =>
        headers['if-none-match'] === undefined ? undefined : { headers: { 'if-none-match': '"x"' } },
    },
  },
  {
    kills: 'C-HTTP-03',
    what: 'a 304 with another ETag',
    mutation: where(isFeed, (answer) => {
      if (answer.status === 304) answer.headers.etag = '"anders"';
    }),
  },
  {
    kills: 'C-HTTP-04',
    what: 'always 304',
    mutation: status((request) => isFeed(request) && request.headers['if-none-match'] === '"conformance"', 304),
  },
  { kills: 'C-HTTP-05', what: 'HEAD is refused', mutation: status(({ method }) => method === 'HEAD', 405) },
  { kills: 'C-HTTP-06', what: 'compression without Vary', mutation: header(isFeed, 'vary', undefined) },
  {
    kills: 'C-HTTP-09',
    what: 'JSON as plain text',
    mutation: where(
      () => true,
      ({ headers, status: code }) => {
        if (code === 200 && headers['content-type']?.startsWith('application/json'))
          headers['content-type'] = 'text/plain';
      },
    ),
  },
  {
    kills: 'C-ERR-01',
    what: 'errors are JSON',
    mutation: where(
      () => true,
      (answer) => {
        if (answer.status === 400) answer.headers['content-type'] = 'application/json';
      },
    ),
  },
  {
    kills: 'C-ERR-02',
    what: 'no invalidParams',
    mutation: where(
      () => true,
      ({ json: body, status: code }) => {
        if (code === 400) delete body?.invalidParams;
      },
    ),
  },
  {
    kills: 'C-ERR-03',
    what: 'invalidParams are strings',
    mutation: where(
      () => true,
      ({ json: body, status: code }) => {
        if (code === 400 && body?.invalidParams !== undefined) body.invalidParams = ['organisatiecode'];
      },
    ),
  },
  {
    kills: 'C-ERR-04',
    what: 'another status in the problem',
    mutation: where(
      () => true,
      ({ json: body, status: code }) => {
        if (code === 400 && body !== undefined) body.status = 422;
      },
    ),
  },
  {
    kills: 'C-ERR-05',
    what: 'a problem without a title',
    mutation: where(
      () => true,
      ({ json: body, status: code }) => {
        if (code === 400) delete body?.title;
      },
    ),
  },
  {
    kills: 'C-ERR-06',
    what: 'an unknown address is empty',
    mutation: where(
      ({ path }) => path === '/bestaat-niet-conformance',
      (answer) => {
        answer.status = 200;
        answer.json = {};
      },
    ),
  },
  {
    kills: 'C-ERR-07',
    what: 'a token is required',
    mutation: where(
      ({ headers }) => headers.authorization !== undefined,
      (answer) => {
        answer.status = 401;
      },
    ),
  },
  {
    kills: 'C-ERR-08',
    what: 'too busy, without saying for how long',
    mutation: where(
      ({ path }) => path === '/organisaties/gm0000/vergaderingen',
      (answer) => {
        answer.status = 503;
        delete answer.headers['retry-after'];
      },
    ),
  },
  {
    kills: 'C-ERR-09',
    what: 'the contract requires a token',
    mutation: json(
      ({ path }) => path.startsWith('/openapi.json'),
      (body) => {
        body.security = [{ token: [] }];
      },
    ),
  },
  {
    kills: 'C-ERR-10',
    what: 'an overlong address gets 400',
    mutation: status(({ path }) => path.length > 8192, 400),
  },
];
