/** Mistakes that a supplier can make with requests. */
import { digestOf } from '../../../src/lib/jades/signature.ts';
import {
  type Asked,
  accepts,
  answersWith,
  changes,
  type GegevensMutant,
  head,
  holds,
  leafOf,
  ok,
  type Parties,
  parsed,
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
    what: 'a 401 is plain text',
    mutation: head((_, one) => hasNoToken(one), 'content-type', 'text/plain'),
  },
  { kills: 'A-ACC-05', what: 'tokens are not parsed', mutation: accepts(isUnreadable) },
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
    kills: 'A-ACC-11',
    what: 'a token in the URL is accepted',
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
    what: 'the address does not exist',
    mutation: changes(ok, (answer) => {
      answer.status = 404;
    }),
  },
  { kills: 'A-REQ-02', what: 'an empty object is refused', mutation: answersWith(({ text }) => text === '{}', 400) },
  { kills: 'A-REQ-03', what: 'page 0 is the first', mutation: accepts(({ json }) => json.page === 0) },
  { kills: 'A-REQ-04', what: 'an empty page size is accepted', mutation: accepts(({ json }) => json.pageSize === 0) },
  {
    kills: 'A-REQ-05',
    what: 'a string is read as a number',
    mutation: accepts(({ json }) => typeof json.page === 'string'),
  },
  {
    kills: 'A-REQ-06',
    what: 'unknown members are ignored',
    mutation: accepts(({ json }) => json.conformanceOnbekend !== undefined),
  },
  {
    kills: 'A-REQ-07',
    what: '30 February is accepted',
    mutation: accepts(({ json }) => json.aanleverperiodeStartdatum === '2026-02-30'),
  },
  {
    kills: 'A-REQ-08',
    what: 'half a body is accepted',
    mutation: accepts(({ text }) => text.startsWith('{') && !text.endsWith('}')),
  },
  {
    kills: 'A-REQ-09',
    what: 'bytes that are not UTF-8 are replaced',
    mutation: accepts(({ text }) => text.includes('\ufffd')),
  },
  {
    kills: 'A-REQ-10',
    what: 'no body means everything',
    mutation: accepts(({ method, text }) => method === 'POST' && text === ''),
  },
  {
    kills: 'A-REQ-11',
    what: 'a reversed period is swapped',
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
/** A well-formed signature, by the right certificate, that does not verify. */
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
    what: 'any digest algorithm is accepted',
    mutation: accepts(({ digest }) => digest.startsWith('SHA-512=') && !digest.includes('SHA-256=')),
  },
  {
    kills: 'A-SIG-06',
    what: 'a signature over other bytes is accepted',
    mutation: accepts((one, parties) => isBroken(one, parties) && !isSmall(one)),
  },
  {
    kills: 'A-SIG-07',
    what: 'the signature itself is not checked',
    mutation: accepts((one, parties) => isBroken(one, parties) && isSmall(one) && one.jose.kid !== 'x'),
  },
  {
    kills: 'A-SIG-08',
    what: 'the header is not covered by the signature',
    mutation: accepts((one, parties) => isBroken(one, parties) && one.jose.kid === 'x'),
  },
  { kills: 'A-SIG-09', what: '`alg: none` is accepted', mutation: accepts(({ jose }) => jose.alg === 'none') },
  { kills: 'A-SIG-10', what: 'HS256 is accepted', mutation: accepts(({ jose }) => jose.alg === 'HS256') },
  { kills: 'A-SIG-11', what: 'RS256 is accepted', mutation: accepts(({ jose }) => jose.alg === 'RS256') },
  {
    kills: 'A-SIG-12',
    what: 'the key is accepted without a chain',
    mutation: accepts(({ jose }) => jose.alg === 'PS256' && jose.x5c === undefined),
  },
  { kills: 'A-SIG-13', what: 'the key is looked up by the token', mutation: isOf('supplier') },
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
    what: 'any certificate counts as an authority',
    mutation: accepts((one) => chain(one).length === 3),
  },
  { kills: 'A-SIG-18', what: 'revocation is not checked', mutation: isOf('revoked') },
  { kills: 'A-SIG-19', what: 'dates are not checked', mutation: isOf('expired') },
  {
    kills: 'A-SIG-20',
    what: '`crit` is ignored',
    mutation: accepts(({ jose }) => jose['urn:conformance:onbekend'] !== undefined),
  },
  {
    kills: 'A-SIG-21',
    what: '`b64` is honoured without `crit`',
    mutation: accepts(({ jose }) => jose.b64 === false && !(Array.isArray(jose.crit) && jose.crit.includes('b64'))),
  },
  {
    kills: 'A-SIG-22',
    what: 'an attached signature is accepted',
    mutation: accepts(({ parts }) => (parts[1] ?? '') !== ''),
  },
  {
    kills: 'A-SIG-25',
    what: 'the first of two signatures is used',
    mutation: accepts(({ headers }) => String(headers[SIGNATURE]).includes(',')),
  },
];

function isKnown(identities: Parties['identities'], leaf: unknown): boolean {
  return Object.values(identities).some(({ x5c }) => x5c[0] === leaf);
}

export const REQUEST_MUTANTS: readonly GegevensMutant[] = [...ACCESS, ...REQUEST, ...SIGNING];
