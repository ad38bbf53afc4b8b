import { isJson, list, OVER_HTTP } from './breaking.ts';
import {
  activity,
  allowing,
  answering,
  anything,
  asking,
  asks,
  both,
  by,
  getOne,
  giving,
  header,
  type LogMutant,
  listing,
  objects,
  post,
  query,
  sends,
  showing,
  storedOf,
  withHeaders,
} from './broken-log.ts';

const wrongTime = sends(({ tijdstip }) => tijdstip === 'gisteren');
const has = (name: string, value: unknown) => sends((body) => body[name] === value);

/** Paging and values, optional features of a log, and HTTP. */
const VALUES: readonly LogMutant[] = [
  {
    kills: 'B-PAG-01',
    what: 'count is the number on the page',
    mutation: showing(query('pagina'), (json) => Object.assign(json, { count: list(json, 'results').length })),
  },
  {
    kills: 'B-PAG-02',
    what: 'the cursor is ignored',
    mutation: asking(
      both(query('pagina'), ({ query: asked }) => asked.has('cursor')),
      { cursor: undefined },
    ),
  },
  {
    kills: 'B-PAG-03',
    what: '`previous` is missing',
    mutation: showing(query('pagina'), (json) => Object.assign(json, { previous: null })),
  },
  { kills: 'B-PAG-04', what: 'any limit is accepted', mutation: giving(query('pagina'), 400, 204) },
  {
    kills: 'B-VAL-01',
    what: '`tijdstip` is optional',
    mutation: giving(
      both(
        post(),
        sends(({ tijdstip }) => tijdstip === undefined),
      ),
      400,
      201,
    ),
  },
  {
    kills: 'B-VAL-02',
    what: '`objecttype` is optional',
    mutation: giving(
      both(
        post(),
        sends((body) => list(body, 'verwerkteObjecten').some(({ objecttype }) => objecttype === undefined)),
      ),
      400,
      201,
    ),
  },
  {
    kills: 'B-VAL-03',
    what: 'overlong names are accepted',
    mutation: giving(
      both(
        post(),
        sends(({ actieNaam }) => String(actieNaam).length > 242),
      ),
      400,
      201,
    ),
  },
  {
    kills: 'B-VAL-04',
    what: 'any text is accepted as a UUID',
    mutation: giving(both(post(), has('verwerkingIdAfnemer', 'geen-uuid')), 400, 201),
  },
  {
    kills: 'B-VAL-05',
    what: 'a number is accepted as a text',
    mutation: giving(both(post(), has('gegevensbron', 12)), 400, 201),
  },
  {
    kills: 'B-VAL-06',
    what: 'unknown fields are accepted',
    mutation: giving(both(post(), has('onbekendVeld', 'x')), 400, 201),
  },
  {
    kills: 'B-VAL-07',
    what: 'long texts are truncated',
    mutation: showing(getOne, (json) => Object.assign(json, { actieNaam: String(json.actieNaam).slice(0, 200) })),
  },
  {
    kills: 'B-VAL-08',
    what: 'any retention period is accepted',
    mutation: giving(both(post(), has('bewaartermijn', 'P0D')), 400, 201),
  },
  {
    kills: 'B-VAL-09',
    what: 'a date may be any text',
    mutation: giving(both(query(), asks('beginDatum', '2026-13-01')), 400, 204),
  },
  {
    kills: 'B-VAL-11',
    what: 'any OIN is accepted',
    mutation: withHeaders(({ headers }) => headers.oin === '123', { oin: undefined }),
  },
];

const EXTRAS: readonly LogMutant[] = [
  { kills: 'B-EXT-01', what: 'a key reused for another body gets 400', mutation: giving(post('herhaald'), 409, 400) },
  {
    kills: 'B-EXT-02',
    what: 'a repeated request creates a second action',
    mutation: withHeaders(post('zelfde-sleutel'), { 'idempotency-key': undefined }),
  },
  { kills: 'B-EXT-03', what: 'inspection shows nothing', mutation: listing(objects('gewoon'), () => []) },
  {
    kills: 'B-EXT-04',
    what: 'inspection shows confidential actions',
    mutation: listing(objects('geheim'), () => [{ verwerkingsactie: storedOf('geheim') }]),
  },
  {
    kills: 'B-EXT-05',
    what: 'a confidential object gets 403',
    mutation: giving(({ path, method }) => method === 'GET' && path.startsWith('/verwerkte-objecten/'), 404, 403),
  },
  { kills: 'B-EXT-06', what: 'inspection is not logged', mutation: listing(query('bekeken'), () => []) },
  { kills: 'B-EXT-07', what: 'a new activity gets 200', mutation: giving(activity('PUT'), 201, 200) },
  {
    kills: 'B-EXT-08',
    what: 'everybody sees confidential activities',
    mutation: allowing(both(activity('GET'), by('read:normal'))),
  },
  {
    kills: 'B-EXT-09',
    what: 'update:confidential writes the register',
    mutation: giving(both(activity('PUT'), by('update:confidential')), 403, 200),
  },
  {
    kills: 'B-EXT-10',
    what: 'a removed activity is still there',
    mutation: giving(both(activity('GET'), by('read:confidential')), 404, 200),
  },
  {
    kills: 'B-EXT-11',
    what: 'inspection never shows lifted actions',
    mutation: listing(both(objects('verwerking-opgeheven'), by('read:confidential')), () => []),
  },
];

const HTTP: readonly LogMutant[] = [
  {
    kills: 'B-HTTP-01',
    what: 'no invalidParams',
    mutation: answering(both(post(), wrongTime), ({ json }) => void delete json?.invalidParams),
  },
  {
    kills: 'B-HTTP-02',
    what: 'invalidParams are strings',
    mutation: answering(both(post(), wrongTime), ({ json }) =>
      Object.assign(json ?? {}, { invalidParams: ['tijdstip'] }),
    ),
  },
  {
    kills: 'B-HTTP-03',
    what: 'another status in the problem',
    mutation: answering(both(post(), wrongTime), ({ json }) => Object.assign(json ?? {}, { status: 422 })),
  },
  {
    kills: 'B-HTTP-04',
    what: 'invalid JSON gets 422',
    mutation: giving(({ body }) => body.toString() === '{"tijdstip":', 400, 422),
  },
  { kills: 'B-HTTP-05', what: 'XML gets 400', mutation: giving(post(), 415, 400) },
  {
    kills: 'B-HTTP-06',
    what: '`Accept` is ignored',
    mutation: withHeaders(({ headers }) => headers.accept === 'application/xml', { accept: 'application/json' }),
  },
  { kills: 'B-HTTP-07', what: 'no Allow', mutation: header(anything, 'allow') },
  { kills: 'B-HTTP-08', what: 'no HEAD', mutation: giving(({ method }) => method === 'HEAD', 200, 405) },
  {
    kills: 'B-HTTP-09',
    what: 'a 400 has no version header',
    mutation: answering(anything, ({ status, headers }) => void (status === 400 && delete headers['api-version'])),
  },
  {
    kills: 'B-HTTP-10',
    what: 'a trailing slash is ignored',
    mutation: { forward: ({ path }) => (path.includes('/?') ? { path: path.replace('/?', '?') } : undefined) },
  },
  {
    kills: 'B-HTTP-11',
    what: 'the contract is closed to browsers',
    mutation: header(({ path }) => path === '/openapi.json', 'access-control-allow-origin'),
  },
  {
    kills: 'B-HTTP-12',
    what: 'too busy, without saying for how long',
    mutation: answering(
      ({ path }) => path === '/openapi.json',
      (answer) => {
        answer.status = 503;
        delete answer.headers['retry-after'];
      },
    ),
  },
  {
    kills: 'B-HTTP-13',
    what: 'a status outside the contract',
    mutation: giving(both(post('toegang'), by('read:normal')), 403, 418),
  },
  {
    kills: 'B-HTTP-14',
    what: 'a refusal is plain JSON',
    mutation: answering(
      anything,
      ({ status, headers }) => void (status === 403 && Object.assign(headers, { 'content-type': 'application/json' })),
    ),
  },
  {
    kills: 'B-HTTP-16',
    what: 'next is not an address',
    mutation: showing(query('volgorde'), (json) => void (isJson(json) && Object.assign(json, { next: 'geen adres' }))),
  },
  { kills: 'B-HTTP-17', what: 'no TLS', mutation: OVER_HTTP },
];

export const VALUES_AND_HTTP: readonly LogMutant[] = [...VALUES, ...EXTRAS, ...HTTP];
