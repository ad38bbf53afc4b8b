/**
 * Well-signed requests from parties without the right to send them: over HTTP, each refused with its cause, with the service healthy after
 * each.
 */
import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { craft, type Kit, leafFor, pemToDer, revoke } from '../lib/jades/support/kit.ts';
import type { CrlBehaviour, OcspBehaviour } from '../support/authority/behaviour.ts';
import {
  basicConstraints,
  type Extension,
  extendedKeyUsage,
  keyUsage,
  type Name,
  octets,
} from '../support/authority/certificates.ts';
import { nameConstraints, subjectAltName } from '../support/authority/name-extensions.ts';
import { addressExtensions, type LeafRequest, leafExtensions, mintAuthority } from '../support/authority/profiles.ts';
import { FIXTURES } from './support/supplier.ts';
import { openTarget, statusOf, type Target } from './support/target.ts';

let target: Target;
let kit: Kit;
beforeAll(async () => {
  target = await openTarget(join(FIXTURES, 'shv-klein.json'));
  kit = target.kit;
  behave('honest', 'honest');
});
afterAll(() => target.close());
beforeEach(() => behave('honest', 'honest'));

function behave(ocsp: OcspBehaviour, crl: CrlBehaviour): void {
  Object.assign(kit.authority.behaviour, { ocsp, crl, lifeSeconds: 3600 });
}

const attack = (chain: readonly Uint8Array[], key = kit.requesterKey) => ({ message: craft(kit, { chain, key }) });
const refuses = (chain: readonly Uint8Array[], slug: string, key?: KeyObject) =>
  target.refuses(attack(chain, key), statusOf(slug), slug);

const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
const ago = (days: number): Date => new Date(Date.now() - days * 86_400_000);

/** A leaf under the intermediate, with these differences. */
const leaf = (given: Partial<LeafRequest> = {}): Uint8Array[] => [leafFor(kit, given).raw, kit.intermediate];
const used = (...extensions: Extension[]): Uint8Array[] =>
  leaf({ extensions: [...extensions, ...addressExtensions(kit.authority)] });

const underName: Name = [
  ['country', 'NL'],
  ['commonName', 'Uitgever onder het stamcertificaat'],
];
type AuthorityWishes = Partial<Parameters<typeof mintAuthority>[0]>;

/** A leaf under another certificate of the intermediate, whose responder answers unless it has a different key. */
function under(wishes: AuthorityWishes = {}, given: Partial<LeafRequest> = {}): Uint8Array[] {
  const { issuers, ocspUrl } = kit.authority;
  const { name, key: ownKey } = issuers.intermediate;
  const { key = ownKey } = wishes;
  const now = new Date();
  const authority = mintAuthority({ subject: name, issuer: issuers.root, now, ocspUrl, ...wishes, key });
  return [leafFor(kit, { issuer: { name, key }, ...given }).raw, authority.raw];
}

/** A leaf under an authority issued by the intermediate, which may issue leaves only. */
function tooDeep(): Uint8Array[] {
  const { issuers, ocspUrl } = kit.authority;
  const authority = mintAuthority({
    subject: underName,
    key: other,
    issuer: issuers.intermediate,
    now: new Date(),
    ocspUrl,
  });
  return [leafFor(kit, { issuer: { name: underName, key: other } }).raw, authority.raw, kit.intermediate];
}

function stranger(): Uint8Array {
  const name: Name = [['commonName', 'Een vreemde']];
  return leafFor(kit, { subject: name, key: other, issuer: { name, key: other } }).raw;
}

/** The supplier, itself a leaf, as the requester's issuer. */
function leafAsIssuer(): Uint8Array[] {
  const name: Name = [
    ['country', 'NL'],
    ['organization', 'Voorbeeld Leverancier'],
    ['commonName', 'Voorbeeld Leverancier gegevenslevering'],
    ['serialNumber', '00000099000000002000'],
  ];
  const key = createPrivateKey(readFileSync(kit.authority.supplier.key));
  const supplier = pemToDer(readFileSync(kit.authority.supplier.certificate, 'utf8'));
  return [leafFor(kit, { issuer: { name, key } }).raw, ...supplier, kit.intermediate];
}

const critical: Extension = { id: '1.2.3.4.5.6', critical: true, value: octets(Buffer.from('x')) };
const signing = keyUsage(['digitalSignature']);
const permitted = nameConstraints({ permitted: [{ dns: 'example.nl' }] });
const excluded = nameConstraints({ excluded: [{ dns: 'example.nl' }] });
const authorityWith = (limit: Extension): AuthorityWishes => ({
  extensions: [basicConstraints(true), keyUsage(['keyCertSign']), limit, ...addressExtensions(kit.authority)],
});
const named = (dns: string): Partial<LeafRequest> => ({
  extensions: [...leafExtensions(kit.authority), subjectAltName([{ dns }])],
});

/** A busy authority may answer late, and its answer then serves the next request. */
async function answersAs(chain: readonly Uint8Array[], expected: RegExp): Promise<void> {
  const { digestHeader, signatureHeader } = craft(kit, { chain, body: Buffer.from('{}') });
  const headers = { digest: String(digestHeader), 'nlgov-adr-payload-sig': String(signatureHeader) };
  const seen = async (): Promise<string> => {
    const { status, text } = await target.supplier.ask('{}', { headers });
    return status === 200 ? 'accepted' : JSON.parse(text).type;
  };
  await expect.poll(seen).toMatch(expected);
}
const isAccepted = (chain: readonly Uint8Array[]) => answersAs(chain, /^accepted$/);

describe('a path', () => {
  it('is accepted when each of its certificates is right', async () => {
    await isAccepted(under(authorityWith(permitted), named('a.example.nl')));
  });

  it.each<[string, () => Uint8Array[], string]>([
    ['of an unknown anchor', () => [stranger()], 'certificate-untrusted'],
    [
      'of an issuer with the name of the intermediate',
      () => leaf({ issuer: { name: kit.authority.issuers.intermediate.name, key: other } }),
      'certificate-untrusted',
    ],
    ['without the intermediate', () => leaf().slice(0, 1), 'certificate-untrusted'],
    [
      'with a stranger in the middle',
      () => [...leaf().slice(0, 1), stranger(), kit.intermediate],
      'certificate-untrusted',
    ],
    [
      'in another order',
      () => [...leaf().slice(0, 1), ...pemToDer(kit.rootPem), kit.intermediate],
      'certificate-untrusted',
    ],
    ['with a leaf as issuer', () => leafAsIssuer(), 'certificate-untrusted'],
    ['that is longer than its authority allows', () => tooDeep(), 'certificate-untrusted'],
    ['with an expired leaf', () => leaf({ notBefore: ago(400), notAfter: ago(1) }), 'certificate-expired'],
    ['with a leaf that is not yet valid', () => leaf({ notBefore: ago(-1) }), 'certificate-expired'],
    ['with an expired authority', () => under({ notBefore: ago(400), notAfter: ago(1) }), 'certificate-expired'],
    ['with an authority that is not yet valid', () => under({ notBefore: ago(-1) }), 'certificate-expired'],
    ['with SHA-1 under the leaf', () => leaf({ hash: 'sha1' }), 'certificate-untrusted'],
    ['with SHA-1 under the authority', () => under({ hash: 'sha1' }), 'certificate-untrusted'],
    ['with a short key of the authority', () => under({ key: short }), 'certificate-untrusted'],
    ['with two algorithms in one certificate', () => leaf({ innerHash: 'sha384' }), 'certificate-untrusted'],
    [
      'with an issuer that is not an authority',
      () => under({ extensions: [basicConstraints(false), keyUsage(['keyCertSign'])] }),
      'certificate-untrusted',
    ],
    [
      'with an authority that may sign lists only',
      () => under({ extensions: [basicConstraints(true), keyUsage(['cRLSign'])] }),
      'certificate-untrusted',
    ],
    [
      'outside the permitted names',
      () => under(authorityWith(permitted), named('a.example.com')),
      'certificate-untrusted',
    ],
    ['inside the excluded names', () => under(authorityWith(excluded), named('a.example.nl')), 'certificate-untrusted'],
    ['with an unknown critical extension', () => used(signing, critical), 'certificate-untrusted'],
    ['of a leaf without key usage', () => used(basicConstraints(false)), 'certificate-usage'],
    ['of a leaf for key encipherment', () => used(keyUsage(['keyEncipherment'])), 'certificate-usage'],
    ['of a leaf for OCSP signing', () => used(signing, extendedKeyUsage(['1.3.6.1.5.5.7.3.9'])), 'certificate-usage'],
    ['of a leaf for time stamping', () => used(signing, extendedKeyUsage(['1.3.6.1.5.5.7.3.8'])), 'certificate-usage'],
    ['of a leaf that is an authority', () => used(basicConstraints(true), signing), 'certificate-usage'],
  ])('%s is refused', async (_what, chain, slug) => {
    const made = chain();
    await refuses(made, slug, made.length === 1 && slug === 'certificate-untrusted' ? keyOf(made) : undefined);
  });

  it('of a leaf with a short key is refused', () => refuses(leaf({ key: short }), 'certificate-untrusted', short));

  it('of a leaf with a key of another type is refused', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const signer = (input: Buffer): Buffer => sign('sha256', input, privateKey);
    const message = craft(kit, { chain: leaf({ key: privateKey }), signer });
    await target.refuses({ message }, 422, 'signature-algorithm');
  });

  it('consisting of only an authority is refused', () =>
    refuses([kit.intermediate], 'certificate-usage', kit.authority.issuers.intermediate.key));
});

/** Whose certificate is sent alone: the stranger's, or the requester's without its issuers. */
function keyOf([only]: Uint8Array[]): KeyObject {
  return only !== undefined && Buffer.from(only).includes('Een vreemde') ? other : kit.requesterKey;
}

describe('a revoked certificate', () => {
  const refusesRevoked = async (chain: Uint8Array[]): Promise<void> => {
    await answersAs(chain, /certificate-revoked$/);
    await refuses(chain, 'certificate-revoked');
  };

  it.each<[string, OcspBehaviour, CrlBehaviour]>([
    ['OCSP', 'honest', 'not-found'],
    ['the list', 'not-found', 'honest'],
  ])('is refused by %s', async (_how, ocsp, crl) => {
    behave(ocsp, crl);
    const revoked = leafFor(kit);
    revoke(kit, revoked);
    await refusesRevoked([revoked.raw, kit.intermediate]);
  });

  it.each<[string, OcspBehaviour, CrlBehaviour]>([
    ['OCSP', 'honest', 'not-found'],
    ['the list', 'not-found', 'honest'],
  ])('is refused above a good one by %s', async (_how, ocsp, crl) => {
    behave(ocsp, crl);
    const { issuers, ocspUrl, rootCrlUrl: crlUrl } = kit.authority;
    const { name: subject, key } = issuers.intermediate;
    const addresses = ocsp === 'honest' ? { ocspUrl } : { crlUrl };
    const made = mintAuthority({ subject, key, issuer: issuers.root, now: new Date(), ...addresses });
    revoke(kit, made);
    await refusesRevoked([leafFor(kit).raw, made.raw]);
  });
});

describe('of an unknown certificate', () => {
  /** Each with its own address, so that a hanging one does not cause the next refusal. */
  const responder = (query: string) => leafExtensions({ ocspUrl: `${kit.authority.ocspUrl}?${query}` });
  const list = (query: string) => leafExtensions({ crlUrl: `${kit.authority.crlUrl}?${query}` });

  it('an honest responder or an honest list is enough', async () => {
    await isAccepted(leaf({ extensions: responder('honest') }));
    await isAccepted(leaf({ extensions: list('honest') }));
  });

  it.each<OcspBehaviour>([
    'forged',
    'foreign',
    'unappointed',
    'expired-delegate',
    'weak-signature',
    'stale',
    'years-old',
    'future',
    'other-nonce',
    'wrong-certificate',
    'twice',
    'unknown',
    'hang',
    'drip',
    'garbage',
    'gigabyte',
    'redirect-elsewhere',
    'redirect-forever',
  ])('the responder is %s', async (behaviour) => {
    behave(behaviour, 'not-found');
    await refuses(leaf({ extensions: responder(behaviour) }), 'revocation-unknown');
  });

  it.each<CrlBehaviour>([
    'forged',
    'foreign',
    'stale',
    'years-old',
    'delta',
    'partial',
    'authorities-only',
    'hang',
    'gigabyte',
    'redirect-elsewhere',
  ])('the list is %s, and there is no responder', async (behaviour) => {
    behave('not-found', behaviour);
    await refuses(leaf({ extensions: list(behaviour) }), 'revocation-unknown');
  });

  it.each([
    ['no address', undefined],
    ['an address that is not a web address', 'ldap://127.0.0.1/x'],
  ])('there is %s', async (_what, ocspUrl) => {
    await refuses(leaf({ extensions: leafExtensions(ocspUrl === undefined ? {} : { ocspUrl }) }), 'revocation-unknown');
  });
});
