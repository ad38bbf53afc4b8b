/** The played suppliers: what the requester must request from each, and what is wrong with the answer. */
import { digestOf } from '../../src/lib/jades/signature.ts';
import type { JsonObject } from '../../src/lib/json/json-value.ts';
import { bytesOf } from '../client.ts';
import {
  changedSignature,
  hs256,
  noSignature,
  rs256,
  type SignedHeaders,
  type Wishes,
} from '../gegevens/signed-request.ts';
import { SIGNATURE } from '../signature/message.ts';
import type { SupplierName } from './keys.ts';

/** An answer before it is signed. */
export interface Answer {
  readonly status: number;
  readonly value: JsonObject;
  readonly signer: SupplierName;
  readonly wishes: Pick<Wishes, 'body' | 'form' | 'header' | 'sign' | 'digest' | 'sent'>;
  /** Changes the two headers after signing. */
  readonly after?: (headers: SignedHeaders) => Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Asked {
  readonly page: number;
  /** Requests of this scenario so far, including this one. */
  readonly count: number;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export interface Scenario {
  /** Members of the request that the requester must send. Default: a quarter. */
  readonly order?: Readonly<Record<string, string | number>>;
  /** Default 5, in pages of 2. */
  readonly records?: number;
  /** True when the answer is paged even if no paging was requested. Default true. */
  readonly paged?: boolean;
  /** The page that only a requester that accepted the fault requests. Default 2. */
  readonly proof?: number;
  /** True to answer with a later state: one more record, delivered an hour later. */
  readonly isLater?: (asked: Asked) => boolean;
  /** How the answer differs from a valid one. */
  readonly change?: (good: Answer, asked: Asked) => Partial<Answer>;
}

export const QUARTER = { aanleverperiodeStartdatum: '2026-01-01', aanleverperiodeEinddatum: '2026-03-31' } as const;

const wrong = (change: NonNullable<Scenario['change']>): Scenario => ({ change });
const having = (otherwise: Partial<Answer>): Scenario => wrong(() => otherwise);
const signedBy = (signer: SupplierName): Scenario => having({ signer });
const wishing = (wishes: Answer['wishes']): Scenario => having({ wishes });
const paging = (change: (asked: Asked) => Readonly<Record<string, number | undefined>>): Scenario =>
  wrong(({ value }, asked) => ({ value: { ...value, paginering: { ...Object(value.paginering), ...change(asked) } } }));
const OTHER = Buffer.from('{"gegevens":{}}');

const scenarios = {
  pages: {},
  whole: { paged: false },
  empty: { records: 0, paged: false },
  'body-form': wishing({ form: 'body' }),
  'with-root': signedBy('withRoot'),
  unpadded: wrong(({ value }) => ({ wishes: { digest: digestOf(bytesOf(value)).replace(/=$/, '') } })),
  'lower-typ': wishing({ header: { typ: 'jose' } }),
  'more-members': wishing({ header: { 'koppelvlak-proef': 1 } }),
  spelled: wrong(({ value }) => {
    const body = JSON.stringify(value, undefined, 2).replaceAll('"g', '"\\u0067');
    return { wishes: { body } };
  }),

  'no-signature': having({ after: ({ digest }) => ({ digest }) }),
  'no-digest': having({ after: (headers) => ({ [SIGNATURE]: headers[SIGNATURE] }) }),
  'other-digest': wishing({ digest: digestOf(OTHER) }),
  'changed-body': wrong(({ value }) => {
    const sent = Buffer.from(` ${JSON.stringify(value)}`);
    return { wishes: { sent }, after: (headers) => ({ ...headers, digest: digestOf(sent) }) };
  }),
  'changed-signature': wishing({ sign: changedSignature }),
  'alg-none': wishing({ header: { alg: 'none' }, sign: noSignature }),
  'alg-hs256': wishing({ header: { alg: 'HS256' }, sign: hs256 }),
  'alg-rs256': wishing({ header: { alg: 'RS256' }, sign: rs256 }),
  'unknown-critical': wishing({ header: { crit: ['sigD', 'b64', 'koppelvlak-proef'], 'koppelvlak-proef': 1 } }),
  'own-root': signedBy('ownRoot'),
  forged: signedBy('forged'),
  'below-leaf': signedBy('belowLeaf'),
  expired: signedBy('expired'),
  revoked: signedBy('revoked'),
  'unknown-status': signedBy('unknownStatus'),
  'second-unsigned': {
    ...wrong((_, { page }) => (page > 1 ? { after: () => ({}) } : {})),
    proof: 3,
  },
  'other-model': wrong(({ value }) => ({ value: { ...value, gegevens: { leveringen: 'geen' } } })),
  'future-time': wrong((_, { now }) => ({ wishes: { header: { iat: Math.floor(now / 1000) + 3 * 86_400 } } })),
  'error-with-data': having({ status: 500 }),

  'first-again': {
    ...paging(({ page }) => (page === 2 ? { currentPage: 1 } : {})),
    proof: 3,
  },
  'half-paging': paging(() => ({ totalPages: undefined })),
  'other-total': paging(() => ({ totalRecords: 7 })),
  'two-states': { isLater: ({ count }) => count > 1 },
  busy: wrong((_, { count }) =>
    count > 1
      ? {}
      : {
          status: 429,
          headers: { 'retry-after': '1' },
          after: () => ({}),
          value: { type: 'about:blank', title: 'Te veel verzoeken', status: 429 },
        },
  ),
  unreachable: having({
    status: 502,
    // An immediate retry is not delayed, because the number of requests is what counts here.
    headers: { 'retry-after': '0', 'fsc-error-code': 'ERROR_CODE_SERVICE_UNREACHABLE' },
    after: () => ({}),
    value: { code: 'ERROR_CODE_SERVICE_UNREACHABLE', domain: 'ERROR_DOMAIN_INWAY', status: 502 },
  }),

  year: { order: { aanleverperiodeStartdatum: '2025-01-01', aanleverperiodeEinddatum: '2025-12-31' } },
  recent: { order: {} },
  'from-start': { order: { aanleverperiodeStartdatum: '2026-01-01' } },
  'until-end': { order: { aanleverperiodeEinddatum: '2026-03-31' } },
  organisation: { order: { ...QUARTER, organisation: 'Kredietbank Proefland' } },
  'page-size': { order: { ...QUARTER, pageSize: 3 } },
  corrected: { isLater: ({ count }) => count > 3 },
} satisfies Readonly<Record<string, Scenario>>;

export type ScenarioName = keyof typeof scenarios;
export const SCENARIOS: Readonly<Record<ScenarioName, Scenario>> = scenarios;
export const isScenario = (name: string): name is ScenarioName => Object.hasOwn(SCENARIOS, name);
export const SCENARIO_NAMES: readonly ScenarioName[] = Object.keys(SCENARIOS).filter(isScenario);
