/** What a supplier can do wrong: each breaks one rule, and the case that tests it must fail. */

import { type Identity, rs256 } from '../../../../src/extensions/conformance/gegevens/signed-request.ts';
import { makeStrangers } from '../../../../src/extensions/conformance/gegevens/strangers.ts';
import { digestOf } from '../../../../src/lib/jades/signature.ts';
import { isJson } from './breaking.ts';
import {
  type Asked,
  accepts,
  answersWith,
  changes,
  delivers,
  type GegevensMutant,
  head,
  holds,
  leafOf,
  leveringen,
  ok,
  type Parties,
  paging,
  parsed,
  problem,
  recordLists,
  signs,
} from './breaking-gegevens.ts';

const SIGNATURE = 'nlgov-adr-payload-sig';
const hasNoToken = ({ token }: Asked): boolean => token === undefined;
const isUnreadable = ({ token }: Asked): boolean => token === 'geen.geldig.token';
const jwt = ({ token = '' }: Asked, part: number) =>
  parsed(Buffer.from(token.split('.')[part] ?? '', 'base64url').toString());
const hasToken = (name: string) => accepts(({ token }, { accessTokens }) => token === accessTokens[name]);

const ACCESS: readonly GegevensMutant[] = [
  { kills: 'A-ACC-01', what: 'no token is needed', mutation: accepts(hasNoToken) },
  {
    kills: 'A-ACC-02',
    what: 'a 401 has no challenge',
    mutation: head((_, one) => hasNoToken(one), 'www-authenticate'),
  },
  { kills: 'A-ACC-03', what: 'a 401 has no code', mutation: head((_, one) => hasNoToken(one), 'fsc-error-code') },
  {
    kills: 'A-ACC-04',
    what: 'a 401 is a text',
    mutation: head((_, one) => hasNoToken(one), 'content-type', 'text/plain'),
  },
  { kills: 'A-ACC-05', what: 'tokens are not read', mutation: accepts(isUnreadable) },
  {
    kills: 'A-ACC-06',
    what: 'the signature of a token is not checked',
    mutation: accepts((one) => jwt(one, 1).exp === 4_102_444_800),
  },
  { kills: 'A-ACC-07', what: '`alg: none` is accepted', mutation: accepts((one) => jwt(one, 0).alg === 'none') },
  {
    kills: 'A-ACC-08',
    what: 'the key in a token is used',
    mutation: accepts((one) => jwt(one, 0).jwk !== undefined),
  },
  {
    kills: 'A-ACC-09',
    what: 'the challenge does not say why',
    mutation: head((_, one) => isUnreadable(one), 'www-authenticate', 'Bearer'),
  },
  {
    kills: 'A-ACC-10',
    what: 'an invalid token is called missing',
    mutation: head((_, one) => isUnreadable(one), 'fsc-error-code', 'ERROR_CODE_ACCESS_TOKEN_MISSING'),
  },
  {
    kills: 'A-ACC-11',
    what: 'a token in the address counts',
    mutation: accepts(({ query }) => query.has('access_token')),
  },
  {
    kills: 'A-ACC-12',
    what: 'the scheme must be `Bearer`',
    mutation: answersWith(({ headers }) => headers.authorization?.startsWith('bearer ') ?? false, 401),
  },
  { kills: 'A-ACC-13', what: 'tokens do not expire', mutation: hasToken('expired') },
  { kills: 'A-ACC-14', what: 'scopes are not checked', mutation: hasToken('without-scope') },
  { kills: 'A-ACC-15', what: 'groups are not checked', mutation: hasToken('other-group') },
  { kills: 'A-ACC-16', what: 'services are not checked', mutation: hasToken('other-service') },
];

const REQUEST: readonly GegevensMutant[] = [
  {
    kills: 'A-REQ-01',
    what: 'there is nothing at the address',
    mutation: changes(ok, (answer) => {
      answer.status = 404;
    }),
  },
  { kills: 'A-REQ-02', what: 'an empty object is refused', mutation: answersWith(({ text }) => text === '{}', 400) },
  { kills: 'A-REQ-03', what: 'page 0 is the first', mutation: accepts(({ json }) => json.page === 0) },
  { kills: 'A-REQ-04', what: 'a page of nothing', mutation: accepts(({ json }) => json.pageSize === 0) },
  {
    kills: 'A-REQ-05',
    what: 'text is read as a number',
    mutation: accepts(({ json }) => typeof json.page === 'string'),
  },
  {
    kills: 'A-REQ-06',
    what: 'unknown members are ignored',
    mutation: accepts(({ json }) => json.conformanceOnbekend !== undefined),
  },
  {
    kills: 'A-REQ-07',
    what: 'February has thirty days',
    mutation: accepts(({ json }) => json.aanleverperiodeStartdatum === '2026-02-30'),
  },
  {
    kills: 'A-REQ-08',
    what: 'half a body will do',
    mutation: accepts(({ text }) => text.startsWith('{') && !text.endsWith('}')),
  },
  {
    kills: 'A-REQ-09',
    what: 'bytes that are not UTF-8 are replaced',
    mutation: accepts(({ text }) => text.includes('\ufffd')),
  },
  {
    kills: 'A-REQ-10',
    what: 'no body asks for everything',
    mutation: accepts(({ method, text }) => method === 'POST' && text === ''),
  },
  {
    kills: 'A-REQ-11',
    what: 'a period that runs backwards is turned',
    mutation: accepts(
      ({ json: { aanleverperiodeStartdatum: start, aanleverperiodeEinddatum: end } }) =>
        typeof start === 'string' && typeof end === 'string' && start > end,
    ),
  },
  {
    kills: 'A-REQ-14',
    what: 'the headers about the processing are refused',
    mutation: answersWith(({ headers }) => headers.verwerkingid !== undefined, 400),
  },
];

const isSmall = ({ text }: Asked): boolean => text === '{"page":1,"pageSize":1}';
/** A signature in the right form, by the right certificate, that does not hold. */
const isBroken = (one: Asked, { identities }: Parties): boolean =>
  leafOf(one) === identities.requester.x5c[0] && one.jose.alg === 'PS256' && one.parts[1] === '' && !holds(one);
const chain = ({ jose }: Asked): readonly unknown[] => (Array.isArray(jose.x5c) ? jose.x5c : []);
const isOf = (identity: keyof Parties['identities']) =>
  accepts((one, { identities }) => leafOf(one) === identities[identity].x5c[0]);

const SIGNING: readonly GegevensMutant[] = [
  {
    kills: 'A-SIG-02',
    what: 'no signature is needed',
    mutation: accepts(
      ({ method, headers, digest }) => method === 'POST' && headers[SIGNATURE] === undefined && digest !== '',
    ),
  },
  {
    kills: 'A-SIG-03',
    what: 'no digest is needed',
    mutation: accepts(({ method, parts, digest }) => method === 'POST' && parts.length === 3 && digest === ''),
  },
  {
    kills: 'A-SIG-04',
    what: 'the digest is not compared',
    mutation: accepts(({ digest, body }) => digest.startsWith('SHA-256=') && digest !== digestOf(body)),
  },
  {
    kills: 'A-SIG-05',
    what: 'any algorithm of a digest will do',
    mutation: accepts(({ digest }) => digest.startsWith('SHA-512=') && !digest.includes('SHA-256=')),
  },
  {
    kills: 'A-SIG-06',
    what: 'a signature over other bytes counts',
    mutation: accepts((one, parties) => isBroken(one, parties) && !isSmall(one)),
  },
  {
    kills: 'A-SIG-07',
    what: 'the signature itself is not checked',
    mutation: accepts((one, parties) => isBroken(one, parties) && isSmall(one) && one.jose.kid !== 'x'),
  },
  {
    kills: 'A-SIG-08',
    what: 'the header is not covered',
    mutation: accepts((one, parties) => isBroken(one, parties) && one.jose.kid === 'x'),
  },
  { kills: 'A-SIG-09', what: '`alg: none` is accepted', mutation: accepts(({ jose }) => jose.alg === 'none') },
  { kills: 'A-SIG-10', what: 'HS256 is accepted', mutation: accepts(({ jose }) => jose.alg === 'HS256') },
  { kills: 'A-SIG-11', what: 'RS256 is accepted', mutation: accepts(({ jose }) => jose.alg === 'RS256') },
  {
    kills: 'A-SIG-12',
    what: 'the key is known without a chain',
    mutation: accepts(({ jose }) => jose.alg === 'PS256' && jose.x5c === undefined),
  },
  { kills: 'A-SIG-13', what: 'the key is found by the token', mutation: isOf('supplier') },
  {
    kills: 'A-SIG-14',
    what: 'the key in the header is used',
    mutation: accepts(({ jose }) => jose.jwk !== undefined),
  },
  {
    kills: 'A-SIG-15',
    what: 'any root is trusted',
    mutation: accepts(
      (one, { identities }) => chain(one).length === 2 && chain(one)[1] !== identities.requester.x5c[1] && holds(one),
    ),
  },
  {
    kills: 'A-SIG-16',
    what: 'issuers are compared by name',
    mutation: accepts(
      (one, { identities }) =>
        chain(one).length === 2 &&
        chain(one)[1] === identities.requester.x5c[1] &&
        !isKnown(identities, leafOf(one)) &&
        holds(one),
    ),
  },
  {
    kills: 'A-SIG-17',
    what: 'whatever has a key is an authority',
    mutation: accepts((one) => chain(one).length === 3),
  },
  { kills: 'A-SIG-18', what: 'revocation is not checked', mutation: isOf('revoked') },
  { kills: 'A-SIG-19', what: 'dates are not checked', mutation: isOf('expired') },
  {
    kills: 'A-SIG-20',
    what: '`crit` is not read',
    mutation: accepts(({ jose }) => jose['urn:conformance:onbekend'] !== undefined),
  },
  {
    kills: 'A-SIG-21',
    what: '`b64` counts without `crit`',
    mutation: accepts(({ jose }) => jose.b64 === false && !(Array.isArray(jose.crit) && jose.crit.includes('b64'))),
  },
  {
    kills: 'A-SIG-22',
    what: 'an attached signature counts',
    mutation: accepts(({ parts }) => (parts[1] ?? '') !== ''),
  },
];

function isKnown(identities: Parties['identities'], leaf: unknown): boolean {
  return Object.values(identities).some(({ x5c }) => x5c[0] === leaf);
}

const isPaged = ({ json }: Asked): boolean => json.pageSize === 3;
const isLaterPage = ({ json }: Asked): boolean => Number(json.page) > 1;
const has = (name: string) => (one: Asked) => one.json[name] !== undefined;
const hasDates = has('aanleverperiodeEinddatum');
const isMonth = ({ json }: Asked): boolean => String(json.aanleverperiodeEinddatum).endsWith('-28');
const flips = new Map<string, number>();

const ANSWERS: readonly GegevensMutant[] = [
  { kills: 'A-ANS-01', what: 'an answer is text', mutation: head(ok, 'content-type', 'text/plain') },
  {
    kills: 'A-ANS-02',
    what: 'an answer has a member of its own',
    mutation: delivers((body) => {
      body.meta = {};
    }),
  },
  {
    kills: 'A-ANS-03',
    what: 'a `teller` is text',
    mutation: delivers((body) => {
      for (const levering of leveringen(body)) levering.teller = 'een';
    }),
  },
  {
    kills: 'A-ANS-05',
    what: 'a page does not say which it is',
    mutation: delivers((body) => {
      delete body.paginering;
    }),
  },
  {
    kills: 'A-ANS-06',
    what: 'a page has a record too many',
    mutation: delivers((body) => {
      for (const records of recordLists(body).slice(0, 1)) records.push(records[0]);
    }, isPaged),
  },
  {
    kills: 'A-ANS-07',
    what: 'every page is the first',
    mutation: delivers((body) => {
      paging(body).currentPage = 1;
    }, isLaterPage),
  },
  {
    kills: 'A-ANS-08',
    what: 'there is a page too many',
    mutation: delivers((body) => {
      paging(body).totalPages = Number(paging(body).totalPages) + 1;
    }, isPaged),
  },
  {
    kills: 'A-ANS-09',
    what: 'a record is counted that does not come',
    mutation: delivers((body) => {
      paging(body).totalRecords = Number(paging(body).totalRecords) + 1;
    }, isPaged),
  },
  {
    kills: 'A-ANS-10',
    what: 'the total grows on the way',
    mutation: delivers((body) => {
      paging(body).totalRecords = Number(paging(body).totalRecords) + 1;
    }, isLaterPage),
  },
  {
    kills: 'A-ANS-11',
    what: 'a record is on two pages, and another on none',
    mutation: delivers(
      (body) => {
        for (const records of recordLists(body).slice(0, 1)) records[0] = records.at(-1);
      },
      (asked) => isPaged(asked) && !isLaterPage(asked),
    ),
  },
  {
    kills: 'A-ANS-12',
    what: 'the order is another one each time',
    mutation: delivers((body, { text }) => {
      const times = (flips.get(text) ?? 0) + 1;
      flips.set(text, times);
      const [first] = recordLists(body);
      if (times % 2 === 0 && first !== undefined)
        first[0] = { ...(isJson(first[0]) ? first[0] : {}), omschrijving: 'x' };
    }, isPaged),
  },
  {
    kills: 'A-ANS-14',
    what: 'the period is ignored',
    mutation: delivers((body) => {
      for (const [record] of recordLists(body)) if (isJson(record)) record.startdatum = '2027-01-01';
    }, isMonth),
  },
  {
    kills: 'A-ANS-15',
    what: 'without dates something else comes',
    mutation: delivers(
      (body) => {
        for (const records of recordLists(body).slice(0, 1)) records.pop();
      },
      (asked) => hasDates(asked) && !isMonth(asked),
    ),
  },
  {
    kills: 'A-ANS-17',
    what: 'the organisation is ignored',
    mutation: accepts(has('aanleverende_organisatie'), {}),
  },
  {
    kills: 'A-ANS-18',
    what: 'a page may be of any size',
    mutation: (parties) => ({
      ...accepts(({ json }) => Number(json.pageSize) > 1000)(parties),
      ...delivers(
        (body, { json }) => {
          paging(body).pageSize = json.pageSize;
        },
        ({ json }) => Number(json.pageSize) > 1000,
      )(parties),
    }),
  },
];

const stranger = (identity: Identity): Identity => makeStrangers(identity).ownRoot;

const ANSWER_SIGNATURE: readonly GegevensMutant[] = [
  { kills: 'A-JWS-01', what: 'an answer has no digest', mutation: head(ok, 'digest') },
  {
    kills: 'A-JWS-02',
    what: 'the digest is of other bytes',
    mutation: head(ok, 'digest', digestOf(Buffer.from('iets anders'))),
  },
  { kills: 'A-JWS-03', what: 'an answer has no signature', mutation: head(ok, SIGNATURE) },
  {
    kills: 'A-JWS-04',
    what: 'answers are signed with RS256',
    mutation: signs(() => ({ header: { alg: 'RS256' }, sign: rs256 })),
  },
  { kills: 'A-JWS-05', what: 'no key is named', mutation: signs(() => ({ header: { kid: undefined } })) },
  { kills: 'A-JWS-06', what: 'the type is that of a token', mutation: signs(() => ({ header: { typ: 'JWT' } })) },
  {
    kills: 'A-JWS-07',
    what: 'the chain begins with the authority',
    mutation: signs(({ identities: { supplier } }) => ({ header: { x5c: supplier.x5c.toReversed() } })),
  },
  {
    kills: 'A-JWS-08',
    what: '`crit` names what is not there',
    mutation: signs(() => ({ header: { crit: ['b64', 'sigD', 'sigPId'] } })),
  },
  {
    kills: 'A-JWS-09',
    what: 'the signature is of another key',
    mutation: signs(({ identities: { supplier } }) => ({
      identity: { key: stranger(supplier).key, x5c: supplier.x5c },
    })),
  },
  {
    kills: 'A-JWS-10',
    what: 'the chain leads elsewhere',
    mutation: signs(({ identities: { supplier } }) => ({ identity: stranger(supplier) })),
  },
  {
    kills: 'A-JWS-11',
    what: 'the certificate has expired',
    mutation: signs(({ identities }) => ({ identity: identities.expiredSupplier })),
  },
  {
    kills: 'A-JWS-12',
    what: 'the certificate was revoked',
    mutation: signs(({ identities }) => ({ identity: identities.revoked })),
  },
  {
    kills: 'A-JWS-13',
    what: 'later pages are not signed',
    mutation: head((answer, asked) => ok(answer) && isLaterPage(asked), SIGNATURE),
  },
  { kills: 'A-JWS-16', what: 'no thumbprint', mutation: signs(() => ({ header: { 'x5t#S256': undefined } })) },
  { kills: 'A-JWS-14', what: 'no signing time', mutation: signs(() => ({ header: { iat: undefined } })) },
];

const isWrongPage = ({ json }: Asked): boolean => json.page === 0;
const isElsewhere = ({ path }: Asked): boolean => path.includes('bestaat-niet');

const ERRORS: readonly GegevensMutant[] = [
  {
    kills: 'A-ERR-01',
    what: 'an error is plain JSON',
    mutation: head((_, asked) => isWrongPage(asked), 'content-type', 'application/json'),
  },
  {
    kills: 'A-ERR-02',
    what: 'a problem says another status',
    mutation: problem(
      (_, asked) => isWrongPage(asked),
      (body) => {
        body.status = 422;
      },
    ),
  },
  {
    kills: 'A-ERR-03',
    what: 'a 404 is a plain problem',
    mutation: problem(
      (_, asked) => isElsewhere(asked),
      (body) => {
        delete body.code;
      },
    ),
  },
  {
    kills: 'A-ERR-04',
    what: 'a 404 has no code',
    mutation: head((_, asked) => isElsewhere(asked), 'fsc-error-code'),
  },
  {
    kills: 'A-ERR-05',
    what: 'an error comes with data',
    mutation: problem(
      (_, asked) => isElsewhere(asked),
      (body) => {
        body.gegevens = { leveringen: [] };
      },
    ),
  },
  { kills: 'A-HTTP-01', what: 'GET is answered', mutation: answersWith(({ method }) => method === 'GET', 200) },
  { kills: 'A-HTTP-02', what: 'a 405 has no `Allow`', mutation: head((_, { method }) => method === 'GET', 'allow') },
  { kills: 'A-HTTP-03', what: 'PUT is answered', mutation: answersWith(({ method }) => method === 'PUT', 200) },
  {
    kills: 'A-HTTP-04',
    what: 'any media type will do',
    mutation: accepts(({ headers }) => headers['content-type'] === 'text/plain'),
  },
  {
    kills: 'A-HTTP-05',
    what: 'media types have a case',
    mutation: answersWith(({ headers }) => headers['content-type'] === 'Application/JSON', 415),
  },
  { kills: 'A-HTTP-06', what: 'answers may be stored', mutation: head(ok, 'cache-control') },
  { kills: 'A-HTTP-07', what: 'no version', mutation: head(ok, 'api-version') },
];

export const GEGEVENS_MUTANTS: readonly GegevensMutant[] = [
  ...ACCESS,
  ...REQUEST,
  ...SIGNING,
  ...ANSWERS,
  ...ANSWER_SIGNATURE,
  ...ERRORS,
];
