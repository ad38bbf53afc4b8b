import { createHmac, createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { flattenedVerify, importX509 } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parsePemCertificates } from '../../../src/lib/jades/certificate.ts';
import { loadPemKey } from '../../../src/lib/jades/own-key.ts';
import type { SignatureStyle } from '../../../src/lib/jades/signature.ts';
import { createSigner, PLAIN_STYLES, payloadPieces, type Signer } from '../../../src/lib/jades/signature.ts';
import { type Kit, openKit, verifierFor } from './support/kit.ts';

let kit: Kit;
let signer: Signer;
beforeAll(async () => {
  kit = await openKit();
  const chain = parsePemCertificates(readFileSync(kit.authority.supplier.chain, 'utf8'));
  const key = createPrivateKey(readFileSync(kit.authority.supplier.key));
  signer = createSigner({
    key,
    chain,
    kid: 'sleutel',
    now: () => new Date('2026-01-02T03:04:05.678Z'),
  });
});
afterAll(() => kit.close());

const styles: [string, SignatureStyle][] = [
  ['the body form', PLAIN_STYLES.body],
  ['the body form, not encoded', { form: 'body', b64: false }],
  ['the digest form', PLAIN_STYLES.digest],
  ['the digest form, encoded', { form: 'digest', b64: true }],
];

function headerOf(signature: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(signature.split('.')[0] ?? '', 'base64url').toString());
}

describe('signing', () => {
  it.each(styles)(
    'makes signatures that the verifier accepts and reports in the same style: %s',
    async (_case, style) => {
      const body = Buffer.from('{"gegevens":"één"}');
      const { digest, signature } = await signer.sign(body, style);
      const verified = await verifierFor(kit).verify({ signatureHeader: signature, digestHeader: digest, body });
      expect(verified).toMatchObject({
        style: style.form === 'digest' ? PLAIN_STYLES.digest : style,
        oin: kit.authority.supplier.oin,
        digest,
      });
    },
  );

  it.each(styles)('makes signatures that another JOSE library accepts: %s', async (_case, style) => {
    const body = Buffer.from('{"gegevens":1}');
    const { digest, signature } = await signer.sign(body, style);
    const [header = '', , last = ''] = signature.split('.');
    const payload = style.form === 'digest' ? Buffer.from(`digest: ${digest}`) : body;
    const certificate = await importX509(readFileSync(kit.authority.supplier.certificate, 'utf8'), 'PS256');
    const given = style.b64 && style.form === 'body' ? payload.toString('base64url') : payload;
    await flattenedVerify({ protected: header, payload: given, signature: last }, certificate, {
      algorithms: ['PS256'],
      crit: { sigD: true },
    });
  });

  it('writes the members that JAdES requires, and never encodes the digest form, whatever its request did', async () => {
    for (const [, style] of styles.filter(([, { form }]) => form === 'digest')) {
      const header = headerOf((await signer.sign(Buffer.from('{}'), style)).signature);
      expect(header).toEqual({
        alg: 'PS256',
        typ: 'JOSE',
        kid: 'sleutel',
        crit: ['sigD', 'b64'],
        b64: false,
        iat: 1767323045,
        sigD: { mId: 'http://uri.etsi.org/19182/HttpHeaders', pars: ['digest'] },
        x5c: expect.any(Array),
        'x5t#S256': expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      });
    }
  });

  it.each([
    ['iat', { iat: 1767323045 }],
    ['sigT', { sigT: '2026-01-02T03:04:05Z' }],
    ['none', {}],
  ] as const)('writes the signing time as configured: %s', async (time, expected) => {
    const own = loadPemKey(
      {
        key: readFileSync(kit.authority.supplier.key, 'utf8'),
        chain: readFileSync(kit.authority.supplier.chain, 'utf8'),
      },
      new Date(),
    );
    const other = createSigner({ ...own, now: () => new Date('2026-01-02T03:04:05.678Z'), time });
    const { iat, sigT } = headerOf((await other.sign(Buffer.from('{}'), PLAIN_STYLES.body)).signature);
    expect({ ...(iat === undefined ? {} : { iat }), ...(sigT === undefined ? {} : { sigT }) }).toEqual(expected);
  });

  it.each(styles)('signs a body in pieces as it signs the whole: %s', async (_case, style) => {
    const body = Buffer.alloc(10_000, 'abcdefg');
    const pieces = Array.from({ length: 10 }, (_, at) => body.subarray(at * 1_001, (at + 1) * 1_001));
    const { digest, signature } = await signer.sign(pieces, style);
    await verifierFor(kit).verify({ signatureHeader: signature, digestHeader: digest, body });
  });

  it('yields often to the event loop while it signs and verifies 30 MB in the body form', async () => {
    const body = Buffer.alloc(30 * 1024 * 1024, 'abcdefghijk');
    const verifier = verifierFor(kit);
    let turns = 0;
    let busy = true;
    const other = (): void => {
      turns += 1;
      if (busy) setImmediate(other);
    };
    other();
    const { digest, signature } = await signer.sign(body, PLAIN_STYLES.body);
    await verifier.verify({ signatureHeader: signature, digestHeader: digest, body });
    busy = false;
    expect(turns).toBeGreaterThan(100);
  });

  it('makes the signing input of the example in RFC 7797 section 4', async () => {
    const key = Buffer.from(
      'AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow',
      'base64url',
    );
    const mac = async (header: string, b64: boolean): Promise<string> => {
      const hmac = createHmac('sha256', key).update(`${Buffer.from(header).toString('base64url')}.`);
      const bytes = [...Buffer.from('$.02')].map((byte) => Uint8Array.of(byte));
      for await (const piece of payloadPieces(bytes, b64)) hmac.update(piece);
      return hmac.digest('base64url');
    };
    expect(await mac('{"alg":"HS256"}', true)).toBe('5mvfOroL-g7HyqJoozehmsaqmvTYGEq5jTI1gVvoEoQ');
    expect(await mac('{"alg":"HS256","b64":false,"crit":["b64"]}', false)).toBe(
      'A5dxf2s96_n5FLueVuW1Z_vh161FwXZC4YLPff6dmDY',
    );
  });

  it('encodes a payload in pieces as it encodes the whole', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 20 }), async (pieces) => {
        let text = '';
        for await (const piece of payloadPieces(pieces, true)) text += String(piece);
        expect(text).toBe(Buffer.concat(pieces).toString('base64url'));
      }),
    );
  });
});
