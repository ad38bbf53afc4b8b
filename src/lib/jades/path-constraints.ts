// Certificate policies and name constraints over a whole path. The library does not let anyPolicy in an authority match the
// policy of the leaf, so policies are processed here; policy mappings are never followed (initial-policy-mapping-inhibit of RFC 5280).
// @see RFC 5280 section 6.1, steps 6.1.3 (d) to (f), 6.1.4 (h) to (j) and 6.1.5 (g)
import { isIP } from 'node:net';
import { Integer, OctetString } from 'asn1js';
import {
  AltName,
  CertificatePolicies,
  type GeneralName,
  type GeneralSubtree,
  PolicyConstraints,
  PolicyMappings,
  RelativeDistinguishedNames,
} from 'pkijs';
import {
  attributeTexts,
  type Certificate,
  extension,
  isSelfIssued,
  isWithin,
  nameConstraints,
  oid,
  parsedValue,
  relativeNames,
} from './certificate.ts';

const anyPolicy = '2.5.29.32.0';

interface State {
  /** The policies that hold so far; `any` when nothing has limited them. */
  readonly valid: 'any' | ReadonlySet<string>;
  /** How many more certificates until some policy must hold, and until anyPolicy is ignored. */
  readonly explicit: number;
  readonly inhibitAny: number;
}

/**
 * @param path leaf first, anchor last
 * @param required policies, one of which must hold; empty: only what the authorities themselves ask for
 */
export function meetsPolicies(path: readonly Certificate[], required: readonly string[]): boolean {
  const below = path.slice(0, -1).toReversed();
  const never = below.length + 1;
  let state: State = { valid: 'any', explicit: required.length > 0 ? 0 : never, inhibitAny: never };
  for (const [index, certificate] of below.entries()) {
    const isLeaf = index === below.length - 1;
    state = { ...state, valid: narrow(state, certificate, isLeaf) };
    if (state.explicit === 0 && isNone(state.valid)) return false;
    state = isLeaf ? state : prepareNext(state, certificate);
  }
  const { requireExplicit } = constraints(below.at(-1));
  const demanded = state.explicit <= 1 || requireExplicit === 0;
  if (demanded && isNone(state.valid)) return false;
  const { valid } = state;
  return (
    required.length === 0 || required.includes(anyPolicy) || valid === 'any' || required.some((id) => valid.has(id))
  );
}

function isNone(valid: State['valid']): boolean {
  return valid !== 'any' && valid.size === 0;
}

function narrow({ valid, inhibitAny }: State, certificate: Certificate, isLeaf: boolean): State['valid'] {
  const named = policiesOf(certificate);
  const anyCounts = named.has(anyPolicy) && (inhibitAny > 0 || (!isLeaf && isSelfIssued(certificate)));
  if (anyCounts) return valid;
  named.delete(anyPolicy);
  return valid === 'any' ? named : new Set([...valid].filter((id) => named.has(id)));
}

function prepareNext(state: State, certificate: Certificate): State {
  const step = isSelfIssued(certificate) ? 0 : 1;
  const { requireExplicit, inhibitAny } = constraints(certificate);
  const mapped = mappedPolicies(certificate);
  return {
    valid: state.valid === 'any' ? 'any' : new Set([...state.valid].filter((id) => !mapped.has(id))),
    explicit: Math.min(Math.max(state.explicit - step, 0), requireExplicit),
    inhibitAny: Math.min(Math.max(state.inhibitAny - step, 0), inhibitAny),
  };
}

function policiesOf(certificate: Certificate): Set<string> {
  const value = parsedValue(extension(certificate, oid.certificatePolicies));
  if (!(value instanceof CertificatePolicies)) return new Set();
  return new Set(value.certificatePolicies.map(({ policyIdentifier }) => policyIdentifier));
}

function mappedPolicies(certificate: Certificate): Set<string> {
  const value = parsedValue(extension(certificate, oid.policyMappings));
  return value instanceof PolicyMappings
    ? new Set(value.mappings.map((mapping) => mapping.issuerDomainPolicy))
    : new Set();
}

function constraints(certificate: Certificate | undefined): { requireExplicit: number; inhibitAny: number } {
  const none = Number.POSITIVE_INFINITY;
  if (certificate === undefined) return { requireExplicit: none, inhibitAny: none };
  const policy = parsedValue(extension(certificate, oid.policyConstraints));
  const inhibit = parsedValue(extension(certificate, oid.inhibitAnyPolicy));
  return {
    requireExplicit: policy instanceof PolicyConstraints ? (policy.requireExplicitPolicy ?? none) : none,
    inhibitAny: inhibit instanceof Integer ? Number(inhibit.toBigInt()) : none,
  };
}

// Name constraints: the library unites the permitted subtrees of several authorities, where each must be met, and reads names
// in subjects loosely.
// @see RFC 5280 section 4.2.1.10

/** Types of general names that can be compared; a constraint on any other makes a name of that type unacceptable. */
const type = { email: 1, dns: 2, directory: 4, uri: 6, ip: 7 } as const;
const emailAttribute = '1.2.840.113549.1.9.1';

interface Name {
  readonly type: number;
  readonly value: unknown;
}

/**
 * Checks every certificate under each authority of the path against that authority's constraints.
 * @param path leaf first, anchor last
 * @returns false when a name lies outside what is permitted, inside what is excluded, or cannot be compared
 */
export function meetsNameConstraints(path: readonly Certificate[]): boolean {
  return path.every((issuer, depth) => {
    const constraints = nameConstraints(issuer);
    if (constraints === undefined) return extension(issuer, oid.nameConstraints) === undefined;
    const permitted = constraints.permittedSubtrees ?? [];
    const excluded = constraints.excludedSubtrees ?? [];
    if (![...permitted, ...excluded].every(hasNoDistance)) return false;
    return path
      .slice(0, depth)
      .filter((subject, index) => index === 0 || !isSelfIssued(subject))
      .flatMap(namesOf)
      .every((name) => isAcceptable(name, permitted, excluded));
  });
}

/** The profile knows no distances: minimum is 0 and maximum absent. */
function hasNoDistance(subtree: GeneralSubtree): boolean {
  return Number(subtree.minimum) === 0 && subtree.maximum === undefined;
}

function isAcceptable(name: Name, permitted: readonly GeneralSubtree[], excluded: readonly GeneralSubtree[]): boolean {
  const ofType = (subtree: GeneralSubtree) => subtree.base.type === name.type;
  if (excluded.filter(ofType).some((subtree) => matches(name, subtree.base) !== false)) return false;
  const allowed = permitted.filter(ofType);
  return allowed.length === 0 || allowed.some((subtree) => matches(name, subtree.base) === true);
}

/** Every name of a certificate that a constraint can be about. */
function namesOf(certificate: Certificate): Name[] {
  const { subject } = certificate.pki;
  const alternative = parsedValue(extension(certificate, oid.subjectAltName));
  const names: Name[] = alternative instanceof AltName ? [...alternative.altNames] : [];
  if (subject.typesAndValues.length > 0) names.push({ type: type.directory, value: subject });
  if (!names.some((name) => name.type === type.email)) {
    for (const value of attributeTexts(subject, emailAttribute)) names.push({ type: type.email, value });
  }
  return names;
}

/** True or false; undefined when the two cannot be compared. */
function matches(name: Name, base: GeneralName): boolean | undefined {
  const constraint: unknown = base.value;
  if (name.type === type.directory) {
    if (!(name.value instanceof RelativeDistinguishedNames && constraint instanceof RelativeDistinguishedNames)) return;
    return isWithin(relativeNames(name.value), relativeNames(constraint));
  }
  if (name.type === type.ip) return matchesIp(name.value, constraint);
  if (typeof name.value !== 'string' || typeof constraint !== 'string') return undefined;
  if (name.type === type.dns) return isWithinDomain(name.value, constraint);
  if (name.type === type.email) return matchesEmail(name.value, constraint);
  if (name.type === type.uri) return matchesUri(name.value, constraint);
  return undefined;
}

function isWithinDomain(host: string, constraint: string): boolean {
  const name = host.toLowerCase();
  const base = constraint.toLowerCase();
  return base === '' || name === base || name.endsWith(base.startsWith('.') ? base : `.${base}`);
}

/** A constraint without a leading dot is one host; with it, every host below. */
function isHostOrBelow(host: string, constraint: string): boolean {
  const base = constraint.toLowerCase();
  return base.startsWith('.') ? host.toLowerCase().endsWith(base) : host.toLowerCase() === base;
}

function matchesEmail(address: string, constraint: string): boolean | undefined {
  const at = address.lastIndexOf('@');
  if (at < 1) return undefined;
  const host = address.slice(at + 1);
  const split = constraint.lastIndexOf('@');
  if (split < 0) return isHostOrBelow(host, constraint);
  const sameHost = host.toLowerCase() === constraint.slice(split + 1).toLowerCase();
  return sameHost && address.slice(0, at) === constraint.slice(0, split);
}

function matchesUri(address: string, constraint: string): boolean | undefined {
  const host = /^[a-z][a-z0-9+.-]*:\/\/(?:[^@/?#]*@)?([^:/?#[\]]+)(?::\d*)?(?:[/?#]|$)/i.exec(address)?.[1];
  return host === undefined || isIP(host) !== 0 ? undefined : isHostOrBelow(host, constraint);
}

function matchesIp(address: unknown, constraint: unknown): boolean | undefined {
  if (!(address instanceof OctetString && constraint instanceof OctetString)) return undefined;
  const bytes = address.valueBlock.valueHexView;
  const range = constraint.valueBlock.valueHexView;
  if (bytes.length !== 4 && bytes.length !== 16) return undefined;
  if (range.length !== bytes.length * 2) return range.length === 8 || range.length === 32 ? false : undefined;
  return bytes.every((byte, i) => {
    const mask = range[bytes.length + i] ?? 0;
    return (byte & mask) === ((range[i] ?? 0) & mask);
  });
}
