/** The suppliers that are played: what the requester is to ask of each, and what is wrong with what it answers. */
import { digestOf } from '../../../lib/jades/signature.ts';
import type { JsonObject } from '../../../lib/json/json-value.ts';
import { hs256, noSignature, ps256, rs256, type SignedHeaders, type Wishes } from '../gegevens/signed-request.ts';
import type { SupplierName } from './keys.ts';

/** An answer before it is signed. */
export interface Answer {
  status: number;
  value: JsonObject;
  /** Bytes; default: the value as JSON. */
  text?: string;
  signer: SupplierName;
  /** Value of `Digest`, which is then signed. */
  digest?: (bytes: Buffer) => string;
  wishes: Omit<Wishes, 'identity' | 'after'>;
  /** Changes the two headers after signing. */
  after?: (headers: SignedHeaders) => Readonly<Record<string, string | readonly string[] | undefined>>;
  headers: Record<string, string>;
  /** Sent in place of what was signed. */
  sent?: Buffer;
}

export interface Asked {
  readonly page: number;
  /** Requests of this scenario until now, this one counted. */
  readonly count: number;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export interface Scenario {
  /** What the requester is to ask: members of the request. Default: a quarter. */
  readonly order?: Readonly<Record<string, string | number>>;
  /** Default 5, in pages of 2. */
  readonly records?: number;
  /** Whether the answer comes in pages when none was asked for. Default true. */
  readonly paged?: boolean;
  /** The page that only who took what is wrong asks for. Default 2. */
  readonly proof?: number;
  /** Whether what is answered is of a later state: another record more, delivered an hour later. */
  readonly isLater?: (asked: Asked) => boolean;
  /** Changes a good answer. */
  readonly change?: (answer: Answer, asked: Asked) => void;
}

export const QUARTER = { aanleverperiodeStartdatum: '2026-01-01', aanleverperiodeEinddatum: '2026-03-31' } as const;
const SIGNATURE = 'nlgov-adr-payload-sig';

const wrong = (change: NonNullable<Scenario['change']>): Scenario => ({ change });
const signedBy = (signer: SupplierName): Scenario => wrong((answer) => void Object.assign(answer, { signer }));
const wishing = (wishes: Answer['wishes']): Scenario => wrong((answer) => void Object.assign(answer, { wishes }));
const after = (change: NonNullable<Answer['after']>): Scenario =>
  wrong((answer) => void Object.assign(answer, { after: change }));
const paging = (change: (paginering: Record<string, number>, asked: Asked) => void): Scenario =>
  wrong(({ value }, asked) => {
    const { paginering } = value;
    if (typeof paginering === 'object' && paginering !== null) change(Object.assign(paginering), asked);
  });
/** Members of the critical header go with the digest form. */
const DIGEST_FORM = { b64: false, sigD: { mId: 'http://uri.etsi.org/19182/HttpHeaders', pars: ['digest'] } };
const OTHER = Buffer.from('{"gegevens":{}}');

export const SCENARIOS = {
  pages: {},
  whole: { paged: false },
  empty: { records: 0, paged: false },
  'body-form': wishing({ form: 'body' }),
  'with-root': signedBy('withRoot'),
  unpadded: wrong(
    (answer) => void Object.assign(answer, { digest: (bytes: Buffer) => digestOf(bytes).replace(/=$/, '') }),
  ),
  'lower-typ': wishing({ header: { typ: 'jose' } }),
  'more-members': wishing({ header: { 'koppelvlak-proef': 1 } }),
  spelled: wrong(
    (answer) =>
      void Object.assign(answer, { text: JSON.stringify(answer.value, undefined, 2).replaceAll('"g', '"\\u0067') }),
  ),

  'no-signature': after(({ digest }) => ({ digest })),
  'no-digest': after((headers) => ({ [SIGNATURE]: headers[SIGNATURE] })),
  'other-digest': wrong((answer) => void Object.assign(answer, { digest: () => digestOf(OTHER) })),
  'changed-body': wrong((answer) => {
    answer.sent = Buffer.from(` ${JSON.stringify(answer.value)}`);
    answer.after = (headers) => ({ ...headers, digest: digestOf(answer.sent ?? OTHER) });
  }),
  'changed-signature': wishing({
    sign: (input, key) => Buffer.from(ps256(input, key).map((byte, i) => (i === 40 ? byte ^ 1 : byte))),
  }),
  'alg-none': wishing({ header: { alg: 'none' }, sign: noSignature }),
  'alg-hs256': wishing({ header: { alg: 'HS256' }, sign: hs256 }),
  'alg-rs256': wishing({ header: { alg: 'RS256' }, sign: rs256 }),
  'unknown-critical': wishing({
    header: { ...DIGEST_FORM, crit: ['sigD', 'b64', 'koppelvlak-proef'], 'koppelvlak-proef': 1 },
  }),
  'own-root': signedBy('ownRoot'),
  forged: signedBy('forged'),
  'below-leaf': signedBy('belowLeaf'),
  expired: signedBy('expired'),
  revoked: signedBy('revoked'),
  'unknown-status': signedBy('unknownStatus'),
  'second-unsigned': {
    ...wrong((answer, { page }) => {
      if (page > 1) answer.after = () => ({});
    }),
    proof: 3,
  },
  'other-model': wrong(({ value }) => void Object.assign(value, { gegevens: { leveringen: 'geen' } })),
  'future-time': wrong(
    (answer, { now }) =>
      void Object.assign(answer, { wishes: { header: { iat: Math.floor(now / 1000) + 3 * 86_400 } } }),
  ),
  'error-with-data': wrong((answer) => void Object.assign(answer, { status: 500 })),

  'first-again': {
    ...paging((paginering, { page }) => {
      if (page === 2) paginering.currentPage = 1;
    }),
    proof: 3,
  },
  'half-paging': paging((paginering) => void delete paginering.totalPages),
  'other-total': paging((paginering) => {
    paginering.totalRecords = 7;
  }),
  'two-states': { isLater: ({ count }) => count > 1 },
  busy: wrong((answer, { count }) => {
    if (count > 1) return;
    answer.status = 429;
    answer.headers['retry-after'] = '1';
    answer.after = () => ({});
    answer.value = { type: 'about:blank', title: 'Te veel verzoeken', status: 429 };
  }),
  unreachable: wrong((answer) => {
    answer.status = 502;
    // Who asks again at once is not kept waiting; how often it asks is what is looked at.
    answer.headers['retry-after'] = '0';
    answer.headers['fsc-error-code'] = 'ERROR_CODE_SERVICE_UNREACHABLE';
    answer.after = () => ({});
    answer.value = { code: 'ERROR_CODE_SERVICE_UNREACHABLE', domain: 'ERROR_DOMAIN_INWAY', status: 502 };
  }),

  year: { order: { aanleverperiodeStartdatum: '2025-01-01', aanleverperiodeEinddatum: '2025-12-31' } },
  recent: { order: {} },
  'from-start': { order: { aanleverperiodeStartdatum: '2026-01-01' } },
  'until-end': { order: { aanleverperiodeEinddatum: '2026-03-31' } },
  organisation: { order: { ...QUARTER, organisation: 'Kredietbank Proefland' } },
  'page-size': { order: { ...QUARTER, pageSize: 3 } },
  corrected: { isLater: ({ count }) => count > 3 },
} as const satisfies Readonly<Record<string, Scenario>>;

export type ScenarioName = keyof typeof SCENARIOS;
