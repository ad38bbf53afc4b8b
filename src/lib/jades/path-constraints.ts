// Certificate policies and name constraints over a whole path. pkijs does not let anyPolicy in an authority match the policy of the leaf, unites the
// permitted subtrees of several authorities although each must be met, accepts one name among several, and compares names by the order of a locale,
// without the bounds of their sets. @see RFC 5280 sections 4.2.1.4 and 4.2.1.10
import { Set as Asn1Set, BaseStringBlock } from 'asn1js';
import {
  AltName,
  type AttributeTypeAndValue,
  CertificatePolicies,
  type GeneralSubtree,
  NameConstraints,
  RelativeDistinguishedNames,
} from 'pkijs';
import { attributeTexts, type Certificate, extension, isSelfIssued, OID, parsedValue } from './certificate.ts';

const ANY_POLICY = '2.5.29.32.0';

/** Whether one of these policies holds in every certificate below the anchor, the last; one that maps or constrains policies is refused elsewhere. */
export function meetsPolicies(path: readonly Certificate[], required: readonly string[]): boolean {
  const named = path.slice(0, -1).map(policiesOf);
  return (
    required.length === 0 || required.some((id) => named.every((ids) => ids.includes(id) || ids.includes(ANY_POLICY)))
  );
}

function policiesOf(certificate: Certificate): readonly string[] {
  const value = parsedValue(extension(certificate, OID.certificatePolicies));
  return value instanceof CertificatePolicies ? value.certificatePolicies.map((policy) => policy.policyIdentifier) : [];
}

/** Types of general names that are compared; a constraint on any other makes a name of that type unacceptable. */
const NAME_TYPE = { email: 1, dns: 2, directory: 4 } as const;
const EMAIL_ATTRIBUTE = '1.2.840.113549.1.9.1';

interface Name {
  readonly type: number;
  readonly value: unknown;
}

/** False when a name lies outside what an authority above it permits, inside what it excludes, or cannot be compared. @param path leaf first */
export function meetsNameConstraints(path: readonly Certificate[]): boolean {
  return path.every((issuer, depth) => {
    const entry = extension(issuer, OID.nameConstraints);
    if (entry === undefined) return true;
    const constraints = parsedValue(entry);
    if (!(constraints instanceof NameConstraints)) return false;
    const { permittedSubtrees: permitted = [], excludedSubtrees: excluded = [] } = constraints;
    if (![...permitted, ...excluded].every(hasNoDistance)) return false;
    return path
      .slice(0, depth)
      .filter((subject, index) => index === 0 || !isSelfIssued(subject))
      .flatMap(namesOf)
      .every((name) => isAcceptable(name, permitted, excluded));
  });
}

function hasNoDistance(subtree: GeneralSubtree): boolean {
  return Number(subtree.minimum) === 0 && subtree.maximum === undefined;
}

function isAcceptable(name: Name, permitted: readonly GeneralSubtree[], excluded: readonly GeneralSubtree[]): boolean {
  const ofType = (subtree: GeneralSubtree) => subtree.base.type === name.type;
  if (excluded.filter(ofType).some((subtree) => matches(name, subtree.base.value) !== false)) return false;
  const allowed = permitted.filter(ofType);
  return allowed.length === 0 || allowed.some((subtree) => matches(name, subtree.base.value) === true);
}

function namesOf(certificate: Certificate): Name[] {
  const { subject } = certificate.pki;
  const alternative = parsedValue(extension(certificate, OID.subjectAltName));
  const names: Name[] = alternative instanceof AltName ? [...alternative.altNames] : [];
  if (subject.typesAndValues.length > 0) names.push({ type: NAME_TYPE.directory, value: subject });
  for (const value of attributeTexts(subject, EMAIL_ATTRIBUTE)) names.push({ type: NAME_TYPE.email, value });
  return names;
}

/** True or false; undefined when the two cannot be compared. */
function matches(name: Name, constraint: unknown): boolean | undefined {
  if (name.value instanceof RelativeDistinguishedNames && constraint instanceof RelativeDistinguishedNames) {
    const parts = relativeNames(name.value);
    return relativeNames(constraint).every((part, index) => parts[index] === part);
  }
  if (typeof name.value !== 'string' || typeof constraint !== 'string') return undefined;
  if (name.type === NAME_TYPE.dns) return isWithinDomain(name.value.toLowerCase(), constraint.toLowerCase());
  return name.type === NAME_TYPE.email ? matchesEmail(name.value, constraint) : undefined;
}

/** The relative names of a name, each a set of attributes: equal ones have equal texts (RFC 5280 section 7.1). */
function relativeNames(name: RelativeDistinguishedNames): string[] {
  const attributes = name.typesAndValues.map(attributeText);
  return name.toSchema().valueBlock.value.map((set) => {
    if (!(set instanceof Asn1Set)) throw new TypeError('a relative name is not a set');
    return JSON.stringify(attributes.splice(0, set.valueBlock.value.length).sort());
  });
}

function attributeText(attribute: AttributeTypeAndValue): string {
  const value: unknown = attribute.value;
  if (!(value instanceof BaseStringBlock)) return Buffer.from(attribute.toSchema().toBER()).toString('hex');
  return `${attribute.type}=${value.getValue().normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase()}`;
}

function isWithinDomain(host: string, base: string): boolean {
  return base === '' || host === base || host.endsWith(base.startsWith('.') ? base : `.${base}`);
}

/** A constraint is one mailbox, one host or, with a leading dot, every host below. */
function matchesEmail(address: string, constraint: string): boolean | undefined {
  const at = address.lastIndexOf('@');
  if (at < 1) return undefined;
  const host = address.slice(at + 1).toLowerCase();
  const split = constraint.lastIndexOf('@');
  const base = constraint.slice(split + 1).toLowerCase();
  if (split < 0 && base.startsWith('.')) return host.endsWith(base);
  return host === base && (split < 0 || address.slice(0, at) === constraint.slice(0, split));
}
