// Each case of RFC 5280 section 4.2.1.10 on a path of three, and on one with a second authority that also constrains.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Certificate, parseCertificate } from '../../../src/lib/jades/certificate.ts';
import { meetsNameConstraints } from '../../../src/lib/jades/path-constraints.ts';
import { basicConstraints, keyUsage, mintCertificate, type Name } from '../../support/authority/certificates.ts';
import { type GeneralName, nameConstraints, subjectAltName } from '../../support/authority/name-extensions.ts';

interface Limits {
  readonly permitted?: readonly GeneralName[];
  readonly excluded?: readonly GeneralName[];
}

let key: KeyObject;
beforeAll(() => {
  key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
});

const dates = { notBefore: new Date('2026-01-01'), notAfter: new Date('2027-01-01') };
const nl: Name = [['country', 'NL']];
const together = [
  ['country', 'NL'],
  ['organization', 'Stichting De Brug'],
] as const;
const people: Name = [...nl, ['organization', 'Stichting De Brug']];

/** Signatures do not matter here, so one key serves for all. */
function certificate(subject: Name, issuer: Name, limits?: Limits, names: readonly GeneralName[] = []): Certificate {
  const extensions = [
    ...(limits === undefined ? [] : [basicConstraints(true), nameConstraints(limits)]),
    ...(names.length > 0 ? [subjectAltName(names)] : []),
    keyUsage(['digitalSignature']),
  ];
  return parseCertificate(mintCertificate({ subject, issuer: { name: issuer, key }, key, ...dates, extensions }).raw);
}

function path(subject: Name, names: readonly GeneralName[], ...limits: Limits[]): Certificate[] {
  const authorities = limits.map((limit, i) => certificate([...people, ['commonName', `CA ${i}`]], nl, limit));
  return [certificate(subject, nl, undefined, names), ...authorities];
}

const directory = (name: Name): GeneralName => ({ directory: name });
const ip = (...bytes: number[]): GeneralName => ({ ip: Uint8Array.from(bytes) });
const subnet = ip(10, 1, 0, 0, 255, 255, 0, 0);

describe('name constraints', () => {
  it.each<[string, Limits, readonly GeneralName[], boolean]>([
    ['a host in a permitted domain', { permitted: [{ dns: 'example.nl' }] }, [{ dns: 'a.b.example.nl' }], true],
    ['the permitted domain itself', { permitted: [{ dns: 'example.nl' }] }, [{ dns: 'EXAMPLE.nl' }], true],
    [
      'a host that merely ends in the domain',
      { permitted: [{ dns: 'example.nl' }] },
      [{ dns: 'badexample.nl' }],
      false,
    ],
    [
      'one host in and one out',
      { permitted: [{ dns: 'example.nl' }] },
      [{ dns: 'a.example.nl' }, { dns: 'a.nl' }],
      false,
    ],
    ['a host in one of two domains', { permitted: [{ dns: 'a.nl' }, { dns: 'b.nl' }] }, [{ dns: 'x.b.nl' }], true],
    ['a host in an excluded domain', { excluded: [{ dns: 'example.nl' }] }, [{ dns: 'a.example.nl' }], false],
    [
      'excluded inside permitted',
      { permitted: [{ dns: 'nl' }], excluded: [{ dns: 'a.nl' }] },
      [{ dns: 'x.a.nl' }],
      false,
    ],
    ['no host at all', { permitted: [{ dns: 'example.nl' }] }, [], true],
    ['every domain excluded', { excluded: [{ dns: '' }] }, [{ dns: 'a.nl' }], false],
    ['a mailbox at a permitted host', { permitted: [{ email: 'example.nl' }] }, [{ email: 'a@Example.nl' }], true],
    [
      'a mailbox below a permitted host',
      { permitted: [{ email: 'example.nl' }] },
      [{ email: 'a@b.example.nl' }],
      false,
    ],
    [
      'a mailbox below a permitted domain',
      { permitted: [{ email: '.example.nl' }] },
      [{ email: 'a@b.example.nl' }],
      true,
    ],
    ['a permitted mailbox', { permitted: [{ email: 'a@example.nl' }] }, [{ email: 'a@example.nl' }], true],
    ['another mailbox', { permitted: [{ email: 'a@example.nl' }] }, [{ email: 'b@example.nl' }], false],
    ['a non-mailbox name', { permitted: [{ email: 'example.nl' }] }, [{ email: 'example.nl' }], false],
    ['a non-mailbox name, excluded', { excluded: [{ email: 'other.nl' }] }, [{ email: 'x' }], false],
    ['an address if addresses are limited', { permitted: [{ uri: '.nl' }] }, [{ uri: 'https://a.nl/' }], false],
    ['an address if some are excluded', { excluded: [{ uri: '.com' }] }, [{ uri: 'https://a.nl/' }], false],
    ['a number if numbers are limited', { permitted: [subnet] }, [ip(10, 1, 2, 3)], false],
    ['a number if some are excluded', { excluded: [subnet] }, [ip(10, 2, 2, 3)], false],
    ['no number if some are excluded', { excluded: [subnet] }, [{ dns: 'a.nl' }], true],
    ['a name of an unconstrained type', { permitted: [{ dns: 'example.nl' }] }, [{ uri: 'https://a.com/' }], true],
    ['a name of an incomparable type', { permitted: [{ registered: '1.2.3' }] }, [{ registered: '1.2.3' }], false],
    ['the same, excluded', { excluded: [{ registered: '1.2.3' }] }, [{ registered: '1.2.4' }], false],
    [
      'a name inside a permitted name',
      { permitted: [directory(people)] },
      [directory([...people, ['commonName', 'x']])],
      true,
    ],
    ['a name outside a permitted name', { permitted: [directory(people)] }, [directory(nl)], false],
  ])('%s', (_case, limits, names, expected) => {
    expect(meetsNameConstraints(path(people, names, limits))).toBe(expected);
  });

  it.each<[string, Limits, Name, boolean]>([
    ['in the permitted subtree', { permitted: [directory(nl)] }, people, true],
    ['equal to it', { permitted: [directory(people)] }, people, true],
    [
      'in it, with other case and spaces',
      { permitted: [directory(people)] },
      [...nl, ['organization', ' STICHTING  de brug']],
      true,
    ],
    ['outside of it', { permitted: [directory(people)] }, [...nl, ['organization', 'Een ander']], false],
    ['with the attributes in another order', { permitted: [directory(people)] }, people.toReversed(), false],
    ['with the subtree at its end', { permitted: [directory(people)] }, [['commonName', 'x'], ...people], false],
    ['in an excluded subtree', { excluded: [directory(nl)] }, people, false],
    [
      'in an excluded subtree, with a line break instead of a space',
      { excluded: [directory(people)] },
      [...nl, ['organization', 'Stichting\nDe Brug']],
      false,
    ],
    [
      'in it except for an invisible character',
      { permitted: [directory(people)] },
      [...nl, ['organization', 'Stichting De Br\u00adug']],
      false,
    ],
    ['whose relative name has more attributes', { permitted: [directory(nl)] }, [together], false],
    [
      'in an excluded subtree, with the attributes of a relative name in another order',
      { excluded: [directory([together])] },
      [together.toReversed()],
      false,
    ],
    ['beside an excluded subtree', { excluded: [directory(people)] }, nl, true],
    [
      'with a mailbox outside the permitted host',
      { permitted: [{ email: 'a.nl' }] },
      [...nl, ['email', 'x@b.nl']],
      false,
    ],
    ['with a mailbox at the permitted host', { permitted: [{ email: 'a.nl' }] }, [...nl, ['email', 'x@a.nl']], true],
  ])('a subject %s', (_case, limits, subject, expected) => {
    expect(meetsNameConstraints(path(subject, [], limits))).toBe(expected);
  });

  it('hold for a mailbox in the subject as well as an alternative name', () => {
    const subject: Name = [...nl, ['email', 'x@b.nl']];
    expect(meetsNameConstraints(path(subject, [{ email: 'x@a.nl' }], { permitted: [{ email: 'a.nl' }] }))).toBe(false);
  });

  it("of two authorities must each be met: permissions of one are not added to the other's", () => {
    const [a, b] = [{ permitted: [{ dns: 'a.nl' }] }, { permitted: [{ dns: 'b.nl' }] }];
    expect(meetsNameConstraints(path(people, [{ dns: 'x.a.nl' }], a, b))).toBe(false);
    expect(meetsNameConstraints(path(people, [{ dns: 'x.a.nl' }], a, a))).toBe(true);
  });

  it('hold for the authorities below, but not for a self-issued one', () => {
    const limits = { permitted: [directory([...nl, ['organization', 'Een ander']])] };
    const subject: Name = [...nl, ['organization', 'Een ander'], ['commonName', 'x']];
    const top = certificate(nl, nl, limits);
    const below = certificate(people, nl, {});
    const selfIssued = certificate(people, people, {});
    expect(meetsNameConstraints([certificate(subject, people), below, top])).toBe(false);
    expect(meetsNameConstraints([certificate(subject, people), selfIssued, top])).toBe(true);
    expect(meetsNameConstraints([certificate(people, people), selfIssued, top])).toBe(false);
  });
});
