import {
  allowing,
  anything,
  asking,
  asks,
  both,
  giving,
  type LogMutant,
  listing,
  patch,
  put,
  query,
  remove,
  sends,
  showing,
  storedOf,
  withHeaders,
} from './broken-log.ts';

const ALL_STATES = { vertrouwelijkheid: undefined, vertrouwelijkheid__in: 'normaal,vertrouwelijk,opgeheven' };
const confidential = sends(({ vertrouwelijkheid }) => vertrouwelijkheid === 'vertrouwelijk');
const lifted = sends(({ vertrouwelijkheid }) => vertrouwelijkheid === 'opgeheven');
const has = (name: string, value: unknown) => sends((body) => body[name] === value);

/** Confidentiality, retention, correction and deletion. */
export const CHANGES: readonly LogMutant[] = [
  {
    kills: 'B-CNF-01',
    what: 'confidential actions are in the ordinary list',
    mutation: asking(both(query('geheim'), asks('vertrouwelijkheid', 'normaal')), ALL_STATES),
  },
  {
    kills: 'B-CNF-02',
    what: 'confidential actions are lost',
    mutation: listing(both(query('geheim'), asks('vertrouwelijkheid', 'vertrouwelijk')), () => []),
  },
  {
    kills: 'B-CNF-03',
    what: 'only one action changes',
    mutation: listing(query('verwerking'), ([first, ...rest]) => [{ ...first, vertrouwelijkheid: 'normaal' }, ...rest]),
  },
  {
    kills: 'B-CNF-04',
    what: 'lifted actions are lost',
    mutation: listing(both(query('verwerking-opgeheven'), asks('vertrouwelijkheid', 'opgeheven')), () => []),
  },
  {
    kills: 'B-CNF-05',
    what: 'lifted actions count as `normaal`',
    mutation: asking(both(query('verwerking-opgeheven'), asks('vertrouwelijkheid', 'normaal')), ALL_STATES),
  },
  {
    kills: 'B-CNF-06',
    what: 'actions made `normaal` again count as `normaal`',
    mutation: asking(query('was-geheim'), ALL_STATES),
  },
  {
    kills: 'B-CNF-07',
    what: 'a comma-separated list is ignored',
    mutation: asking(
      both(query('gewoon'), ({ query: asked }) => asked.has('vertrouwelijkheid__in')),
      ALL_STATES,
    ),
  },
  {
    kills: 'B-CNF-08',
    what: 'only the first of several values counts',
    mutation: asking(
      both(query('geheim'), ({ query: asked }) => asked.getAll('vertrouwelijkheid').length > 1),
      { vertrouwelijkheid: 'opgeheven' },
    ),
  },
  {
    kills: 'B-CNF-09',
    what: 'update:normal changes a mixed processing',
    mutation: allowing(both(patch, has('bewaartermijn', 'P9D'))),
  },
  {
    kills: 'B-CNF-10',
    what: 'only one retention period changes',
    mutation: listing(query('termijn'), ([first, ...rest]) => [{ ...first, bewaartermijn: 'P1D' }, ...rest]),
  },
  {
    kills: 'B-CNF-11',
    what: 'an unknown processing gets 200',
    mutation: giving(
      both(
        patch,
        sends((body) => Object.keys(body).join() === 'bewaartermijn'),
      ),
      400,
      204,
    ),
  },
  {
    kills: 'B-CNF-12',
    what: 'a deleted processing is 404',
    mutation: giving(
      both(
        patch,
        sends((body) => Object.keys(body).join() === 'bewaartermijn'),
      ),
      400,
      404,
    ),
  },
  {
    kills: 'B-CNF-13',
    what: 'an empty change gets 200',
    mutation: giving(
      both(
        patch,
        sends((body) => Object.keys(body).length === 0),
      ),
      400,
      204,
    ),
  },
  { kills: 'B-CNF-14', what: 'expired actions are hidden', mutation: listing(query('verstreken'), () => []) },
  { kills: 'B-CHG-01', what: 'a change is lost', mutation: listing(query('wijzigen'), () => [storedOf('wijzigen')]) },
  {
    kills: 'B-CHG-02',
    what: 'the registration time stays',
    mutation: showing(put('opnieuw-geregistreerd'), (json) =>
      Object.assign(json, { tijdstipRegistratie: storedOf('opnieuw-geregistreerd').tijdstipRegistratie }),
    ),
  },
  {
    kills: 'B-CHG-03',
    what: 'old versions are found',
    mutation: listing(query('versies'), (results) => [...results, storedOf('versies')]),
  },
  { kills: 'B-CHG-04', what: 'absent fields keep their values', mutation: giving(put('weglaten'), 400, 200) },
  { kills: 'B-CHG-07', what: 'an unknown action is 404', mutation: giving(put(), 400, 404) },
  {
    kills: 'B-CHG-08',
    what: 'update:normal makes confidential',
    mutation: giving(both(put('gewoon'), confidential), 403, 200),
  },
  { kills: 'B-CHG-09', what: 'a correction can lift', mutation: giving(both(put(), lifted), 403, 200) },
  {
    kills: 'B-CHG-10',
    what: 'a confidential change is lost',
    mutation: listing(query('geheim-wijzigen'), () => [storedOf('geheim-wijzigen')]),
  },
  {
    kills: 'B-CHG-11',
    what: 'a deleted action is still there',
    mutation: listing(query('verwijderen'), () => [storedOf('verwijderen')]),
  },
  {
    kills: 'B-CHG-12',
    what: 'a deleted confidential action is still there',
    mutation: listing(query('geheim-verwijderen'), () => [storedOf('geheim-verwijderen')]),
  },
  { kills: 'B-CHG-13', what: 'deleting twice gets 204', mutation: giving(remove, 400, 204) },
  { kills: 'B-CHG-14', what: 'If-Match is ignored', mutation: withHeaders(anything, { 'if-match': undefined }) },
  {
    kills: 'B-CHG-15',
    what: 'If-None-Match is ignored',
    mutation: withHeaders(anything, { 'if-none-match': undefined }),
  },
];
