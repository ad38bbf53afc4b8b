/** The order of the checks: a request with every fault at once, fixed one by one. The first failing step determines the answer. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestServer } from '../support/server.ts';
import { type RawHeaders, send } from './support/requester.ts';
import { FIXTURES, openSupplier, type Supplier } from './support/supplier.ts';

let supplier: Supplier;
let server: TestServer;
beforeAll(async () => {
  supplier = await openSupplier();
  await supplier.import('shv', join(FIXTURES, 'shv-klein.json'));
  server = await supplier.another({ GEGEVENS_ALLOWED_SIGNERS: supplier.authority.requester.oin });
});
afterAll(() => supplier.close());

async function answerTo(body: string, headers: RawHeaders): Promise<string> {
  const { status, text } = await send(`${server.url}/shv/v1/gegevens`, 'POST', headers, body);
  if (status === 200) return '200';
  const { code, type } = JSON.parse(text);
  return `${status} ${code ?? new URL(type).pathname.split('/').pop()}`;
}

it('is size, token, content type, digest, signature, signer, body, and finally the requested data', async () => {
  const reversed = '{"aanleverperiodeStartdatum":"2026-03-01","aanleverperiodeEinddatum":"2026-01-01"}';
  const faulty = '{"page":0}';
  const [ofFaulty, ofReversed, ofGood] = await Promise.all(
    [faulty, reversed, '{}'].map((body) => supplier.requester.sign(body)),
  );
  const token = await supplier.tokens.bearer(['read']);
  const type = { 'content-type': 'application/json' };
  const unsigned = { ...token, ...type, digest: ofFaulty?.digest };
  const forged = { ...unsigned, 'nlgov-adr-payload-sig': ofGood?.['nlgov-adr-payload-sig'] };
  const seen = [
    await answerTo(' '.repeat(2_000_000), { 'content-type': 'text/plain' }),
    await answerTo(faulty, { 'content-type': 'text/plain' }),
    await answerTo(faulty, { ...(await supplier.tokens.bearer(['other'])), 'content-type': 'text/plain' }),
    await answerTo(faulty, { ...token, 'content-type': 'text/plain' }),
    await answerTo('', { ...token, ...type }),
    await answerTo(faulty, { ...token, ...type }),
    await answerTo(faulty, { ...token, ...type, digest: ofGood?.digest }),
    await answerTo(faulty, unsigned),
    await answerTo(faulty, forged),
    await answerTo(faulty, { ...token, ...type, ...ofFaulty }),
    await answerTo(reversed, { ...token, ...type, ...ofReversed }),
    await answerTo('{}', { ...token, ...type, ...ofGood }),
  ];
  expect(seen).toEqual([
    '413 body-too-large',
    '401 ERROR_CODE_ACCESS_TOKEN_MISSING',
    '403 ERROR_CODE_WRONG_GROUP_ID_IN_TOKEN',
    '415 unsupported-media-type',
    '400 invalid-request',
    '400 digest-missing',
    '400 digest-mismatch',
    '400 signature-missing',
    '422 signature-invalid',
    '400 invalid-request',
    '422 omgekeerde-periode',
    '200',
  ]);
});

it('checks the signer after the signature and before it reads the body', async () => {
  const strict = await supplier.another({ GEGEVENS_ALLOWED_SIGNERS: '00000099000000009999' });
  const refused = await supplier.ask('{"page":0}', { server: strict });
  expect(refused.headers.get('fsc-error-code')).toBe('ERROR_CODE_WRONG_GROUP_ID_IN_TOKEN');
  const { 'nlgov-adr-payload-sig': other } = await supplier.requester.sign('{}');
  const forged = await supplier.ask('{"page":0}', { server: strict, headers: { 'nlgov-adr-payload-sig': other } });
  expect(JSON.parse(forged.text).type).toMatch(/signature-invalid$/);
});
