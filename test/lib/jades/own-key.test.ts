import { createPrivateKey, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import forge from 'node-forge';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { daysToExpiry, loadPemKey, loadPkcs12Key } from '../../../src/lib/jades/own-key.ts';
import { createSigner, PLAIN_STYLES } from '../../../src/lib/jades/signature.ts';
import { basicConstraints, keyUsage } from '../../support/authority/certificates.ts';
import { mintAuthority } from '../../support/authority/profiles.ts';
import { type Kit, leafFor, openKit, verifierFor } from './support/kit.ts';

let kit: Kit;
let key: string;
let chain: string;
beforeAll(async () => {
  kit = await openKit();
  key = readFileSync(kit.authority.supplier.key, 'utf8');
  chain = readFileSync(kit.authority.supplier.chain, 'utf8');
});
afterAll(() => kit.close());

const now = () => new Date();
const pem = (...certificates: (X509Certificate | Buffer)[]): string =>
  certificates.map((c) => (c instanceof X509Certificate ? c : new X509Certificate(c)).toString()).join('');

/** A PKCS#12 file made by forge; `certificates` in the given order. */
function p12(
  privateKey: KeyObject | null,
  certificates: string[],
  passphrase: string,
  algorithm: 'aes256' | '3des' = 'aes256',
): Buffer {
  const forgeKey =
    privateKey && forge.pki.privateKeyFromPem(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  const list = certificates.map((text) => forge.pki.certificateFromPem(text));
  // Forge's types do not say that the key may be absent.
  const asn1 = Reflect.apply(forge.pkcs12.toPkcs12Asn1, forge.pkcs12, [forgeKey, list, passphrase, { algorithm }]);
  return Buffer.from(forge.asn1.toDer(asn1).getBytes(), 'binary');
}

const split = (text: string): string[] => text.match(/-----BEGIN[\s\S]+?-----END CERTIFICATE-----\n/g) ?? [];

describe('our own key in PEM', () => {
  it('is read with its chain, and makes accepted signatures', async () => {
    const own = loadPemKey({ key, chain }, now());
    expect(own).toMatchObject({
      oin: kit.authority.supplier.oin,
      subject: expect.stringContaining('Voorbeeld Leverancier'),
    });
    expect(own.chain.map(({ x509 }) => x509.ca)).toEqual([false, true]);
    expect(daysToExpiry(own, now())).toBe(729);
    const body = Buffer.from('{}');
    const { digest, signature } = await createSigner({ ...own, now }).sign(body, PLAIN_STYLES.digest);
    await verifierFor(kit).verify({ signatureHeader: signature, digestHeader: digest, body });
  });

  it('is read with its chain in any order, with text around it, and with the root', () => {
    const turned = `remark\n${split(chain).toReversed().join('and\n')}${kit.rootPem}`;
    expect(loadPemKey({ key, chain: turned }, now()).chain.map(({ x509 }) => x509.ca)).toEqual([false, true, true]);
  });

  it('is refused when it is encrypted', () => {
    const encryption = { cipher: 'aes-256-cbc', passphrase: 'geheim' };
    const locked = createPrivateKey(key)
      .export({ type: 'pkcs8', format: 'pem', ...encryption })
      .toString();
    expect(() => loadPemKey({ key: locked, chain }, now())).toThrow(
      expect.objectContaining({ code: 'wrong-passphrase', message: expect.stringContaining('there is no passphrase') }),
    );
  });

  it('has the same key id whatever the certificate', () => {
    const again = pem(leafFor(kit, { key: createPrivateKey(key) }), kit.intermediate);
    expect(loadPemKey({ key, chain: again }, now()).kid).toBe(loadPemKey({ key, chain }, now()).kid);
  });

  const given = (extensions = [basicConstraints(false), keyUsage(['digitalSignature'])]) => ({
    key: createPrivateKey(key),
    extensions,
  });
  it.each<[string, () => { key: string; chain: string }, string]>([
    ['no key', () => ({ key: '', chain }), 'unreadable-key'],
    ['a certificate for a key', () => ({ key: chain, chain }), 'unreadable-key'],
    ['no certificate', () => ({ key, chain: key }), 'unreadable-chain'],
    ['a broken certificate', () => ({ key, chain: chain.replace('MII', 'MIX') }), 'unreadable-chain'],
    [
      "another party's key",
      () => ({ key: readFileSync(kit.authority.requester.key, 'utf8'), chain }),
      'mismatched-pair',
    ],
    [
      "another party's chain",
      () => ({ key, chain: readFileSync(kit.authority.requester.chain, 'utf8') }),
      'mismatched-pair',
    ],
    [
      'a certificate outside the path',
      () => ({ key, chain: `${chain}${readFileSync(kit.authority.requester.certificate, 'utf8')}` }),
      'broken-chain',
    ],
    [
      'a certificate for something else',
      () => ({ key, chain: pem(leafFor(kit, given([keyUsage(['keyEncipherment'])]))) }),
      'wrong-usage',
    ],
    [
      'the certificate of an authority',
      () => ({ key, chain: pem(leafFor(kit, given([basicConstraints(true), keyUsage(['digitalSignature'])]))) }),
      'wrong-usage',
    ],
    [
      'an expired certificate',
      () => ({ key, chain: pem(leafFor(kit, { ...given(), notAfter: new Date(Date.now() - 60_000) })) }),
      'expired',
    ],
    [
      'a certificate that is not yet valid',
      () => ({ key, chain: pem(leafFor(kit, { ...given(), notBefore: new Date(Date.now() + 60_000) })) }),
      'not-yet-valid',
    ],
    ['an expired intermediate', () => ({ key, chain: `${split(chain)[0]}${expiredIntermediate()}` }), 'expired'],
    ['a short key', () => short(), 'weak-key'],
    ['an EC key', () => elliptic(), 'weak-key'],
  ])('is refused: %s', (_case, files, code) => {
    expect(() => loadPemKey(files(), now())).toThrow(expect.objectContaining({ name: 'OwnKeyError', code }));
  });
});

describe('our own key in PKCS#12', () => {
  it.each(['aes256', '3des'] as const)('is read with its chain (%s)', (algorithm) => {
    const file = p12(createPrivateKey(key), split(chain).toReversed(), 'geheim', algorithm);
    const own = loadPkcs12Key({ p12: file, passphrase: 'geheim' }, now());
    expect(own.chain.map(({ thumbprint }) => thumbprint)).toEqual(
      loadPemKey({ key, chain }, now()).chain.map((c) => c.thumbprint),
    );
  });

  it('is refused with another passphrase', () => {
    const file = p12(createPrivateKey(key), split(chain), 'geheim');
    expect(() => loadPkcs12Key({ p12: file, passphrase: 'anders' }, now())).toThrow('does not open');
    expect(() => loadPkcs12Key({ p12: file, passphrase: '' }, now())).toThrow(
      expect.objectContaining({ code: 'wrong-passphrase' }),
    );
  });

  it.each<[string, () => Buffer, string]>([
    ['garbage', () => Buffer.from('garbage'), 'unreadable-p12'],
    ['an empty file', () => Buffer.alloc(0), 'unreadable-p12'],
    ['PEM', () => Buffer.from(key), 'unreadable-p12'],
    ['a certificate', () => kit.intermediate, 'unreadable-p12'],
    ['a file cut short', () => p12(createPrivateKey(key), split(chain), 'geheim').subarray(0, 500), 'unreadable-p12'],
    ['no key in it', () => p12(null, split(chain), 'geheim'), 'unreadable-p12'],
    ["another party's key", () => p12(kit.requesterKey, split(chain), 'geheim'), 'mismatched-pair'],
  ])('is refused: %s', (_case, file, code) => {
    expect(() => loadPkcs12Key({ p12: file(), passphrase: 'geheim' }, now())).toThrow(
      expect.objectContaining({ code }),
    );
  });
});

function expiredIntermediate(): string {
  const { intermediate, root } = kit.authority.issuers;
  const notAfter = new Date(Date.now() - 60_000);
  return mintAuthority({
    subject: intermediate.name,
    key: intermediate.key,
    issuer: root,
    now: now(),
    notAfter,
  }).toString();
}

function withKey(privateKey: KeyObject): { key: string; chain: string } {
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    chain: pem(leafFor(kit, { key: privateKey })),
  };
}

function short(): { key: string; chain: string } {
  return withKey(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey);
}

function elliptic(): { key: string; chain: string } {
  return withKey(generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey);
}
