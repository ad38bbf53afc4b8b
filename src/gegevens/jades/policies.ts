// Certificate policies over a path. The library does not let anyPolicy in an authority stand for the policy of the leaf,
// so the processing is done here; policy mappings are never followed (initial-policy-mapping-inhibit of RFC 5280).
// @see RFC 5280 section 6.1, steps 6.1.3 (d) to (f), 6.1.4 (h) to (j) and 6.1.5 (g)
import { Integer } from 'asn1js';
import { CertificatePolicies, PolicyConstraints, PolicyMappings } from 'pkijs';
import { type Certificate, isSelfIssued } from './certificate.ts';
import { extension, oid, parsedValue } from './certificate-extensions.ts';

const anyPolicy = '2.5.29.32.0';

interface State {
  /** The policies that hold so far; `any` when nothing has limited them. */
  readonly valid: 'any' | ReadonlySet<string>;
  /** How many more certificates until some policy must hold, and until anyPolicy counts for nothing. */
  readonly explicit: number;
  readonly inhibitAny: number;
}

/**
 * @param path leaf first, anchor last
 * @param required policies of which one must hold; empty: only what the authorities themselves ask for
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
