import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseProtectedHeader } from '../../../src/lib/jades/verify.ts';
import { digestForm, type Kit, openKit } from './support/kit.ts';

let kit: Kit;
let x5c: string[];
beforeAll(async () => {
  kit = await openKit();
  x5c = kit.requesterChain.map((der) => der.toString('base64'));
});
afterAll(() => kit.close());

const encode = (text: string | Buffer): string => Buffer.from(text).toString('base64url');
const usual = (): Record<string, unknown> => ({ alg: 'PS256', typ: 'JOSE', kid: 'k', x5c });
const parse = (members: Record<string, unknown>) => parseProtectedHeader(encode(JSON.stringify(members)));

describe('the protected header', () => {
  it.each<[string, Record<string, unknown>, object]>([
    ['the body form', {}, { form: 'body', b64: true }],
    ['the digest form as JAdES writes it', digestForm, { form: 'digest', b64: false }],
    ['the digest form without crit', { sigD: digestForm.sigD }, { form: 'digest', b64: true }],
    ['the digest form, encoded', { sigD: digestForm.sigD, crit: ['sigD'] }, { form: 'digest', b64: true }],
    ['the body form, not encoded', { b64: false, crit: ['b64'] }, { form: 'body', b64: false }],
    ['b64 true outside crit', { b64: true }, { form: 'body', b64: true }],
  ])('reads %s', (_case, members, style) => {
    expect(parse({ ...usual(), ...members }).style).toEqual(style);
  });

  it.each(['JOSE', 'jose', 'Jose', 'application/jose', 'APPLICATION/JOSE', undefined])('accepts typ %s', (typ) => {
    expect(parse({ ...usual(), typ }).style.form).toBe('body');
  });

  it('needs no kid, and ignores unknown members', () => {
    const extra = { kid: undefined, jwk: { kty: 'RSA' }, x5u: 'http://localhost', jku: 'http://localhost', cty: 'x' };
    expect(parse({ ...usual(), ...extra }).style.form).toBe('body');
  });

  it('reads the signing time and the expiry', () => {
    const timed = parse({ ...usual(), iat: 10, sigT: '1970-01-01T00:00:20Z', exp: 30.5, crit: ['sigT'] });
    expect(timed).toMatchObject({ signedAt: [10_000, 20_000], expiresAt: 30_500 });
    expect(parse(usual())).toMatchObject({ signedAt: [], expiresAt: undefined });
  });

  it('reads the certificates in order, and accepts the thumbprint of the first', () => {
    const first = parse(usual()).x5c[0]?.thumbprint;
    const header = parse({ ...usual(), 'x5t#S256': first });
    expect(header.x5c.map(({ der }) => der.toString('base64'))).toEqual(x5c);
  });

  const cases: [string, () => Record<string, unknown>, string][] = [
    ...['none', 'RS256', 'HS256', 'ES256', 'PS384', 'ps256', ''].map(
      (alg): [string, () => Record<string, unknown>, string] => [`alg ${alg}`, () => ({ alg }), 'signature-algorithm'],
    ),
    ['no alg', () => ({ alg: undefined }), 'signature-malformed'],
    ['alg in a list', () => ({ alg: ['PS256'] }), 'signature-malformed'],
    ['an empty kid', () => ({ kid: '' }), 'signature-malformed'],
    ['kid as a number', () => ({ kid: 1 }), 'signature-malformed'],
    ['typ of the JSON serialisation', () => ({ typ: 'JOSE+JSON' }), 'signature-malformed'],
    ['typ with a space', () => ({ typ: 'JOSE ' }), 'signature-malformed'],
    ['typ of another media type', () => ({ typ: 'text/jose' }), 'signature-malformed'],
    ['typ as a list', () => ({ typ: ['JOSE'] }), 'signature-malformed'],
    ['iat as a text', () => ({ iat: '1' }), 'signature-malformed'],
    ['iat before 1970', () => ({ iat: -1 }), 'signature-malformed'],
    ['iat beyond all dates', () => ({ iat: 1e300 }), 'signature-malformed'],
    ['exp as null', () => ({ exp: null }), 'signature-malformed'],
    ['sigT as a number', () => ({ sigT: 1 }), 'signature-malformed'],
    ['sigT with an offset', () => ({ sigT: '2026-01-02T03:04:05+01:00' }), 'signature-malformed'],
    ['sigT on a date that does not exist', () => ({ sigT: '2026-13-02T03:04:05Z' }), 'signature-malformed'],
    ['sigT in crit but absent', () => ({ crit: ['sigT'] }), 'signature-malformed'],
    ['another typ', () => ({ typ: 'JWT' }), 'signature-malformed'],
    ['no x5c', () => ({ x5c: undefined }), 'signature-malformed'],
    ['x5c as a text', () => ({ x5c: x5c[0] }), 'signature-malformed'],
    ['an empty x5c', () => ({ x5c: [] }), 'signature-malformed'],
    ['six certificates', () => ({ x5c: [...Array(6).keys()].map(String) }), 'signature-malformed'],
    ['a certificate twice', () => ({ x5c: [...x5c, x5c[0]] }), 'signature-malformed'],
    ['the same certificate around another', () => ({ x5c: [x5c[1], x5c[0], x5c[1]] }), 'signature-malformed'],
    ['a number in x5c', () => ({ x5c: [1] }), 'signature-malformed'],
    [
      'base64url in x5c',
      () => ({ x5c: [Buffer.from(x5c[0] ?? '', 'base64').toString('base64url')] }),
      'signature-malformed',
    ],
    ['a line break in x5c', () => ({ x5c: [`${x5c[0]?.slice(0, 64)}\n${x5c[0]?.slice(64)}`] }), 'signature-malformed'],
    [
      'PEM in x5c',
      () => ({ x5c: [`-----BEGIN CERTIFICATE-----\n${x5c[0]}\n-----END CERTIFICATE-----`] }),
      'signature-malformed',
    ],
    ['garbage in x5c', () => ({ x5c: [Buffer.from('garbage').toString('base64')] }), 'signature-malformed'],
    ['bytes behind a certificate', () => ({ x5c: [trailing(x5c[0]), x5c[1]] }), 'signature-malformed'],
    ['bytes behind an intermediate', () => ({ x5c: [x5c[0], trailing(x5c[1])] }), 'signature-malformed'],
    ['a certificate cut short', () => ({ x5c: [cut(x5c[0])] }), 'signature-malformed'],
    ["another certificate's thumbprint", () => ({ 'x5t#S256': 'A'.repeat(43) }), 'signature-malformed'],
    ['a thumbprint that is null', () => ({ 'x5t#S256': null }), 'signature-malformed'],
    ['crit with another value', () => ({ crit: ['exp'], exp: 1 }), 'signature-malformed'],
    ['crit with sigT', () => ({ ...digestForm, crit: ['sigT', 'sigD', 'b64'], sigT: 'x' }), 'signature-malformed'],
    ['crit with alg', () => ({ crit: ['alg'] }), 'signature-malformed'],
    ['an empty crit', () => ({ crit: [] }), 'signature-malformed'],
    ['crit as a text', () => ({ crit: 'b64', b64: true }), 'signature-malformed'],
    ['crit with an absent member', () => ({ crit: ['b64'] }), 'signature-malformed'],
    ['crit with a repeated name', () => ({ crit: ['b64', 'b64'], b64: false }), 'signature-malformed'],
    ['crit that is null', () => ({ crit: null }), 'signature-malformed'],
    ['crit with an inherited name', () => ({ crit: ['toString'] }), 'signature-malformed'],
    ['b64 false outside crit', () => ({ b64: false }), 'signature-malformed'],
    ['b64 as a text', () => ({ b64: 'false', crit: ['b64'] }), 'signature-malformed'],
    ['b64 that is null', () => ({ b64: null }), 'signature-malformed'],
    ['sigD as a text', () => ({ sigD: 'digest' }), 'signature-malformed'],
    ['sigD that is null', () => ({ sigD: null }), 'signature-malformed'],
    ['sigD as a list', () => ({ sigD: [] }), 'signature-malformed'],
    ['another mechanism', () => sigD({ mId: 'http://uri.etsi.org/19182/ObjectIdByURI' }), 'signature-malformed'],
    ['no mechanism', () => sigD({ mId: undefined }), 'signature-malformed'],
    ['another header in pars', () => sigD({ pars: ['host'] }), 'signature-malformed'],
    ['more headers in pars', () => sigD({ pars: ['digest', 'host'] }), 'signature-malformed'],
    ['digest twice in pars', () => sigD({ pars: ['digest', 'digest'] }), 'signature-malformed'],
    ['Digest with a capital', () => sigD({ pars: ['Digest'] }), 'signature-malformed'],
    ['empty pars', () => sigD({ pars: [] }), 'signature-malformed'],
    ['pars as a text', () => sigD({ pars: 'digest' }), 'signature-malformed'],
    ['hashes in sigD', () => sigD({ hashV: ['x'] }), 'signature-malformed'],
  ];
  it.each(cases)('refuses %s', (_case, members, code) => {
    expect(() => parse({ ...usual(), ...members() })).toThrow(expect.objectContaining({ code }));
  });

  it.each<[string, () => string]>([
    ['no base64url', () => 'a+b/'],
    ['padding', () => `${encode('{"a":1}')}=`],
    ['another spelling of the last character', () => 'eyJhIjoxfR'],
    ['no JSON', () => encode('alg')],
    ['a list', () => encode('[]')],
    ['a byte order mark', () => encode(`\ufeff${JSON.stringify(usual())}`)],
    ['bytes that are not UTF-8', () => encode(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))],
    ['alg twice', () => encode(JSON.stringify(usual()).replace('{', '{"alg":"PS256",'))],
    ['alg twice, escaped', () => encode(JSON.stringify(usual()).replace('{', '{"\\u0061lg":"none",'))],
    [
      'pars twice in sigD',
      () => encode(JSON.stringify({ ...usual(), ...digestForm }).replace('"pars"', '"pars":[],"pars"')),
    ],
    ['an empty header', () => ''],
  ])('refuses a header that is %s', (_case, encoded) => {
    expect(() => parseProtectedHeader(encoded())).toThrow(expect.objectContaining({ code: 'signature-malformed' }));
  });
});

function sigD(members: Record<string, unknown>): Record<string, unknown> {
  return { ...digestForm, sigD: { ...digestForm.sigD, ...members } };
}

function trailing(base64 = ''): string {
  return Buffer.concat([Buffer.from(base64, 'base64'), Buffer.from([0, 0, 0])]).toString('base64');
}

function cut(base64 = ''): string {
  return Buffer.from(base64, 'base64').subarray(0, -3).toString('base64');
}
