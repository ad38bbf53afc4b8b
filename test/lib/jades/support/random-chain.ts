// Random chains for comparison with another implementation: mostly valid, with occasional faults.
import type { KeyObject, X509Certificate } from 'node:crypto';
import fc from 'fast-check';
import {
  basicConstraints,
  certificatePolicies,
  type Extension,
  integer,
  keyUsage,
  mintCertificate,
  type Name,
  type SignatureHash,
  sequence,
  tagged,
} from '../../../support/authority/certificates.ts';
import type { GeneralName } from '../../../support/authority/name-extensions.ts';
import { nameConstraints, subjectAltName } from '../../../support/authority/name-extensions.ts';

const day = 24 * 3_600_000;
export const at = new Date('2026-06-01T12:00:00Z');
export const policy = '1.2.3.4';

const usually = <T>(value: T, ...others: T[]): fc.Arbitrary<T> =>
  fc.oneof({ arbitrary: fc.constant(value), weight: 8 * others.length }, ...others.map((other) => fc.constant(other)));

/** Inside the subtree of every constraint below, and outside it. */
const inside: readonly GeneralName[] = [
  { dns: 'a.example.nl' },
  { email: 'iemand@example.nl' },
  {
    directory: [
      ['country', 'NL'],
      ['organization', 'Binnen'],
      ['commonName', 'x'],
    ],
  },
];
const outside: readonly GeneralName[] = [
  { dns: 'a.example.com' },
  { email: 'iemand@example.com' },
  {
    directory: [
      ['country', 'NL'],
      ['organization', 'Buiten'],
    ],
  },
];
const subtrees: readonly GeneralName[] = [
  { dns: 'example.nl' },
  { email: 'example.nl' },
  {
    directory: [
      ['country', 'NL'],
      ['organization', 'binnen'],
    ],
  },
];
const anyOf = (names: readonly GeneralName[]): fc.Arbitrary<GeneralName[]> => fc.subarray([...names], { maxLength: 2 });

const step = fc.record({
  hash: usually<SignatureHash>('sha256', 'sha1', 'sha384', 'sha512'),
  key: usually('good', 'short'),
  from: usually(-day, day),
  to: usually(2 * day, -1000),
  organization: usually('Binnen', 'Buiten'),
  names: fc.oneof({ arbitrary: fc.constant<GeneralName[]>([]), weight: 6 }, anyOf(inside), anyOf(outside)),
  policies: usually([policy], [], ['2.5.29.32.0'], ['1.2.3.5'], ['1.2.3.5', policy]),
});

const authority = fc.record({
  ca: usually(true, false),
  certificates: usually<'sign' | 'other' | 'absent'>('sign', 'other', 'absent'),
  pathLength: usually<number | undefined>(undefined, 0, 1, 2),
  permitted: fc.oneof({ arbitrary: fc.constant<GeneralName[]>([]), weight: 5 }, anyOf(subtrees)),
  excluded: fc.oneof({ arbitrary: fc.constant<GeneralName[]>([]), weight: 9 }, anyOf(subtrees)),
  selfIssued: usually(false, true),
  explicit: usually<number | undefined>(undefined, 0, 1),
  inhibitAny: usually<number | undefined>(undefined, 0, 1),
  critical: fc.boolean(),
});

export const randomChain = fc.record({
  leaf: step,
  signs: usually(true, false),
  leafIsCa: usually(false, true),
  intermediates: fc.array(fc.record({ step, authority }), { maxLength: 3 }),
  root: fc.record({ step, authority }),
  shuffled: usually(false, true),
  foreignRoot: usually(false, true),
  policyRequired: usually(false, true),
});
export type RandomChain = typeof randomChain extends fc.Arbitrary<infer T> ? T : never;
type Step = RandomChain['leaf'];
type Authority = RandomChain['root']['authority'];

export interface KeyPool {
  readonly good: readonly KeyObject[];
  readonly short: KeyObject;
  readonly stranger: KeyObject;
}

/** Leaf first, root last, issued as described. */
export function mintChain(chain: RandomChain, pool: KeyPool): X509Certificate[] {
  const above = [...chain.intermediates, chain.root];
  const keys = [chain.leaf, ...above.map((entry) => entry.step)].map(({ key }, i) => keyOf(key, i, pool));
  const names: Name[] = [nameOf(chain.leaf, 'blad')];
  for (const [i, entry] of above.entries()) names.push(nameOf(entry.step, `uitgever ${i}`));
  // A self-issued authority has the name of the one above it.
  for (let i = above.length - 2; i >= 0; i -= 1) if (above[i]?.authority.selfIssued) names[i + 1] = names[i + 2] ?? [];
  const steps = [
    { step: chain.leaf, extensions: leafExtensions(chain) },
    ...above.map((entry) => ({ step: entry.step, extensions: authorityExtensions(entry.authority) })),
  ];
  return steps.map(({ step: { hash, from, to, names: alternative, policies }, extensions }, i) => {
    const up = Math.min(i + 1, steps.length - 1);
    return mintCertificate({
      subject: names[i] ?? [],
      key: keys[i] ?? pool.short,
      issuer: { name: names[up] ?? [], key: keys[up] ?? pool.short },
      notBefore: new Date(at.getTime() + from),
      notAfter: new Date(at.getTime() + to),
      hash,
      extensions: [
        ...extensions,
        ...(alternative.length > 0 ? [subjectAltName(alternative)] : []),
        ...(policies.length > 0 ? [certificatePolicies(policies)] : []),
      ],
    });
  });
}

function keyOf(kind: string, index: number, pool: KeyPool): KeyObject {
  return kind === 'short' ? pool.short : (pool.good[index] ?? pool.short);
}

function nameOf({ organization }: Step, commonName: string): Name {
  return [
    ['country', 'NL'],
    ['organization', organization],
    ['commonName', commonName],
  ];
}

function leafExtensions({ signs, leafIsCa }: RandomChain): Extension[] {
  return [basicConstraints(leafIsCa), keyUsage(signs ? ['digitalSignature'] : ['keyEncipherment'])];
}

function authorityExtensions(authority: Authority): Extension[] {
  const { permitted, excluded, pathLength, certificates, explicit, inhibitAny, critical } = authority;
  const byte = (value: number): string => String.fromCharCode(value);
  return [
    basicConstraints(authority.ca, authority.ca ? pathLength : undefined),
    ...(certificates === 'absent'
      ? []
      : [keyUsage(certificates === 'sign' ? ['keyCertSign', 'cRLSign'] : ['cRLSign'])]),
    ...(permitted.length + excluded.length > 0 ? [nameConstraints({ permitted, excluded })] : []),
    ...(explicit === undefined ? [] : [{ id: '2.5.29.36', critical, value: sequence(tagged(0, byte(explicit))) }]),
    ...(inhibitAny === undefined ? [] : [{ id: '2.5.29.54', critical, value: integer(`0${inhibitAny}`) }]),
  ];
}
