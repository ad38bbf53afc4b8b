/** Requests with a wrong digest, signature or form: over HTTP, each refused with its cause, with the service healthy after each. */
import { createHash, createHmac, createPublicKey, createSign, generateKeyPairSync, sign } from 'node:crypto';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digestOf } from '../../src/lib/jades/signature.ts';
import type { SignedMessage } from '../../src/lib/jades/verify.ts';
import { type Craft, craft, craftDigest, digestForm, type Kit } from '../lib/jades/support/kit.ts';
import { FIXTURES } from './support/supplier.ts';
import { openTarget, statusOf, type Target } from './support/target.ts';

let target: Target;
let kit: Kit;
let good: SignedMessage & { signatureHeader: string };
beforeAll(async () => {
  target = await openTarget(join(FIXTURES, 'shv-klein.json'));
  kit = target.kit;
  good = craft(kit);
});
afterAll(() => target.close());

const body = Buffer.from('{"page":1}');
const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const encode = (text: string): string => Buffer.from(text).toString('base64url');

const signed = (signatureHeader: string): SignedMessage => ({ ...good, signatureHeader });
const header = (members: Record<string, unknown>, more: Craft = {}): SignedMessage =>
  craft(kit, { ...more, header: members });
const sigD = (members: Record<string, unknown>): SignedMessage =>
  craftDigest(kit, { header: { sigD: { ...digestForm.sigD, ...members } } });
/** The text of a good header, modified and then signed. */
const headerText = (change: (text: string) => string): SignedMessage => {
  const [encoded = ''] = good.signatureHeader.split('.');
  return craft(kit, { headerText: change(Buffer.from(encoded, 'base64url').toString()) });
};
const x5c = (change: (chain: string[]) => unknown[]): SignedMessage =>
  header({ x5c: change(kit.requesterChain.map((der) => der.toString('base64'))) });
const ofBody = (bytes: string | Buffer): SignedMessage => craft(kit, { body: Buffer.from(bytes) });

/** A certificate whose public key is no longer an RSA key structure. */
const withoutKey = (leaf: string): string => {
  const der = Buffer.from(leaf, 'base64');
  const key = createPublicKey(kit.requesterKey).export({ type: 'pkcs1', format: 'der' });
  der[der.indexOf(key)] = 0x31;
  return der.toString('base64');
};
const rs256 = (input: Buffer): Buffer => createSign('sha256').update(input).sign(kit.requesterKey);
const hs256 = (input: Buffer): Buffer =>
  createHmac('sha256', kit.requesterChain[0] ?? '')
    .update(input)
    .digest();
const pss = (hash: string, saltLength: number) => (input: Buffer) =>
  sign(hash, input, { key: kit.requesterKey, padding: 6, saltLength });

type Case = [string, () => SignedMessage, string];

/** Sends each, expects this refusal, and then sends a good request. */
function refusesEach(cases: readonly Case[]): void {
  it.each(cases)('%s is refused', async (_what, message, slug) => {
    await target.refuses({ message: message() }, statusOf(slug), slug);
  });
}

describe('a digest', () => {
  refusesEach([
    ['that is missing', () => ({ ...good, digestHeader: undefined }), 'digest-missing'],
    ['of another algorithm only', () => ({ ...good, digestHeader: `SHA-512=${sha512()}` }), 'digest-missing'],
    ['of another body', () => ({ ...good, digestHeader: digestOf(Buffer.from('x')) }), 'digest-mismatch'],
    ['that is truncated', () => ({ ...good, digestHeader: 'SHA-256=kort' }), 'digest-mismatch'],
    ['in a repeated header', () => ({ ...good, digestHeader: [digestOf(body), digestOf(body)] }), 'digest-mismatch'],
    [
      'that is repeated in its header',
      () => craft(kit, { digest: `${digestOf(body)},${digestOf(body)}` }),
      'digest-mismatch',
    ],
    ['of a body that was modified later', () => ({ ...good, body: Buffer.from('{"page":2}') }), 'digest-mismatch'],
  ]);
});

describe('a signature', () => {
  refusesEach([
    ['that is missing', () => signedBy(undefined), 'signature-missing'],
    ['in a repeated header', () => signedBy([good.signatureHeader, good.signatureHeader]), 'signature-malformed'],
    [
      'together with another in one header',
      () => signed(`${good.signatureHeader}, ${good.signatureHeader}`),
      'signature-malformed',
    ],
    ['of one part', () => signed('abc'), 'signature-malformed'],
    ['of four parts', () => signed(`${good.signatureHeader}.x`), 'signature-malformed'],
    ['with the payload attached', () => attached(body.toString('base64url')), 'signature-malformed'],
    ['with another payload attached', () => attached(encode('{"page":2}')), 'signature-malformed'],
    ['of no bytes', () => signed(good.signatureHeader.replace(/[^.]+$/, '')), 'signature-malformed'],
    ['with padding', () => signed(`${good.signatureHeader}=`), 'signature-malformed'],
    ['that is truncated', () => signed(good.signatureHeader.replace(/\.\..{4}/, '..')), 'signature-invalid'],
    ['of zeros', () => craft(kit, { signer: () => Buffer.alloc(256) }), 'signature-invalid'],
    ['by another key', () => craft(kit, { key: other }), 'signature-invalid'],
    ['of a body that was modified with its digest', () => forged(good), 'signature-invalid'],
    ['over a modified digest', () => forged(craftDigest(kit)), 'signature-invalid'],
  ]);
});

describe('an algorithm', () => {
  refusesEach([
    ['none', () => header({ alg: 'none' }), 'signature-algorithm'],
    ['RS256', () => header({ alg: 'RS256' }, { signer: rs256 }), 'signature-algorithm'],
    ['HS256 with the public key as secret', () => header({ alg: 'HS256' }, { signer: hs256 }), 'signature-algorithm'],
    ['ES256', () => header({ alg: 'ES256' }), 'signature-algorithm'],
    ['PS512', () => header({ alg: 'PS512' }, { signer: pss('sha512', 64) }), 'signature-algorithm'],
    ['RS256 declared as PS256', () => craft(kit, { signer: rs256 }), 'signature-invalid'],
    ['HS256 declared as PS256', () => craft(kit, { signer: hs256 }), 'signature-invalid'],
    ['PS256 with another salt', () => craft(kit, { signer: pss('sha256', 20) }), 'signature-invalid'],
    ['that is a list', () => header({ alg: ['PS256'] }), 'signature-malformed'],
    ['for an unreadable key', () => x5c(([leaf = '', ...rest]) => [withoutKey(leaf), ...rest]), 'signature-algorithm'],
  ]);
});

describe('a protected header', () => {
  refusesEach([
    ['with a member twice', () => headerText((text) => text.replace('{', '{"alg":"PS256",')), 'signature-malformed'],
    [
      'with a member twice, spelled otherwise',
      () => headerText((t) => t.replace('{', '{"\\u0061lg":"none",')),
      'signature-malformed',
    ],
    ['that is not JSON', () => headerText(() => 'alg'), 'signature-malformed'],
    ['that is not base64url', () => signed(`a+b/..${good.signatureHeader.split('..')[1]}`), 'signature-malformed'],
    ['with an empty kid', () => header({ kid: '' }), 'signature-malformed'],
    ['of another typ', () => header({ typ: 'JWT' }), 'signature-malformed'],
    ['with the thumbprint of another certificate', () => header({ 'x5t#S256': 'A'.repeat(43) }), 'signature-malformed'],
    ['with something critical that is not understood', () => header({ crit: ['exp'], exp: 1 }), 'signature-malformed'],
    ['with nothing in crit', () => header({ crit: [] }), 'signature-malformed'],
    ['with crit naming an absent field', () => header({ crit: ['b64'] }), 'signature-malformed'],
    ['with b64 that is not critical', () => header({ b64: false }, { payload: body }), 'signature-malformed'],
    [
      'with a key of its own',
      () => header({ jwk: other.export({ format: 'jwk' }) }, { key: other }),
      'signature-invalid',
    ],
  ]);
});

describe('the form', () => {
  refusesEach([
    [
      'with sigD of another mechanism',
      () => sigD({ mId: 'http://uri.etsi.org/19182/ObjectIdByURI' }),
      'signature-malformed',
    ],
    ['with sigD over other headers', () => sigD({ pars: ['host'] }), 'signature-malformed'],
    ['with sigD over more headers', () => sigD({ pars: ['digest', 'host'] }), 'signature-malformed'],
    ['of the body, with sigD added', () => header(digestForm), 'signature-invalid'],
    [
      'of the digest, with sigD removed',
      () => craft(kit, { payload: `digest: ${digestOf(body)}` }),
      'signature-invalid',
    ],
    [
      'of the digest, over another digest',
      () => craftDigest(kit, { payload: `digest: ${digestOf(Buffer.from('x'))}` }),
      'signature-invalid',
    ],
    [
      'of the digest, with an algorithm added',
      () => ({ ...craftDigest(kit), digestHeader: `MD5=AA==,${digestOf(body)}` }),
      'signature-invalid',
    ],
    ['with b64 false and an encoded payload', () => header({ b64: false, crit: ['b64'] }), 'signature-invalid'],
  ]);
});

describe('a chain', () => {
  refusesEach([
    ['that is missing', () => header({ x5c: undefined }), 'signature-malformed'],
    ['that is empty', () => x5c(() => []), 'signature-malformed'],
    ['with leaf and intermediate swapped', () => x5c((chain) => chain.toReversed()), 'signature-invalid'],
    ['with a certificate twice', () => x5c(([leaf, ca]) => [leaf, leaf, ca]), 'signature-malformed'],
    ['with the intermediate round the leaf', () => x5c(([leaf, ca]) => [ca, leaf, ca]), 'signature-malformed'],
    ['of six', () => x5c(() => [...Array(6).keys()].map(String)), 'signature-malformed'],
    ['with bytes behind the leaf', () => x5c(([leaf, ca]) => [trailing(leaf), ca]), 'signature-malformed'],
    ['with bytes behind the intermediate', () => x5c(([leaf, ca]) => [leaf, trailing(ca)]), 'signature-malformed'],
    ['with a leaf that is cut short', () => x5c(([leaf = '', ca]) => [leaf.slice(0, 400), ca]), 'signature-malformed'],
    [
      'in PEM',
      () => x5c(([leaf]) => [`-----BEGIN CERTIFICATE-----\n${leaf}\n-----END CERTIFICATE-----`]),
      'signature-malformed',
    ],
  ]);
});

it('reports the wrong order of a chain that begins with the issuer', async () => {
  const answer = await target.refuses({ message: x5c((chain) => chain.toReversed()) }, 422, 'signature-invalid');
  expect(JSON.parse(answer.text)).toMatchObject({ detail: expect.stringContaining('verkeerde volgorde') });
});

describe('a body that is signed well', () => {
  refusesEach([
    ['but is not UTF-8', () => ofBody(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), 'invalid-request'],
    ['but is not JSON', () => ofBody('{'), 'invalid-request'],
    ['but has a repeated member', () => ofBody('{"page":1,"page":2}'), 'invalid-request'],
    ['but has a member __proto__', () => ofBody('{"__proto__":{"page":1}}'), 'invalid-request'],
    ['but is nested a hundred thousand deep', () => ofBody('['.repeat(100_000)), 'invalid-request'],
    ['but nests objects as deep', () => ofBody('{"a":'.repeat(50_000)), 'invalid-request'],
    ['but has an unrepresentable number', () => ofBody('{"page":1e400}'), 'invalid-request'],
    ['but is compressed', () => ofBody(gzipSync('{}')), 'invalid-request'],
    [
      'but requests a date that does not exist',
      () => ofBody('{"aanleverperiodeStartdatum":"2026-02-30"}'),
      'invalid-request',
    ],
    ['but has unknown members', () => ofBody('{"leverancier":"x"}'), 'invalid-request'],
  ]);
});

describe('unusual requests', () => {
  it('a header of 60 KB is read, and refused for its contents', async () => {
    const message = header({ alg: 'none', extra: 'x'.repeat(35_000) });
    await target.refuses({ message }, 422, 'signature-algorithm');
  });

  it('a header of 64 KB and more is too large', async () => {
    await target.refuses({ message: signed('A'.repeat(70_000)) }, 431, 'headers-too-large');
  });

  it('many small headers are too large together', async () => {
    const headers = Object.fromEntries(Array.from({ length: 1500 }, (_, n) => [`x-${n}`, 'x'.repeat(50)]));
    await target.refuses({ message: good, headers }, 431, 'headers-too-large');
  });

  it('a body of two megabytes is too large', async () => {
    await target.refuses({ message: ofBody(' '.repeat(2_000_000)) }, 413, 'body-too-large');
  });

  it.each(['text/plain', 'application/xml', 'application/json; charset=latin1'])(
    'a body declared as %s has another type',
    async (type) => {
      await target.refuses({ message: good, headers: { 'content-type': type } }, 415, 'unsupported-media-type');
    },
  );

  const digestLine = `Digest: ${digestOf(body)}`;
  const length = `Content-Length: ${body.length}`;
  const folded = (): string => good.signatureHeader.replace('..', '..\r\n ');
  it.each<[string, () => string[], string]>([
    ['a signature that is folded', () => [digestLine, length, `nlgov-adr-payload-sig: ${folded()}`], 'invalid-request'],
    ['a digest that is folded', () => [digestLine.replace('=', '=\r\n\t'), length, signatureLine()], 'invalid-request'],
    ['a line end in the middle of a header', () => [digestLine, length, `X: a\rb`, signatureLine()], 'invalid-request'],
    ['two lengths', () => [digestLine, length, 'Content-Length: 3', signatureLine()], 'invalid-request'],
    [
      'a length and chunks',
      () => [digestLine, length, 'Transfer-Encoding: chunked', signatureLine()],
      'invalid-request',
    ],
    ['a header without a name', () => [digestLine, length, ': x', signatureLine()], 'invalid-request'],
  ])('%s is not a request', async (_what, head, slug) => {
    await target.refusesBytes(head(), body.toString(), 400, slug);
  });

  it('ends with no errors in the log, and each cause counted', async () => {
    const text = await (await fetch(`${target.supplier.server.managementUrl}/metrics`)).text();
    for (const cause of ['missing', 'malformed', 'algorithm', 'invalid']) {
      expect(text).toMatch(
        new RegExp(`^koppelvlak_gegevens_signature_failures_total\\{cause="signature-${cause}"\\} [1-9]`, 'm'),
      );
    }
  });
});

function signatureLine(): string {
  return `nlgov-adr-payload-sig: ${good.signatureHeader}`;
}

function sha512(): string {
  return createHash('sha512').update(body).digest('base64');
}

function signedBy(signatureHeader: SignedMessage['signatureHeader']): SignedMessage {
  return { ...good, signatureHeader };
}

function attached(payload: string): SignedMessage {
  return signed(good.signatureHeader.replace('..', `.${payload}.`));
}

function forged(message: SignedMessage): SignedMessage {
  const changed = Buffer.from('{"page":2}');
  return { ...message, body: changed, digestHeader: digestOf(changed) };
}

function trailing(base64 = ''): string {
  return Buffer.concat([Buffer.from(base64, 'base64'), Buffer.from([0, 0, 0])]).toString('base64');
}
