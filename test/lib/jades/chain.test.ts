import { generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { JadesError, parseCertificate } from '../../../src/lib/jades/certificate.ts';
import { createPathCache, validatePath } from '../../../src/lib/jades/chain.ts';
import {
  basicConstraints,
  type CertificateRequest,
  certificatePolicies,
  type Extension,
  extendedKeyUsage,
  identifier,
  integer,
  keyUsage,
  mintCertificate,
  type Name,
  octets,
  sequence,
  tagged,
  type Usage,
} from '../../support/authority/certificates.ts';

const day = 24 * 3_600_000;
const at = new Date('2026-06-01T12:00:00Z');
const policy = '2.16.528.1.1003.1.2.8.6';
const keys: KeyObject[] = [];
beforeAll(() => {
  for (let i = 0; i < 5; i += 1) keys.push(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey);
});

const leafUsage: readonly Usage[] = ['digitalSignature'];
const leaf = (...more: Extension[]): Extension[] => [basicConstraints(false), keyUsage(leafUsage), ...more];
const ca = (pathLength?: number, ...more: Extension[]): Extension[] => [
  basicConstraints(true, pathLength),
  keyUsage(['keyCertSign', 'cRLSign']),
  ...more,
];
type Step = Partial<CertificateRequest>;

/** A chain from the leaf up; the last is the anchor. Every step overrides parts of a valid certificate. */
function chain(...steps: Step[]): X509Certificate[] {
  const names = steps.map(({ subject }, i): Name => subject ?? [['commonName', `Certificaat ${i}`]]);
  const key = (i: number): KeyObject => steps[i]?.key ?? keys[i] ?? fail();
  return steps.map((step, i) => {
    const above = Math.min(i + 1, steps.length - 1);
    return mintCertificate({
      subject: names[i] ?? [],
      issuer: { name: names[above] ?? [], key: key(above) },
      notBefore: new Date(at.getTime() - day),
      notAfter: new Date(at.getTime() + day),
      extensions: i === 0 ? leaf() : ca(),
      ...step,
      key: key(i),
    });
  });
}

function fail(): never {
  throw new Error('the chain is longer than there are keys');
}

function judge(certificates: X509Certificate[], requiredPolicies: string[] = []): string {
  const parsed = certificates.map(({ raw }) => parseCertificate(raw));
  try {
    const path = validatePath(parsed.slice(0, -1), { anchors: parsed.slice(-1), requiredPolicies, at });
    return path.length === certificates.length ? 'accepted' : 'another path';
  } catch (error) {
    return error instanceof JadesError ? error.code : String(error);
  }
}

const unknownCritical: Extension = { id: '1.2.3.4.5.6', critical: true, value: octets(Buffer.from('x')) };
const unknown: Extension = { ...unknownCritical, critical: false };
const rootName: Name = [['commonName', 'Certificaat 2']];
const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey;
const expired: Step = { notAfter: new Date(at.getTime() - 1000) };
const early: Step = { notBefore: new Date(at.getTime() + 1000) };

describe('path validation', () => {
  it.each<[string, () => X509Certificate[], string]>([
    ['a leaf under the anchor', () => chain({}, {}), 'accepted'],
    ['a leaf under an intermediate', () => chain({}, {}, {}), 'accepted'],
    ['three intermediates', () => chain({}, {}, {}, {}, {}), 'accepted'],
    ['nonRepudiation only', () => chain({ extensions: [keyUsage(['nonRepudiation'])] }, {}), 'accepted'],
    ['an unknown non-critical extension', () => chain({ extensions: leaf(unknown) }, {}), 'accepted'],
    ['no key identifiers', () => chain({ anonymousKeys: true }, { anonymousKeys: true }, {}), 'accepted'],
    ['RSASSA-PSS', () => chain({ pss: true }, { pss: true }, {}), 'accepted'],
    ['SHA-384 and SHA-512', () => chain({ hash: 'sha384' }, { hash: 'sha512' }, {}), 'accepted'],
    ['an authority with a key on P-256', () => chain({}, { key: ec('prime256v1') }, {}), 'accepted'],
    ['an authority with a key on P-384', () => chain({ hash: 'sha384' }, { key: ec('secp384r1') }, {}), 'accepted'],
    ['an anchor signed with SHA-1', () => chain({}, { hash: 'sha1' }), 'accepted'],
    ['an anchor without key usage', () => chain({}, { extensions: [basicConstraints(true)] }), 'accepted'],
    ['path length 0 above a leaf', () => chain({}, { extensions: ca(0) }, {}), 'accepted'],
    ['path length 1 above one intermediate', () => chain({}, {}, { extensions: ca(1) }), 'accepted'],
    [
      'a self-issued intermediate, not counted',
      () => chain({}, { subject: rootName }, { extensions: ca(0) }),
      'accepted',
    ],
    [
      'an extended usage among others',
      () => chain({ extensions: leaf(extendedKeyUsage(['1.3.6.1.5.5.7.3.8', '1.3.6.1.5.5.7.3.36'])) }, {}),
      'accepted',
    ],
    ['any extended usage', () => chain({ extensions: leaf(extendedKeyUsage(['2.5.29.37.0'])) }, {}), 'accepted'],
    [
      'a critical extended usage',
      () => chain({ extensions: leaf(extendedKeyUsage(['1.3.6.1.5.5.7.3.4'], true)) }, {}),
      'accepted',
    ],

    ['an expired leaf', () => chain(expired, {}, {}), 'certificate-expired'],
    ['an expired intermediate', () => chain({}, expired, {}), 'certificate-expired'],
    ['an expired anchor', () => chain({}, {}, expired), 'certificate-expired'],
    ['a leaf that is not yet valid', () => chain(early, {}, {}), 'certificate-expired'],
    ['an intermediate that is not yet valid', () => chain({}, early, {}), 'certificate-expired'],
    [
      'an intermediate without basic constraints',
      () => chain({}, { extensions: [keyUsage(['keyCertSign'])] }, {}),
      'certificate-untrusted',
    ],
    [
      'an intermediate that is not an authority',
      () => chain({}, { extensions: [basicConstraints(false), keyUsage(['keyCertSign'])] }, {}),
      'certificate-untrusted',
    ],
    ['a leaf as issuer', () => chain({}, { extensions: leaf() }, {}), 'certificate-untrusted'],
    [
      'an intermediate that may not sign certificates',
      () => chain({}, { extensions: [basicConstraints(true), keyUsage(['cRLSign'])] }, {}),
      'certificate-untrusted',
    ],
    [
      'an intermediate without key usage',
      () => chain({}, { extensions: [basicConstraints(true)] }, {}),
      'certificate-untrusted',
    ],
    [
      'an anchor that may not sign certificates',
      () => chain({}, { extensions: [basicConstraints(true), keyUsage(['cRLSign'])] }),
      'certificate-untrusted',
    ],
    ['an anchor without basic constraints', () => chain({}, { extensions: [] }), 'certificate-untrusted'],
    ['path length 0 above an intermediate', () => chain({}, {}, { extensions: ca(0) }), 'certificate-untrusted'],
    [
      'path length 0 of an intermediate above another',
      () => chain({}, {}, { extensions: ca(0) }, {}),
      'certificate-untrusted',
    ],
    ['path length 1 above two intermediates', () => chain({}, {}, {}, { extensions: ca(1) }), 'certificate-untrusted'],
    ['a leaf signed with SHA-1', () => chain({ hash: 'sha1' }, {}, {}), 'certificate-untrusted'],
    ['an intermediate signed with SHA-1', () => chain({}, { hash: 'sha1' }, {}), 'certificate-untrusted'],
    ['a certificate that names two algorithms', () => chain({ innerHash: 'sha384' }, {}), 'certificate-untrusted'],
    ['a leaf with a short key', () => chain({ key: short }, {}, {}), 'certificate-untrusted'],
    ['an intermediate with a short key', () => chain({}, { key: short }, {}), 'certificate-untrusted'],
    ['an anchor with a short key', () => chain({}, {}, { key: short }), 'certificate-untrusted'],
    ['an authority on a disallowed curve', () => chain({}, { key: ec('secp256k1') }, {}), 'certificate-untrusted'],
    [
      'an unknown critical extension in the leaf',
      () => chain({ extensions: leaf(unknownCritical) }, {}),
      'certificate-untrusted',
    ],
    [
      'an unknown critical extension in an intermediate',
      () => chain({}, { extensions: ca(undefined, unknownCritical) }, {}),
      'certificate-untrusted',
    ],
    [
      'an unknown critical extension in the anchor',
      () => chain({}, { extensions: ca(undefined, unknownCritical) }),
      'certificate-untrusted',
    ],
    [
      'an extension twice',
      () => chain({ extensions: leaf(keyUsage(['nonRepudiation'])) }, {}),
      'certificate-untrusted',
    ],
    [
      'a non-critical policy mapping',
      () => {
        const value = sequence(sequence(identifier(policy), identifier('1.2.3.4')));
        return chain({}, { extensions: ca(undefined, { id: '2.5.29.33', critical: false, value }) }, {});
      },
      'certificate-untrusted',
    ],
    [
      'a non-critical policy constraint',
      () => {
        const value = sequence(tagged(0, '\u0000'));
        return chain({}, { extensions: ca(undefined, { id: '2.5.29.36', critical: false, value }) }, {});
      },
      'certificate-untrusted',
    ],
    [
      'a non-critical inhibit-any-policy',
      () => chain({}, { extensions: ca(undefined, { id: '2.5.29.54', critical: false, value: integer('00') }) }, {}),
      'certificate-untrusted',
    ],
    [
      'unreadable basic constraints',
      () =>
        chain(
          { extensions: [{ id: '2.5.29.19', critical: true, value: octets(Buffer.from('x')) }, keyUsage(leafUsage)] },
          {},
        ),
      'certificate-untrusted',
    ],
    [
      'unreadable name constraints',
      () =>
        chain(
          {},
          { extensions: ca(undefined, { id: '2.5.29.30', critical: true, value: sequence(octets(Buffer.from('x'))) }) },
          {},
        ),
      'certificate-untrusted',
    ],
    [
      'unreadable key usage',
      () => chain({ extensions: [{ id: '2.5.29.15', critical: true, value: octets(Buffer.from([7])) }] }, {}),
      'certificate-untrusted',
    ],
    ['the same key twice in the path', () => chain({}, { key: keys[0] ?? short }, {}), 'certificate-untrusted'],
    ['a leaf without key usage', () => chain({ extensions: [basicConstraints(false)] }, {}), 'certificate-usage'],
    [
      'a leaf for key encipherment',
      () => chain({ extensions: [keyUsage(['keyEncipherment'])] }, {}),
      'certificate-usage',
    ],
    ['a leaf with an empty key usage', () => chain({ extensions: [keyUsage([])] }, {}), 'certificate-untrusted'],
    [
      'a leaf that is an authority',
      () => chain({ extensions: [basicConstraints(true), keyUsage(['digitalSignature', 'keyCertSign'])] }, {}),
      'certificate-usage',
    ],
    [
      'a leaf that may sign certificates',
      () => chain({ extensions: [keyUsage(['digitalSignature', 'keyCertSign'])] }, {}),
      'certificate-usage',
    ],
    [
      'a leaf for OCSP signing',
      () => chain({ extensions: leaf(extendedKeyUsage(['1.3.6.1.5.5.7.3.9'])) }, {}),
      'certificate-usage',
    ],
    [
      'a leaf for time stamping',
      () => chain({ extensions: leaf(extendedKeyUsage(['1.3.6.1.5.5.7.3.8'], true)) }, {}),
      'certificate-usage',
    ],
    [
      'a leaf for code signing',
      () => chain({ extensions: leaf(extendedKeyUsage(['1.3.6.1.5.5.7.3.3'])) }, {}),
      'certificate-usage',
    ],
    [
      'an authority for time stamping above',
      () => chain({}, { extensions: ca(undefined, extendedKeyUsage(['1.3.6.1.5.5.7.3.8'])) }, {}),
      'certificate-usage',
    ],
    [
      'disjoint usages of leaf and authority',
      () =>
        chain(
          { extensions: leaf(extendedKeyUsage(['1.3.6.1.5.5.7.3.2'])) },
          { extensions: ca(undefined, extendedKeyUsage(['1.3.6.1.5.5.7.3.4'])) },
          {},
        ),
      'certificate-usage',
    ],
  ])('%s', async (_case, certificates, code) => {
    expect(judge(certificates())).toBe(code);
  });

  it('refuses any change to the signed part of a certificate', async () => {
    const [first, ...rest] = chain({}, {}, {});
    const der = Buffer.from(first?.raw ?? '');
    const place = der.indexOf('Certificaat 0');
    der[place] = 'D'.charCodeAt(0);
    expect(judge([new X509Certificate(der), ...rest])).toBe('certificate-untrusted');
  });

  it('refuses a path with a repeated key that reaches the anchor', async () => {
    const [first, second, root] = chain({}, {}, {});
    const [, , stranger] = chain({}, {}, { key: keys[4] ?? short });
    expect(judge([first, second, stranger].flatMap((c) => c ?? []))).toBe('certificate-untrusted');
    expect(judge([first, root].flatMap((c) => c ?? []))).toBe('certificate-untrusted');
  });
});

describe('required policies', () => {
  const other = '1.2.3.4';
  const withPolicies = (...policies: string[]): Extension => certificatePolicies(policies);
  it.each<[string, string[], string[], string]>([
    ['the policy in leaf and intermediate', [policy], [policy], 'accepted'],
    ['any policy in the intermediate', [policy], ['2.5.29.32.0'], 'accepted'],
    ['the policy among others', [other, policy], [policy, other], 'accepted'],
    ['another policy in the leaf', [other], [policy], 'certificate-untrusted'],
    ['another policy in the intermediate', [policy], [other], 'certificate-untrusted'],
    ['no policy in the leaf', [], [policy], 'certificate-untrusted'],
    ['no policy in the intermediate', [policy], [], 'certificate-untrusted'],
  ])('%s', async (_case, below, above, code) => {
    const step = (policies: string[]): Extension[] => (policies.length > 0 ? [withPolicies(...policies)] : []);
    const certificates = chain({ extensions: leaf(...step(below)) }, { extensions: ca(undefined, ...step(above)) }, {});
    expect(judge(certificates, [policy])).toBe(code);
    expect(judge(certificates)).toBe('accepted');
  });
});

describe('the cache of paths', () => {
  const pemOf = (certificate: X509Certificate | undefined): string => certificate?.toString() ?? fail();

  it('reads a chain once', async () => {
    const certificates = chain({}, {}, {});
    const cache = createPathCache({ anchors: pemOf(certificates.at(-1)), requiredPolicies: [], now: () => at });
    const ders = certificates.map(({ raw }) => raw);
    const parsed = cache.readCertificates(ders);
    cache.find(parsed);
    expect(cache.readCertificates(ders)[0]).toBe(parsed[0]);
  });

  it('counts certificates beyond the anchor too, which anybody can make', async () => {
    const certificates = chain({}, {}, {});
    // Its name and key are the anchor's, so it is the anchor's issuer; its maker needed no key of an authority.
    const padding: Extension = { ...unknown, value: octets(Buffer.alloc(600_000)) };
    const beyond = mintCertificate({
      subject: rootName,
      key: keys[2] ?? fail(),
      issuer: { name: [['commonName', 'Niemand']], key: keys[4] ?? fail() },
      notBefore: at,
      notAfter: at,
      extensions: ca(undefined, padding),
    });
    const cache = createPathCache({ anchors: pemOf(certificates.at(-1)), requiredPolicies: [], now: () => at });
    const ders = [...certificates, beyond].map(({ raw }) => raw);
    const parsed = cache.readCertificates(ders);
    expect(cache.find(parsed)).toHaveLength(3);
    expect(cache.readCertificates(ders)[0]).not.toBe(parsed[0]);
  });
});
