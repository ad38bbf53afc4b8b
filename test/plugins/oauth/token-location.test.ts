import { once } from 'node:events';
import { createServer, request as httpRequest, IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findToken } from '../../../src/plugins/tokens.ts';
import { refusal } from './support/verifier.ts';

const server = createServer((request, response) => {
  const { authorization, 'fsc-authorization': fscAuthorization } = request.headersDistinct;
  void (async () => findToken({ authorization, fscAuthorization }, request.url !== '/without-fsc'))()
    .catch((error: unknown) => refusal(Promise.reject(error)))
    .then((text) => response.end(text));
});
let port = 0;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address === 'object' && address !== null) port = address.port;
});
afterAll(() => server.close());

/** The token found in a request with these raw header lines. */
const found = (...headers: string[]) => foundAt('/', ...headers);

async function foundAt(path: string, ...headers: string[]): Promise<string> {
  const request = httpRequest({
    host: '127.0.0.1',
    port,
    path,
    headers: ['host', 'koppelvlak', ...headers],
    agent: false,
  }).end();
  const response: unknown = (await once(request, 'response'))[0];
  if (!(response instanceof IncomingMessage)) throw new Error('no response');
  return (await response.toArray()).join('');
}

const own = 'aaa.bbb.ccc';
const inway = 'ddd.eee.fff';

describe('the token of a request', () => {
  it.each([
    ['in Authorization', own, ['authorization', `Bearer ${own}`]],
    ['with the scheme in any case', own, ['authorization', `bEARER ${own}`]],
    ['with more spaces', own, ['authorization', `Bearer   ${own}  `]],
    ['in Fsc-Authorization', inway, ['fsc-authorization', `Bearer ${inway}`]],
    ['in Fsc-Authorization, bare', inway, ['fsc-authorization', inway]],
    [
      'in both: Fsc-Authorization decides',
      inway,
      ['authorization', `Bearer ${own}`, 'fsc-authorization', `Bearer ${inway}`],
    ],
    ['without a signature, for the verifier to judge', 'aaa.bbb.', ['authorization', 'Bearer aaa.bbb.']],
  ])('is found %s', async (_name, token, headers) => {
    expect(await found(...headers)).toBe(token);
  });

  it.each([
    ['is nowhere', []],
    ['is sent under another scheme', ['authorization', 'Basic YWJj']],
    ['is sent without a scheme in Authorization', ['authorization', own]],
    ['is sent under a scheme with the same beginning', ['authorization', `BearerToken ${own}`]],
  ])('is missing when it %s', async (_name, headers) => {
    expect(await found(...headers)).toBe('missing no-token');
  });

  it.each([
    ['an empty header', ['authorization', ''], 'header-empty'],
    ['a scheme alone', ['authorization', 'Bearer '], 'header-empty'],
    [
      'an empty Fsc-Authorization beside a good Authorization',
      ['authorization', `Bearer ${own}`, 'fsc-authorization', ''],
      'header-empty',
    ],
    [
      'another scheme in Fsc-Authorization',
      ['authorization', `Bearer ${own}`, 'fsc-authorization', 'Basic YWJj'],
      'malformed',
    ],
    [
      'two Authorization headers',
      ['authorization', `Bearer ${own}`, 'authorization', `Bearer ${own}`],
      'header-repeated',
    ],
    ['two Fsc-Authorization headers', ['fsc-authorization', inway, 'fsc-authorization', inway], 'header-repeated'],
    ['two tokens in one header', ['fsc-authorization', `${inway}, ${inway}`], 'malformed'],
    ['text that is not a JWT', ['authorization', 'Bearer opaque'], 'malformed'],
    ['characters not allowed in a JWT', ['authorization', 'Bearer aaa.bbb.c=c'], 'malformed'],
    ['a token that starts with a dot', ['authorization', 'Bearer .bbb.ccc'], 'malformed'],
  ])('is invalid with %s', async (_name, headers, reason) => {
    expect(await found(...headers)).toBe(`invalid ${reason}`);
  });

  it('is not looked for in Fsc-Authorization if FSC tokens are not accepted', async () => {
    const both = ['authorization', `Bearer ${own}`, 'fsc-authorization', `Bearer ${inway}`];
    expect(await foundAt('/without-fsc', ...both)).toBe(own);
    expect(await foundAt('/without-fsc', 'fsc-authorization', inway)).toBe('missing no-token');
    expect(await foundAt('/without-fsc', ...both, 'fsc-authorization', '')).toBe(own);
  });
});
