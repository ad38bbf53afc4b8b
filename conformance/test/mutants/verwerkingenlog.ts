import { list } from './breaking.ts';
import {
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
  keys,
  type LogMutant,
  listing,
  patch,
  post,
  put,
  query,
  remove,
  sends,
  showing,
  storedOf,
} from './broken-log.ts';
import { CHANGES } from './log-changes.ts';
import { VALUES_AND_HTTP } from './log-values.ts';

const ALL_STATES = { vertrouwelijkheid: undefined, vertrouwelijkheid__in: 'normaal,vertrouwelijk,opgeheven' };
const confidential = sends(({ vertrouwelijkheid }) => vertrouwelijkheid === 'vertrouwelijk');
const lifted = sends(({ vertrouwelijkheid }) => vertrouwelijkheid === 'opgeheven');
const has = (name: string, value: unknown) => sends((body) => body[name] === value);
const forgery = (isNone: boolean) => (request: Parameters<typeof anything>[0]) => {
  const { authorization = '' } = request.headers;
  const known = Object.values(keys.tokens).some((token) => authorization === `Bearer ${token}`);
  return !known && authorization !== '' && authorization.endsWith('.') === isNone;
};
const asPrivate = (answer: { status: number; headers: Record<string, string>; json: unknown }): void => {
  answer.status = 403;
  answer.headers['content-type'] = 'application/problem+json';
};

const LOGGING: readonly LogMutant[] = [
  { kills: 'B-LOG-01', what: 'stored with status 200', mutation: giving(post(), 201, 200) },
  {
    kills: 'B-LOG-02',
    what: 'an id that is already in use',
    mutation: showing(post('tweede'), (json) => Object.assign(json, { actieId: storedOf('gewoon').actieId })),
  },
  { kills: 'B-LOG-03', what: 'Location is the list', mutation: header(post(), 'location', '/verwerkingsacties') },
  {
    kills: 'B-LOG-04',
    what: 'tijdstipRegistratie is tijdstip',
    mutation: showing(post(), (json) => Object.assign(json, { tijdstipRegistratie: json.tijdstip })),
  },
  {
    kills: 'B-LOG-05',
    what: 'a role is missing',
    mutation: showing(post('zelfde'), (json) =>
      list(json, 'verwerkteObjecten').map((one) => Object.assign(one, { betrokkenheid: null })),
    ),
  },
  {
    kills: 'B-LOG-06',
    what: 'empty fields are absent',
    mutation: showing(post(), (json) => {
      for (const [name, value] of Object.entries(json)) if (value === null) delete json[name];
    }),
  },
  {
    kills: 'B-LOG-07',
    what: 'times are converted to UTC',
    mutation: showing(post(), (json) =>
      Object.assign(json, { tijdstip: new Date(String(json.tijdstip)).toISOString().replace('.000', '') }),
    ),
  },
  {
    kills: 'B-LOG-08',
    what: 'confidential actions are returned as `normaal`',
    mutation: showing(post('geheim'), (json) => Object.assign(json, { vertrouwelijkheid: 'normaal' })),
  },
  { kills: 'B-LOG-09', what: 'opgeheven is accepted', mutation: giving(both(post(), lifted), 403, 201) },
  {
    kills: 'B-LOG-11',
    what: 'objects share an id',
    mutation: showing(post('samen'), (json) => {
      const [first, second] = list(json, 'verwerkteObjecten');
      if (second !== undefined) second.verwerktObjectId = first?.verwerktObjectId;
    }),
  },
  {
    kills: 'B-LOG-12',
    what: 'the caller chooses the id',
    mutation: answering(post('eigen'), ({ json }, { body }) =>
      Object.assign(json ?? {}, { actieId: JSON.parse(body.toString()).actieId }),
    ),
  },
  {
    kills: 'B-LOG-13',
    what: 'the stored action is not returned',
    mutation: showing(post(), (json) => void delete json.actieId),
    breaksTransport: true,
  },
];

const ACCESS: readonly LogMutant[] = [
  {
    kills: 'B-ACC-01',
    what: 'create:normal logs what is confidential',
    mutation: allowing(both(post('toegang'), confidential, by('create:normal'))),
  },
  {
    kills: 'B-ACC-02',
    what: 'create:normal reads',
    mutation: allowing(
      both(query(), asks('vertrouwelijkheid', 'normaal'), asks('beperkteSet', 'true'), by('create:normal')),
    ),
  },
  {
    kills: 'B-ACC-03',
    what: 'update:confidential reads what was lifted',
    mutation: allowing(both(query(), asks('vertrouwelijkheid', 'opgeheven'), by('update:confidential'))),
  },
  {
    kills: 'B-ACC-04',
    what: 'read:restricted reads all fields',
    mutation: allowing(
      both(query(), asks('beperkteSet', 'false'), by('read:restricted'), asks('vertrouwelijkheid', 'normaal')),
    ),
  },
  {
    kills: 'B-ACC-05',
    what: 'read:normal reads confidential actions',
    mutation: allowing(both(query(), asks('vertrouwelijkheid', 'vertrouwelijk'), by('read:normal'))),
  },
  {
    kills: 'B-ACC-06',
    what: 'update:normal changes confidentiality',
    mutation: allowing(both(patch, confidential, by('update:normal'))),
  },
  {
    kills: 'B-ACC-07',
    what: 'read:confidential changes a retention period',
    mutation: allowing(both(patch, by('read:confidential'))),
  },
  { kills: 'B-ACC-08', what: 'create:normal corrects', mutation: allowing(both(put(), by('create:normal'))) },
  {
    kills: 'B-ACC-09',
    what: 'update:normal corrects what is confidential',
    mutation: allowing(both(put('toegang-geheim'), by('update:normal'))),
  },
  { kills: 'B-ACC-10', what: 'update:normal deletes', mutation: giving(both(remove, by('update:normal')), 403, 204) },
  {
    kills: 'B-ACC-11',
    what: 'delete:normal deletes what is confidential',
    mutation: giving(both(remove, by('delete:normal')), 403, 204),
  },
  {
    kills: 'B-ACC-14',
    what: 'create:confidential logs only what is confidential',
    mutation: answering(both(post(), by('create:confidential'), has('vertrouwelijkheid', 'normaal')), asPrivate),
  },
  {
    kills: 'B-ACC-15',
    what: 'nobody needs a token',
    mutation: allowing(({ headers }) => headers.authorization === undefined),
  },
  { kills: 'B-ACC-16', what: 'no challenge', mutation: header(anything, 'www-authenticate') },
  { kills: 'B-ACC-17', what: 'signatures are not checked', mutation: allowing(forgery(false)) },
  { kills: 'B-ACC-18', what: '`alg: none` is accepted', mutation: allowing(forgery(true)) },
  { kills: 'B-ACC-19', what: 'the audience is not checked', mutation: allowing(by('other')) },
  {
    kills: 'B-ACC-20',
    what: 'refused but carried out',
    mutation: {
      ...allowing(both(put('toegang'), by('read:normal'))),
      ...answering(both(put('toegang'), by('read:normal')), asPrivate),
    },
  },
];

const QUERYING: readonly LogMutant[] = [
  {
    kills: 'B-QRY-01',
    what: 'no action is found',
    mutation: listing(both(query('gewoon'), asks('beperkteSet', 'false')), () => []),
  },
  {
    kills: 'B-QRY-02',
    what: 'actions about others are found',
    mutation: listing(both(query('gewoon'), asks('verwerkingsactiviteitId')), (results) => [
      ...results,
      storedOf('tweede'),
    ]),
  },
  {
    kills: 'B-QRY-03',
    what: 'other persons are shown',
    mutation: listing(query('samen'), (results) =>
      results.map((one) => ({ ...one, verwerkteObjecten: storedOf('samen').verwerkteObjecten })),
    ),
  },
  {
    kills: 'B-QRY-04',
    what: 'eindDatum is included',
    mutation: listing(query('periode'), () => [storedOf('periode')]),
  },
  {
    kills: 'B-QRY-05',
    what: 'the activity is ignored',
    mutation: asking(
      both(query('gewoon'), (request) => request.query.has('verwerkingsactiviteitId')),
      { verwerkingsactiviteitId: undefined },
    ),
  },
  {
    kills: 'B-QRY-06',
    what: 'the limited set has everything',
    mutation: asking(both(query('gewoon'), by('read:restricted')), { beperkteSet: 'false' }),
  },
  {
    kills: 'B-QRY-07',
    what: 'a field is left out',
    mutation: listing(both(query('gewoon'), asks('beperkteSet', 'false')), (results) =>
      results.map(({ gebruiker: _, ...rest }) => rest),
    ),
  },
  {
    kills: 'B-QRY-08',
    what: 'all fields by default',
    mutation: asking(both(query(), asks('beperkteSet'), asks('vertrouwelijkheid', 'normaal')), {
      beperkteSet: 'false',
    }),
  },
  {
    kills: 'B-QRY-09',
    what: 'everything by default',
    mutation: asking(both(query(), asks('vertrouwelijkheid'), asks('vertrouwelijkheid__in')), ALL_STATES),
  },
  {
    kills: 'B-QRY-10',
    what: 'objecttype is optional',
    mutation: asking(both(query(), asks('objecttype')), { objecttype: 'persoon' }),
  },
  { kills: 'B-QRY-12', what: 'the oldest first', mutation: listing(query('volgorde'), (results) => results.reverse()) },
  { kills: 'B-QRY-13', what: 'one action is not offered', mutation: giving(getOne, 200, 404) },
  {
    kills: 'B-QRY-14',
    what: 'an unknown action is empty',
    mutation: giving(both(getOne, by('read:normal')), 404, 204),
  },
  { kills: 'B-QRY-15', what: 'a 403 instead of 404', mutation: giving(both(getOne, by('read:normal')), 404, 403) },
  { kills: 'B-QRY-16', what: 'naming a person is optional', mutation: allowing(both(getOne, by('read:restricted'))) },
];

export const LOG_MUTANTS: readonly LogMutant[] = [...LOGGING, ...ACCESS, ...QUERYING, ...CHANGES, ...VALUES_AND_HTTP];
