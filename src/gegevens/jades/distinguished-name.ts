// Names as sequences of sets of attributes, compared the way RFC 5280 section 7.1 asks.
import { Set as Asn1Set, BaseBlock, BaseStringBlock, fromBER, ObjectIdentifier, Sequence } from 'asn1js';
import { AttributeTypeAndValue, type RelativeDistinguishedNames } from 'pkijs';

/** One relative name, its attributes normalised and sorted: equal names give equal texts. */
export type RelativeName = string;

/** The relative names of a name in order. @throws Error when it is not a name. */
export function relativeNames(name: RelativeDistinguishedNames): RelativeName[] {
  const { result } = fromBER(new Uint8Array(name.toSchema().toBER()));
  if (!(result instanceof Sequence)) throw new Error('a name is not a sequence');
  return result.valueBlock.value.map(relativeName);
}

function relativeName(set: unknown): RelativeName {
  if (!(set instanceof Asn1Set)) throw new Error('a relative name is not a set');
  return set.valueBlock.value.map(attribute).sort().join('\u0000');
}

function attribute(sequence: unknown): string {
  if (!(sequence instanceof Sequence)) throw new Error('an attribute is not a sequence');
  const [type, value] = sequence.valueBlock.value;
  if (!(type instanceof ObjectIdentifier)) throw new Error('an attribute has no type');
  return `${type.getValue()}=${attributeValue(value)}`;
}

function attributeValue(value: unknown): string {
  if (value instanceof BaseStringBlock) {
    return `"${value.getValue().normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase()}"`;
  }
  if (value instanceof BaseBlock) return `#${Buffer.from(value.toBER()).toString('hex')}`;
  throw new Error('an attribute has no value');
}

/** True when `name` begins with all relative names of `base`: it lies in that subtree (RFC 5280 section 4.2.1.10). */
export function isWithin(name: readonly RelativeName[], base: readonly RelativeName[]): boolean {
  return base.length <= name.length && base.every((part, index) => part === name[index]);
}

/** The texts of all attributes of one type. */
export function attributeTexts(name: RelativeDistinguishedNames, type: string): string[] {
  const found: string[] = [];
  for (const entry of name.typesAndValues) {
    const value: unknown = entry instanceof AttributeTypeAndValue && entry.type === type ? entry.value : undefined;
    if (value instanceof BaseStringBlock) found.push(value.getValue());
  }
  return found;
}
