/** Mistakes that a requester can make. */

import type { JadesErrorCode } from '../../../src/lib/jades/certificate.ts';
import type { JsonObject } from '../../../src/lib/json/json-value.ts';
import { SIGNED_REQUESTS } from '../../requester/requests.ts';
import type { Faults, Outgoing } from '../requester/plain-requester.ts';
import type { Mutant } from './mutant.ts';
import { type Make, ruleMutants } from './signature-faults.ts';

/** A fault of a requester, or a message that it signs wrongly. */
export interface RequesterMutation {
  readonly faults?: Faults;
  readonly signs?: Make;
}

type RequesterMutant = Mutant<RequesterMutation>;

const does = (kills: string, what: string, faults: Faults): RequesterMutant => ({ kills, what, mutation: { faults } });
const ignores = (kills: string, what: string, ...codes: readonly JadesErrorCode[]): RequesterMutant =>
  does(kills, what, { ignores: (code) => codes.includes(code) });
const ignoresAlg = (kills: string, alg: string): RequesterMutant =>
  does(kills, `takes ${alg}`, { ignores: (code, header) => header.alg === alg && code.startsWith('signature') });
const orders = (kills: string, what: string, order: (order: JsonObject, page: number) => JsonObject): RequesterMutant =>
  does(kills, what, { order });
const sends = (kills: string, what: string, send: (outgoing: Outgoing) => void): RequesterMutant =>
  does(kills, what, {
    send: (outgoing) => {
      send(outgoing);
      return outgoing;
    },
  });
const sets = (outgoing: Outgoing, name: string, value: string | undefined): void => {
  outgoing.headers = outgoing.headers.filter(([header]) => header !== name);
  if (value !== undefined) outgoing.headers.push([name, value]);
};
const without =
  (...names: readonly string[]) =>
  (order: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(order).filter(([name]) => !names.includes(name)));
const START = 'aanleverperiodeStartdatum';
const END = 'aanleverperiodeEinddatum';
const hasHeader = (headers: Headers, test: (members: JsonObject) => boolean): boolean =>
  test(JSON.parse(Buffer.from(headers.get('nlgov-adr-payload-sig')?.split('.')[0] ?? 'e30', 'base64url').toString()));

const ANSWERS: readonly RequesterMutant[] = [
  does('R-ACC-01', 'forgets a record', { miscounts: (records) => Math.max(0, records - 1) }),
  does('R-ACC-02', 'requires `paginering` in every answer', { refuses: (text) => !text.includes('paginering') }),
  does('R-ACC-03', 'wants records', { refuses: (text) => !text.includes('"startdatum"') }),
  does('R-ACC-04', 'refuses a root in the chain', {
    refuses: (_, headers) => hasHeader(headers, ({ x5c }) => Array.isArray(x5c) && x5c.length > 2),
  }),
  does('R-ACC-05', 'requires 44 characters in a digest', {
    refuses: (_, headers) => headers.get('digest')?.length === 51,
  }),
  does('R-ACC-06', 'requires capitals in typ', {
    refuses: (_, headers) => hasHeader(headers, ({ typ }) => typ === 'jose'),
  }),
  does('R-ACC-07', 'refuses unknown header members', {
    refuses: (_, headers) => hasHeader(headers, (all) => Object.hasOwn(all, 'koppelvlak-proef')),
  }),
  does('R-ACC-08', 'reserialises the JSON before checking', {
    refuses: (text) => JSON.stringify(JSON.parse(text)) !== text,
  }),
  ignores('R-REF-01', 'accepts a missing signature', 'signature-missing'),
  ignores('R-REF-02', 'accepts a missing digest', 'digest-missing'),
  ignores('R-REF-03', 'does not check the digest', 'digest-mismatch'),
  ignores('R-REF-04', 'does not check the signature', 'signature-invalid'),
  ignores('R-REF-05', 'does not check the signature', 'signature-invalid'),
  ignoresAlg('R-REF-06', 'none'),
  ignoresAlg('R-REF-07', 'HS256'),
  ignoresAlg('R-REF-08', 'RS256'),
  does('R-REF-09', 'ignores crit', {
    ignores: (code, { crit }) => code === 'signature-malformed' && Array.isArray(crit) && crit.length > 2,
  }),
  ...['R-REF-10', 'R-REF-11', 'R-REF-12'].map((id) =>
    ignores(id, 'does not check the chain', 'certificate-untrusted', 'certificate-usage'),
  ),
  ignores('R-REF-13', 'does not check validity', 'certificate-expired'),
  ignores('R-REF-14', 'does not check revocation', 'certificate-revoked'),
  does('R-REF-15', 'checks the first page only', { ignores: (_code, _header, page) => page > 1 }),
  does('R-REF-16', 'does not check the model', { ignoresModel: true, ignoresTotal: true }),
  does('R-REF-17', 'accepts data with status 500', { ignoresStatus: 500 }),
  does('R-PAG-01', 'requests a page twice', { extraPages: [2] }),
  orders('R-PAG-03', 'requests later pages for one organisation', (order, page) =>
    page > 1 ? { ...order, aanleverende_organisatie: 'Kredietbank Proefland' } : order,
  ),
  does('R-PAG-04', 'does not check the page number', { ignoresPaging: true }),
  does('R-PAG-05', 'accepts a missing totalPages', { ignoresPaging: true }),
  does('R-PAG-06', 'does not count the records', { ignoresTotal: true }),
  does('R-PAG-07', 'mixes two states', { ignoresState: true, ignoresTotal: true }),
  does('R-PAG-08', 'retries at once', { waits: 0 }),
  does('R-PAG-09', 'retries endlessly', { attempts: 12 }),
];

const REQUESTS: readonly RequesterMutant[] = [
  orders('R-CAL-01', 'requests another day', (order) =>
    order[START] === '2026-01-01' && order[END] === '2026-03-31' ? { ...order, [END]: '2026-03-30' } : order,
  ),
  orders('R-CAL-02', 'requests a quarter instead of the year', (order) =>
    order[START] === '2025-01-01' ? { ...order, [END]: '2025-03-31' } : order,
  ),
  orders('R-CAL-03', 'always sends dates', (order) => ({ [START]: '2026-01-01', [END]: '2026-03-31', ...order })),
  orders('R-CAL-04', 'adds an end date', (order) =>
    order[END] === undefined && order[START] !== undefined ? { ...order, [END]: '2026-12-31' } : order,
  ),
  orders('R-CAL-05', 'adds a start date', (order) =>
    order[START] === undefined && order[END] !== undefined ? { ...order, [START]: '2026-01-01' } : order,
  ),
  orders('R-CAL-06', 'requests all organisations', without('aanleverende_organisatie')),
  orders('R-CAL-07', 'omits the page size', (order, page) => (page === 1 ? without('pageSize')(order) : order)),
  does('R-CAL-08', 'reuses an earlier answer', { keepsAnswers: true }),
  {
    ...does('R-REQ-01', 'uses GET', { send: (outgoing) => ({ ...outgoing, method: 'GET' }) }),
    breaksTransport: true,
  },
  sends('R-REQ-02', 'sends text', (outgoing) => sets(outgoing, 'content-type', 'text/plain')),
  {
    ...does('R-REQ-03', 'sends Latin-1', {
      send: (outgoing) => ({ ...outgoing, body: Buffer.from('{"aanleverende_organisatie":"caf\xe9"}', 'latin1') }),
    }),
    breaksTransport: true,
  },
  orders('R-REQ-04', 'sends an unknown member', (order) => ({ ...order, soort: 'alles' })),
  {
    ...sends('R-REQ-05', 'sends no token', (outgoing) => sets(outgoing, 'authorization', undefined)),
    breaksTransport: true,
  },
  does('R-REQ-06', 'has parameters in the address', {
    send: (outgoing) => ({ ...outgoing, url: `${outgoing.url}?pagina=1` }),
  }),
  sends('R-REQ-07', 'accepts XML only', (outgoing) => sets(outgoing, 'accept', 'application/xml')),
];

const SIGNED = ruleMutants([SIGNED_REQUESTS], (signs): RequesterMutation => ({ signs }));

export const REQUESTER_MUTANTS: readonly RequesterMutant[] = [...ANSWERS, ...REQUESTS, ...SIGNED];
