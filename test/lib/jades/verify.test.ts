import { createHmac, createPrivateKey, createSign, generateKeyPairSync, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digestOf } from '../../../src/lib/jades/signature.ts';
import type { SignedMessage } from '../../../src/lib/jades/verify.ts';
import { createVerifier } from '../../../src/lib/jades/verify.ts';
import {
  craft,
  craftDigest,
  digestForm,
  type Kit,
  leafFor,
  openKit,
  pemToDer,
  verdict,
  verifierFor,
} from './support/kit.ts';

let kit: Kit;
beforeAll(async () => {
  kit = await openKit();
});
afterAll(() => kit.close());

const body = Buffer.from('{"page":1}');

describe('a signed message', () => {
  it.each<[string, () => SignedMessage]>([
    ['in the body form', () => craft(kit)],
    ['in the digest form', () => craftDigest(kit)],
    ['in the digest form, encoded', () => craftDigest(kit, encoded())],
    ['in the body form, not encoded', () => craft(kit, { header: { b64: false, crit: ['b64'] }, payload: body })],
    ['with an empty body', () => craft(kit, { body: Buffer.alloc(0) })],
    ['with a body of two megabytes', () => craft(kit, { body: Buffer.alloc(2_000_000, 'x') })],
    ['with the root in x5c', () => craft(kit, { chain: [...kit.requesterChain, ...pemToDer(kit.rootPem)] })],
    ['with several digests', () => craft(kit, { digest: `MD5=AA==,${digestOf(body)}` })],
    ['with several digests, all of them signed', () => craftDigest(kit, { digest: `MD5=AA==, ${digestOf(body)}` })],
    ['with extra members', () => craft(kit, { header: { iat: 1, jwk: {}, jku: 'http://127.0.0.1/' } })],
    ['with header values as lists', () => asLists(craft(kit))],
  ])('is accepted %s', async (_case, message) => {
    expect(await verdict(verifierFor(kit), message())).toBe('accepted');
  });

  it('returns the signer, the form and the proof', async () => {
    const message = craftDigest(kit);
    expect(await verifierFor(kit).verify(message)).toMatchObject({
      style: { form: 'digest', b64: false },
      oin: '00000099000000001000',
      digest: message.digestHeader,
      signature: message.signatureHeader,
    });
  });

  it.each([
    ['has another form', '123'],
    ['has letters', '0000009900000000100A'],
  ])('returns no OIN when the serial number of the subject %s', async (_case, oin) => {
    const chain = [leafFor(kit, { oin }).raw, kit.intermediate];
    expect((await verifierFor(kit).verify(craft(kit, { chain }))).oin).toBeUndefined();
  });

  it('returns no OIN when the subject names two', async () => {
    const subject = [
      ['serialNumber', '00000099000000001000'],
      ['serialNumber', '00000099000000003000'],
    ] as const;
    const chain = [leafFor(kit, { subject }).raw, kit.intermediate];
    expect((await verifierFor(kit).verify(craft(kit, { chain }))).oin).toBeUndefined();
  });
});

describe('a hostile message', () => {
  it.each<[string, () => SignedMessage, string]>([
    ['without a signature', () => ({ ...craft(kit), signatureHeader: undefined }), 'signature-missing'],
    ['with an empty signature', () => ({ ...craft(kit), signatureHeader: '' }), 'signature-missing'],
    ['with the signature twice', () => twice(craft(kit)), 'signature-malformed'],
    ['without a digest', () => ({ ...craft(kit), digestHeader: undefined }), 'digest-missing'],
    ['with a digest of something else', () => craft(kit, { digest: digestOf(Buffer.from('x')) }), 'digest-mismatch'],
    ['with a changed body', () => ({ ...craft(kit), body: Buffer.from('{"page":2}') }), 'digest-mismatch'],
    ['with a changed body and digest', () => changed(craft(kit)), 'signature-invalid'],
    ['with a changed body and digest in the digest form', () => changed(craftDigest(kit)), 'signature-invalid'],
    ['with one part', () => withSignature('abc'), 'signature-malformed'],
    ['with two parts', () => withSignature('abc.def'), 'signature-malformed'],
    ['with four parts', () => withSignature(`${craft(kit).signatureHeader}.x`), 'signature-malformed'],
    ['with dots only', () => withSignature('..'), 'signature-malformed'],
    ['with the payload attached', () => attached(craft(kit)), 'signature-malformed'],
    ['with another payload attached', () => attached(craft(kit), 'eyJwYWdlIjoyfQ'), 'signature-malformed'],
    [
      'with no signature bytes',
      () => withSignature(craft(kit).signatureHeader.replace(/[^.]+$/, '')),
      'signature-malformed',
    ],
    ['with padding behind the signature', () => withSignature(`${craft(kit).signatureHeader}=`), 'signature-malformed'],
    [
      'with a folded header',
      () => withSignature(craft(kit).signatureHeader.replace('..', '..\r\n ')),
      'signature-malformed',
    ],
    ['with two signatures in one header', () => joined(craft(kit)), 'signature-malformed'],
    ['with a space in front', () => withSignature(` ${craft(kit).signatureHeader}`), 'signature-malformed'],
    ['with a header of 64 KB', () => craft(kit, { header: { extra: 'x'.repeat(64 * 1024) } }), 'signature-malformed'],
    ['with a header that is only long', () => withSignature('A'.repeat(70_000)), 'signature-malformed'],
    [
      'with a signature cut short',
      () => withSignature(craft(kit).signatureHeader.replace(/\.\..{4}/, '..')),
      'signature-invalid',
    ],
    ['with a signature of zeros', () => craft(kit, { signer: () => Buffer.alloc(256) }), 'signature-invalid'],
    ['signed by another key', () => craft(kit, { key: otherKey() }), 'signature-invalid'],
    [
      'signed by the key of the intermediate',
      () => craft(kit, { key: kit.authority.issuers.intermediate.key }),
      'signature-invalid',
    ],
    ['with alg none', () => craft(kit, { header: { alg: 'none' } }), 'signature-algorithm'],
    ['with RS256', () => craft(kit, { header: { alg: 'RS256' }, signer: rs256 }), 'signature-algorithm'],
    [
      'with HS256 and the public key as secret',
      () => craft(kit, { header: { alg: 'HS256' }, signer: hs256 }),
      'signature-algorithm',
    ],
    ['with ES256', () => craft(kit, { header: { alg: 'ES256' } }), 'signature-algorithm'],
    ['with PS512', () => craft(kit, { header: { alg: 'PS512' } }), 'signature-algorithm'],
    ['declared PS256 but signed with RS256', () => craft(kit, { signer: rs256 }), 'signature-invalid'],
    ['declared PS256 but signed with HS256', () => craft(kit, { signer: hs256 }), 'signature-invalid'],
    ['signed with another salt length', () => craft(kit, { signer: shortSalt }), 'signature-invalid'],
    ['signed with SHA-512 inside', () => craft(kit, { signer: ps512 }), 'signature-invalid'],
    [
      'of the digest form with sigD removed',
      () => craft(kit, { payload: `digest: ${digestOf(body)}` }),
      'signature-invalid',
    ],
    ['of the body form with sigD added', () => craft(kit, { header: digestForm }), 'signature-invalid'],
    [
      "that signs another body's digest",
      () => craftDigest(kit, { payload: `digest: ${digestOf(Buffer.from('x'))}` }),
      'signature-invalid',
    ],
    [
      'that signs the digest with a capital',
      () => craftDigest(kit, { payload: `Digest: ${digestOf(body)}` }),
      'signature-invalid',
    ],
    [
      'that signs the digest and a line break',
      () => craftDigest(kit, { payload: `digest: ${digestOf(body)}\n` }),
      'signature-invalid',
    ],
    [
      'that signs only the value of the digest',
      () => craftDigest(kit, { payload: digestOf(body) }),
      'signature-invalid',
    ],
    [
      'that adds an algorithm to a signed digest',
      () => ({ ...craftDigest(kit), digestHeader: `MD5=AA==,${digestOf(body)}` }),
      'signature-invalid',
    ],
    [
      'with b64 false and an encoded payload',
      () => craft(kit, { header: { b64: false, crit: ['b64'] } }),
      'signature-invalid',
    ],
    [
      'with a key in jwk',
      () => craft(kit, { key: otherKey(), header: { jwk: otherKey().export({ format: 'jwk' }) } }),
      'signature-invalid',
    ],
    ['with the leaf and intermediate swapped', () => swapped(), 'signature-invalid'],
    [
      'swapped and signed by the intermediate',
      () => swapped(kit.authority.issuers.intermediate.key),
      'certificate-untrusted',
    ],
    [
      'of only an intermediate',
      () => craft(kit, { chain: [kit.intermediate], key: kit.authority.issuers.intermediate.key }),
      'certificate-usage',
    ],
    ['without the intermediate', () => craft(kit, { chain: kit.requesterChain.slice(0, 1) }), 'certificate-untrusted'],
    ['with a stranger before the chain', () => withStranger('first'), 'certificate-untrusted'],
    ['with a stranger in the chain', () => withStranger('middle'), 'certificate-untrusted'],
    ['with a stranger behind the chain', () => withStranger('last'), 'certificate-untrusted'],
    [
      'with root and intermediate swapped',
      () => craft(kit, { chain: [kit.requesterChain[0] ?? body, ...pemToDer(kit.rootPem), kit.intermediate] }),
      'certificate-untrusted',
    ],
    ['of a self-signed certificate', () => selfSigned(), 'certificate-untrusted'],
    ['with the name of the root', () => impostor(), 'certificate-untrusted'],
    ['with the supplier above the requester', () => leafAsIssuer(), 'certificate-untrusted'],
    ['with an EC key in the certificate', () => ecLeaf(), 'signature-algorithm'],
  ])('%s is refused', async (_case, message, code) => {
    const verifier = verifierFor(kit);
    expect(await verdict(verifier, message())).toBe(code);
    expect(await verdict(verifier, craft(kit))).toBe('accepted');
  });

  it('never judges [other, intermediate, other] by the other certificate', async () => {
    const stranger = selfSignedDer();
    const [leaf = body] = kit.requesterChain;
    const message = (chain: Buffer[]): SignedMessage => craft(kit, { chain, key: otherKey() });
    expect(await verdict(verifierFor(kit), message([stranger, kit.intermediate, stranger]))).toBe(
      'signature-malformed',
    );
    expect(await verdict(verifierFor(kit), message([stranger, kit.intermediate, leaf]))).toBe('certificate-untrusted');
  });

  it('calls no address before the path has been verified', async () => {
    const before = kit.authority.calls.length;
    const elsewhere = [['commonName', 'Elders']] as const;
    const issuer = { name: elsewhere, key: otherKey() };
    const chain = [leafFor(kit, { issuer }).raw];
    expect(await verdict(verifierFor(kit), craft(kit, { chain }))).toBe('certificate-untrusted');
    expect(await verdict(verifierFor(kit), craft(kit, { key: otherKey() }))).toBe('signature-invalid');
    expect(kit.authority.calls.length).toBe(before);
  });
});

describe('a verifier', () => {
  const options = {
    revocation: 'hard',
    fetch: () => Promise.reject(new Error('nobody there')),
    now: () => new Date(),
  } as const;

  it.each(['', 'no certificate here', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----'])(
    'is not created without anchors: %j',
    (anchors) => expect(() => createVerifier({ ...options, anchors })).toThrow('trust anchors'),
  );

  it('is not created with an unreadable anchor', () => {
    const anchors = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----';
    expect(() => createVerifier({ ...options, anchors })).toThrow();
  });

  it('finds the anchor among others, and accepts an intermediate as one', async () => {
    const others = readFileSync(kit.authority.supplier.certificate, 'utf8');
    const anchors = `remark\n${others}\n${kit.rootPem}`;
    expect(await verdict(verifierFor(kit, { anchors }), craft(kit))).toBe('accepted');
    const intermediate = readFileSync(kit.authority.intermediate, 'utf8');
    expect(await verdict(verifierFor(kit, { anchors: intermediate }), craft(kit))).toBe('accepted');
  });

  it("does not accept a signer's certificate as an anchor", async () => {
    const anchors = readFileSync(kit.authority.requester.certificate, 'utf8');
    expect(await verdict(verifierFor(kit, { anchors }), craft(kit))).toBe('certificate-untrusted');
  });

  it('checks the dates of a cached path', async () => {
    let now = new Date();
    const verifier = verifierFor(kit, {
      revocation: 'soft',
      now: () => now,
      fetch: () => Promise.reject(new Error('no')),
    });
    const notAfter = new Date(now.getTime() + 60_000);
    const message = craft(kit, { chain: [leafFor(kit, { notAfter }).raw, kit.intermediate] });
    expect(await verdict(verifier, message)).toBe('accepted');
    now = new Date(now.getTime() + 61_000);
    expect(await verdict(verifier, message)).toBe('certificate-expired');
  });
});

const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
const otherKey = () => other.privateKey;
const rs256 = (input: Buffer): Buffer => createSign('sha256').update(input).sign(kit.requesterKey);
const hs256 = (input: Buffer): Buffer =>
  createHmac('sha256', kit.requesterChain[0] ?? '')
    .update(input)
    .digest();
const shortSalt = (input: Buffer): Buffer =>
  sign('sha256', input, { key: kit.requesterKey, padding: 6, saltLength: 20 });
const ps512 = (input: Buffer): Buffer => sign('sha512', input, { key: kit.requesterKey, padding: 6, saltLength: 64 });

function encoded() {
  const payload = Buffer.from(`digest: ${digestOf(body)}`).toString('base64url');
  return { header: { b64: undefined, crit: ['sigD'] }, payload };
}

function asLists(message: SignedMessage & { signatureHeader: string }): SignedMessage {
  return { ...message, signatureHeader: [message.signatureHeader], digestHeader: [digestOf(message.body)] };
}

function twice(message: SignedMessage & { signatureHeader: string }): SignedMessage {
  return { ...message, signatureHeader: [message.signatureHeader, message.signatureHeader] };
}

function joined(message: SignedMessage & { signatureHeader: string }): SignedMessage {
  return { ...message, signatureHeader: `${message.signatureHeader}, ${message.signatureHeader}` };
}

function changed(message: SignedMessage): SignedMessage {
  const forged = Buffer.from('{"page":2}');
  return { ...message, body: forged, digestHeader: digestOf(forged) };
}

function withSignature(signatureHeader: string): SignedMessage {
  return { ...craft(kit), signatureHeader };
}

function attached(
  message: SignedMessage & { signatureHeader: string },
  payload = body.toString('base64url'),
): SignedMessage {
  return { ...message, signatureHeader: message.signatureHeader.replace('..', `.${payload}.`) };
}

function swapped(key = kit.requesterKey): SignedMessage {
  return craft(kit, { chain: kit.requesterChain.toReversed(), key });
}

function selfSignedDer(): Buffer {
  const name = [['commonName', 'Een vreemde']] as const;
  return leafFor(kit, { subject: name, key: otherKey(), issuer: { name, key: otherKey() } }).raw;
}

function withStranger(place: 'first' | 'middle' | 'last'): SignedMessage {
  const [leaf = body] = kit.requesterChain;
  const stranger = selfSignedDer();
  const chains = {
    first: [stranger, leaf, kit.intermediate],
    middle: [leaf, stranger, kit.intermediate],
    last: [leaf, kit.intermediate, stranger],
  };
  return craft(kit, { chain: chains[place], key: place === 'first' ? otherKey() : kit.requesterKey });
}

function selfSigned(): SignedMessage {
  return craft(kit, { chain: [selfSignedDer()], key: otherKey() });
}

function impostor(): SignedMessage {
  const issuer = { name: kit.authority.issuers.root.name, key: otherKey() };
  return craft(kit, { chain: [leafFor(kit, { issuer }).raw] });
}

function leafAsIssuer(): SignedMessage {
  const [, ...rest] = kit.requesterChain;
  const supplier = pemToDer(readFileSync(kit.authority.supplier.certificate, 'utf8'));
  const key = createPrivateKey(readFileSync(kit.authority.supplier.key));
  const name = [
    ['country', 'NL'],
    ['organization', 'Voorbeeld Leverancier'],
    ['commonName', 'Voorbeeld Leverancier gegevenslevering'],
    ['serialNumber', '00000099000000002000'],
  ] as const;
  const leaf = leafFor(kit, { key: otherKey(), issuer: { name, key } });
  return craft(kit, { chain: [leaf.raw, ...supplier, ...rest], key: otherKey() });
}

function ecLeaf(): SignedMessage {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const leaf = leafFor(kit, { key: privateKey });
  return craft(kit, { chain: [leaf.raw, kit.intermediate], signer: (input) => sign('sha256', input, privateKey) });
}
