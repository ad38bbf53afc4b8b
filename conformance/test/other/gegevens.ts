/**
 * A second supplier of data (SHV), as small as possible: written from the contract alone, with only the standard library. It delivers one
 * file, as `gegevens generate` writes it. It accepts no FSC tokens, and checks no revocation.
 */
import * as crypto from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, STATUS_CODES } from 'node:http';

type Json = Readonly<Record<string, unknown>>;

/** Ends a call with an answer: an FSC error if `kind` is one of its codes, otherwise an RFC 9457 problem. */
class Refusal extends Error {
  readonly about: { readonly status: number; readonly kind: string; readonly headers: Record<string, string> };

  constructor(status: number, kind: string, detail: string, headers: Record<string, string> = {}) {
    super(detail);
    this.about = { status, kind, headers };
  }
}

function check(holds: boolean, status: number, kind: string, detail: string): asserts holds {
  if (!holds) throw new Refusal(status, kind, detail);
}

export interface OtherSupplierNeeds {
  /** A message of the exchange model. */
  readonly file: string;
  /** PEM files; the anchors are the roots of requesters' certificates. */
  readonly key: string;
  readonly chain: string;
  readonly anchors: string;
  /** OINs that may send requests. */
  readonly signers: readonly string[];
  readonly issuer: string;
  readonly audience: string;
  readonly keysUrl: string;
}

const MOST_RECORDS = 25_000;
const PROBLEM = 'application/problem+json';
const MOST_BYTES = 65_536;
const [LEEWAY_SECONDS, MOST_AGE_SECONDS] = [300, 86_400];
const HTTP_HEADERS = 'http://uri.etsi.org/19182/HttpHeaders';
const PSS = { padding: crypto.constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };
const ALGORITHMS = new Map<unknown, { readonly type: string; readonly how: object }>([
  ['RS256', { type: 'rsa', how: {} }],
  ['PS256', { type: 'rsa', how: PSS }],
  ['ES256', { type: 'ec', how: { dsaEncoding: 'ieee-p1363' } }],
]);
const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isJson) : []);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const isDay = (value: unknown): boolean => {
  const moment = new Date(`${text(value)}T00:00:00Z`);
  return !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(`${text(value)}T`);
};
const isCount = (most: number) => (value: unknown) =>
  Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= most;
const MEMBERS: Readonly<Record<string, (value: unknown) => boolean>> = {
  aanleverperiodeStartdatum: isDay,
  aanleverperiodeEinddatum: isDay,
  page: isCount(2 ** 31 - 1),
  pageSize: isCount(MOST_RECORDS),
  aanleverende_organisatie: (value) => typeof value === 'string' && value.length <= 1000,
};

const bytesOf = (base64url: string | undefined): Buffer => Buffer.from(base64url ?? '', 'base64url');
/** A JSON object in UTF-8, or undefined. */
function objectIn(bytes: Uint8Array): Json | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return isJson(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The certificates in `x5c`; empty when unreadable. */
function certificatesIn(x5c: unknown): readonly crypto.X509Certificate[] {
  try {
    return [x5c].flat().map((der) => new crypto.X509Certificate(Buffer.from(text(der), 'base64')));
  } catch {
    return [];
  }
}

const certificatesOf = (file: string): readonly crypto.X509Certificate[] =>
  certificatesIn(readFileSync(file, 'utf8').match(/(?<=-----BEGIN CERTIFICATE-----)[^-]+/g));

/**
 * Path validation of RFC 5280 section 6, as far as the standard library supports it.
 * @throws {Refusal}
 */
function requireTrusted(chain: readonly crypto.X509Certificate[], anchors: readonly crypto.X509Certificate[]): void {
  for (const [i, one] of chain.entries()) {
    check(isValidNow(one), 422, 'certificate-expired', 'a certificate is not valid now');
    if (i > 0 && !one.ca) break;
    const issued = (by: crypto.X509Certificate | undefined) =>
      by?.ca && one.checkIssued(by) && one.verify(by.publicKey);
    if (anchors.some((anchor) => isValidNow(anchor) && issued(anchor))) return;
    if (!issued(chain[i + 1])) break;
  }
  throw new Refusal(422, 'certificate-untrusted', 'the chain leads to no trusted root');
}

const isValidNow = (one: crypto.X509Certificate): boolean =>
  Date.parse(one.validFrom) <= Date.now() && Date.now() <= Date.parse(one.validTo);

/**
 * The signed bytes: the body, or the line with its digest.
 * @see RFC 7797 section 3, ETSI TS 119 182-1 section 5.2.8.2
 */
function signingInput(encoded: string, header: Json, body: Buffer, digest: string): Buffer {
  const payload = header.sigD === undefined ? body : Buffer.from(`digest: ${digest}`);
  const signed = header.b64 === false ? payload : Buffer.from(payload.toString('base64url'));
  return Buffer.concat([Buffer.from(`${encoded}.`), signed]);
}

/**
 * The signer, and the form of the signature.
 * @throws {Refusal} when digest or signature are invalid
 */
function signerOf({ headersDistinct }: IncomingMessage, body: Buffer, { anchors }: OtherSupplierNeeds) {
  const [digest = '', ...moreDigests] = headersDistinct.digest ?? [];
  const [, sha256] = /(?:^|,)\s*SHA-256=([A-Za-z0-9+/=]{43,44})\s*(?:,|$)/.exec(digest) ?? [];
  check(sha256 !== undefined && moreDigests.length === 0, 400, 'digest-missing', 'one Digest with SHA-256 is needed');
  const isOfBody = bytesOf(sha256).equals(crypto.hash('sha256', body, 'buffer'));
  check(isOfBody, 400, 'digest-mismatch', 'the Digest does not match the body');
  const [signature = '', ...moreSignatures] = headersDistinct['nlgov-adr-payload-sig'] ?? [];
  const [, encoded, value] = /^([A-Za-z0-9_-]+)\.\.([A-Za-z0-9_-]+)$/.exec(signature) ?? [];
  const isOne = encoded !== undefined && value !== undefined && moreSignatures.length === 0;
  check(isOne, 400, 'signature-malformed', 'one detached signature is needed');
  const header = objectIn(bytesOf(encoded)) ?? {};
  const { alg, x5c, crit = [], b64, sigD, iat, exp } = header;
  check(alg === 'PS256', 422, 'signature-algorithm', 'the algorithm is not PS256');
  const understood = ['sigD', 'b64'].filter((name) => Object.hasOwn(header, name));
  const isUnderstood =
    Array.isArray(crit) &&
    crit.every((name) => understood.includes(name)) &&
    (b64 === undefined || crit.includes('b64'));
  check(isUnderstood, 400, 'signature-malformed', 'crit names an absent or unknown field, or not b64');
  const isDigest = isJson(sigD) && sigD.mId === HTTP_HEADERS && String(sigD.pars) === 'digest';
  check(sigD === undefined || isDigest, 400, 'signature-malformed', 'sigD names another signed object');
  const chain = certificatesIn(x5c);
  const [leaf] = chain;
  check(leaf?.publicKey.asymmetricKeyType === 'rsa', 400, 'signature-malformed', 'x5c has no RSA certificates');
  const input = signingInput(encoded, header, body, digest);
  const holds = crypto.verify('sha256', input, { key: leaf.publicKey, ...PSS }, bytesOf(value));
  check(holds, 422, 'signature-invalid', 'the signature does not verify');
  requireTrusted(chain, certificatesOf(anchors));
  const now = Date.now() / 1000;
  const isOfNow = typeof iat !== 'number' || (iat <= now + LEEWAY_SECONDS && iat >= now - MOST_AGE_SECONDS);
  const isOver = typeof exp === 'number' && exp < now;
  check(isOfNow && !isOver, 422, 'signature-expired', 'the signature is not recent');
  return { oin: /^serialNumber=(\d{20})$/m.exec(leaf.subject)?.[1] ?? '', isDigest };
}

/** @throws {Refusal} when it is absent, not the issuer's, expired, or for another service */
function requireToken({ headers }: IncomingMessage, needs: OtherSupplierNeeds, keys: readonly Json[]): void {
  const refused = (what: string, detail: string) =>
    new Refusal(401, `ERROR_CODE_ACCESS_TOKEN_${what}`, detail, {
      'www-authenticate': what === 'MISSING' ? 'Bearer' : 'Bearer error="invalid_token"',
    });
  const [, token] = /^Bearer +(\S+)$/i.exec(text(headers['fsc-authorization'] ?? headers.authorization)) ?? [];
  if (token === undefined) throw refused('MISSING', 'there is no access token');
  const [head = '', body = '', signature = '', ...rest] = token.split('.');
  const [{ alg, kid, typ }, claims] = [objectIn(bytesOf(head)) ?? {}, objectIn(bytesOf(body)) ?? {}];
  const algorithm = ALGORITHMS.get(alg);
  const jwk = keys.find((one) => one.kid === kid && (one.alg ?? alg) === alg);
  const { iss, aud, exp, nbf = 0, scope } = claims;
  const members = Object.entries(jwk ?? {}).filter(([name]) => /^(kty|n|e|crv|x|y)$/.test(name));
  const key = jwk && crypto.createPublicKey({ key: Object.fromEntries(members), format: 'jwk' });
  const isOfIssuer =
    algorithm !== undefined &&
    key?.asymmetricKeyType === algorithm.type &&
    crypto.verify('sha256', Buffer.from(`${head}.${body}`), { key, ...algorithm.how }, bytesOf(signature));
  const isAccessToken = rest.length === 0 && /^(application\/)?at\+jwt$/i.test(text(typ));
  const isForUs = iss === needs.issuer && [aud].flat().includes(needs.audience);
  const now = Date.now() / 1000;
  if (!isOfIssuer || !isAccessToken || !isForUs || !(Number(nbf) <= now))
    throw refused('INVALID', 'the access token is not for this service');
  if (!(Number(exp) > now)) throw refused('EXPIRED', 'the access token has expired');
  if (text(scope).split(' ').includes('read')) return;
  throw new Refusal(403, 'ERROR_CODE_WRONG_GROUP_ID_IN_TOKEN', 'the access token does not have scope read', {
    'www-authenticate': 'Bearer error="insufficient_scope", scope="read"',
  });
}

/**
 * The requested data.
 * @throws {Refusal}
 */
function wishesOf(bytes: Buffer): Json {
  const body = objectIn(bytes);
  check(body !== undefined, 400, 'invalid-request', 'the body is not an object in JSON and UTF-8');
  const wrong = Object.keys(body).filter((name) => !Object.hasOwn(MEMBERS, name) || !MEMBERS[name]?.(body[name]));
  check(wrong.length === 0, 400, 'invalid-request', `not allowed: ${wrong.join(', ')}`);
  return body;
}

/**
 * The requested part of a message.
 * @throws {Refusal}
 */
function deliver(message: Json, wishes: Json): Json {
  const { aanleverperiodeStartdatum: from, aanleverperiodeEinddatum: until, aanleverende_organisatie: name } = wishes;
  const whole = [text(message.startdatumLevering), text(message.einddatumLevering)] as const;
  let [start, end] = [text(from ?? whole[0]), text(until ?? whole[1])];
  check(start <= end || from === undefined || until === undefined, 422, 'period', 'the start is after the end');
  if (start > end) [start, end] = from === undefined ? [end, end] : [start, start];
  const isAll = start === whole[0] && end === whole[1];
  const overlaps = ({ startdatum, einddatum }: Json) =>
    isAll || (text(startdatum) <= end && !(typeof einddatum === 'string' && einddatum < start));
  const wanted = text(name).trim().toLowerCase();
  const mine = listOf(message.leveringen).filter(({ aanleverende_organisatie: one }) => {
    const { '(Statutaire) Naam': full, 'KvK-nummer': number, gemeentecode } = isJson(one) ? one : {};
    const names = [text(full).trim(), number, gemeentecode, gemeentecode && `GM${gemeentecode}`].map(text);
    return wanted === '' || names.some((own) => own.toLowerCase() === wanted);
  });
  check(mine.length > 0, 422, 'organisation', 'nothing is delivered for that organisation');
  const records = mine.map(({ schuldhulptrajecten }) => listOf(schuldhulptrajecten).filter(overlaps));
  const totalRecords = records.reduce((sum, list) => sum + list.length, 0);
  const pageSize = Number(wishes.pageSize ?? MOST_RECORDS);
  const totalPages = Math.max(1, Math.ceil(totalRecords / pageSize));
  const asked = Number(wishes.page ?? 1);
  const currentPage = asked > totalPages ? 1 : asked;
  const isPaged = wishes.page !== undefined || wishes.pageSize !== undefined || totalRecords > MOST_RECORDS;
  let before = -(currentPage - 1) * pageSize;
  const leveringen = mine.map((levering, i) => {
    const list = records[i] ?? [];
    const page = list.slice(Math.max(0, -before), Math.max(0, pageSize - before));
    before += list.length;
    return { ...levering, teller: i + 1, schuldhulptrajecten: page };
  });
  return {
    gegevens: { ...message, startdatumLevering: start, einddatumLevering: end, leveringen },
    ...(isPaged ? { paginering: { pageSize, currentPage, totalPages, totalRecords } } : {}),
  };
}

/** @returns the address of `gegevens`, and a function that stops it */
export async function startOtherSupplier(needs: OtherSupplierNeeds): Promise<{ url: string; stop(): Promise<void> }> {
  const message = objectIn(readFileSync(needs.file)) ?? {};
  const keySet: unknown = await (await fetch(needs.keysUrl)).json();
  const keys = isJson(keySet) ? listOf(keySet.keys) : [];
  const key = crypto.createPrivateKey(readFileSync(needs.key));
  const x5c = certificatesOf(needs.chain).map(({ raw }) => raw.toString('base64'));
  const kid = crypto.hash('sha256', crypto.createPublicKey(key).export({ type: 'spki', format: 'der' }), 'base64url');
  const thumbprint = crypto.hash('sha256', Buffer.from(x5c[0] ?? '', 'base64'), 'base64url');

  const signatureOf = (body: Buffer, digest: string, isDigest: boolean): string => {
    const sigD = { mId: HTTP_HEADERS, pars: ['digest'] };
    const header = {
      alg: 'PS256',
      typ: 'JOSE',
      kid,
      x5c,
      'x5t#S256': thumbprint,
      iat: Math.floor(Date.now() / 1000),
      ...(isDigest ? { sigD, b64: false, crit: ['sigD', 'b64'] } : {}),
    };
    const encoded = Buffer.from(JSON.stringify(header)).toString('base64url');
    const signature = crypto.sign('sha256', signingInput(encoded, header, body, digest), { key, ...PSS });
    return `${encoded}..${signature.toString('base64url')}`;
  };

  const answer = async (request: IncomingMessage): Promise<{ body: Buffer; headers: Record<string, string> }> => {
    check(request.url?.split('?')[0] === '/v1/gegevens', 404, 'ERROR_CODE_SERVICE_NOT_FOUND', 'not found');
    if (request.method !== 'POST')
      throw new Refusal(405, 'ERROR_CODE_METHOD_UNSUPPORTED', 'only POST', { allow: 'POST' });
    requireToken(request, needs, keys);
    const isJsonType = /^application\/json(;\s*charset="?utf-8"?)?$/i.test(text(request.headers['content-type']));
    check(isJsonType, 415, 'media-type', 'only JSON is accepted');
    const isWelcome = /application\/(json|\*)|\*\/\*/i.test(request.headers.accept ?? '*/*');
    check(isWelcome, 406, 'not-acceptable', 'only JSON is available');
    const pieces: Buffer[] = [];
    let length = 0;
    for await (const piece of request) {
      length += piece.length;
      if (length > MOST_BYTES) throw new Refusal(413, 'too-large', 'too large', { connection: 'close' });
      pieces.push(piece);
    }
    const sent = Buffer.concat(pieces);
    const { oin, isDigest } = signerOf(request, sent, needs);
    const isAllowed = needs.signers.includes(oin) && (request.headers.oin ?? oin) === oin;
    check(isAllowed, 403, 'ERROR_CODE_WRONG_GROUP_ID_IN_TOKEN', 'this signer has no access');
    const body = Buffer.from(JSON.stringify(deliver(message, wishesOf(sent))));
    const digest = `SHA-256=${crypto.hash('sha256', body, 'base64')}`;
    return { body, headers: { digest, 'nlgov-adr-payload-sig': signatureOf(body, digest, isDigest) } };
  };

  const server = createServer((request, response) => {
    const usual = { 'api-version': '1.0.0', 'cache-control': 'no-store, no-transform' };
    const reply = (status: number, headers: Record<string, string>, body: Buffer | string) =>
      response.writeHead(status, { ...usual, ...headers }).end(body);
    answer(request).then(
      ({ body, headers }) => reply(200, { 'content-type': 'application/json', ...headers }, body),
      (error: unknown) => {
        const { about, message: detail } = error instanceof Refusal ? error : new Refusal(500, 'other', 'it failed');
        const { status, kind, headers } = about;
        const isFsc = kind.startsWith('ERROR_CODE_');
        const domain = status === 405 ? 'ERROR_DOMAIN_OUTWAY' : 'ERROR_DOMAIN_INWAY';
        const own = isFsc ? { code: kind, domain } : { type: `https://leverancier.example/problems/${kind}` };
        const all = { 'content-type': PROBLEM, ...headers, ...(isFsc ? { 'fsc-error-code': kind } : {}) };
        reply(status, all, JSON.stringify({ ...own, title: STATUS_CODES[status], status, detail }));
      },
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the supplier has no port');
  return {
    url: `http://127.0.0.1:${address.port}/v1/gegevens`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
