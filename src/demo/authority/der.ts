import forge from 'node-forge';

// DER by node-forge's encoder, in as few words as the certificates below need.

const { asn1 } = forge;
const { Class, Type } = asn1;

export type Asn1 = forge.asn1.Asn1;

export const sequence = (...value: Asn1[]): Asn1 => asn1.create(Class.UNIVERSAL, Type.SEQUENCE, true, value);
const setOf = (...value: Asn1[]): Asn1 => asn1.create(Class.UNIVERSAL, Type.SET, true, value);
export const boolean = (value: boolean): Asn1 =>
  asn1.create(Class.UNIVERSAL, Type.BOOLEAN, false, value ? '\xff' : '\x00');
export const nothing = (): Asn1 => asn1.create(Class.UNIVERSAL, Type.NULL, false, '');
export const identifier = (oid: string): Asn1 =>
  asn1.create(Class.UNIVERSAL, Type.OID, false, asn1.oidToDer(oid).getBytes());
export const octets = (bytes: Uint8Array): Asn1 => asn1.create(Class.UNIVERSAL, Type.OCTETSTRING, false, binary(bytes));
export const utf8 = (text: string): Asn1 => asn1.create(Class.UNIVERSAL, Type.UTF8, false, binary(Buffer.from(text)));
const printable = (text: string): Asn1 => asn1.create(Class.UNIVERSAL, Type.PRINTABLESTRING, false, text);
const ia5 = (text: string): Asn1 => asn1.create(Class.UNIVERSAL, Type.IA5STRING, false, text);

/** A bit string of whole bytes unless `unused` bits of the last one do not count. */
export const bits = (bytes: Uint8Array, unused = 0): Asn1 =>
  asn1.create(Class.UNIVERSAL, Type.BITSTRING, false, `${String.fromCharCode(unused)}${binary(bytes)}`);

/** A context-specific tag around elements, or instead of the tag of a primitive one. */
export const tagged = (tag: number, value: Asn1[] | string): Asn1 =>
  asn1.create(Class.CONTEXT_SPECIFIC, tag, typeof value !== 'string', value);

/** A positive integer of hexadecimal digits. */
export function integer(hex: string): Asn1 {
  const even = hex.length % 2 === 0 ? hex : `0${hex}`;
  const signed = /^[89a-f]/i.test(even) ? `00${even}` : even;
  return asn1.create(Class.UNIVERSAL, Type.INTEGER, false, binary(Buffer.from(signed, 'hex')));
}

/** UTCTime until 2049, GeneralizedTime after it (RFC 5280 section 4.1.2.5). */
export function time(at: Date): Asn1 {
  return at.getUTCFullYear() < 2050
    ? asn1.create(Class.UNIVERSAL, Type.UTCTIME, false, asn1.dateToUtcTime(at))
    : asn1.create(Class.UNIVERSAL, Type.GENERALIZEDTIME, false, asn1.dateToGeneralizedTime(at));
}

export const fromDer = (bytes: Uint8Array): Asn1 => asn1.fromDer(binary(bytes));
export const toDer = (value: Asn1): Buffer => Buffer.from(asn1.toDer(value).getBytes(), 'binary');

function binary(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('binary');
}

export const generalizedTime = (at: Date): Asn1 =>
  asn1.create(Class.UNIVERSAL, Type.GENERALIZEDTIME, false, asn1.dateToGeneralizedTime(at));
export const enumerated = (value: number): Asn1 =>
  asn1.create(Class.UNIVERSAL, Type.ENUMERATED, false, String.fromCharCode(value));

/** The elements inside a constructed one; none for a primitive. */
export function inside(value: Asn1 | undefined): Asn1[] {
  return value !== undefined && Array.isArray(value.value) ? value.value : [];
}

/** The contents of a primitive element. */
export function contents(value: Asn1 | undefined): Buffer {
  return value !== undefined && typeof value.value === 'string' ? Buffer.from(value.value, 'binary') : Buffer.alloc(0);
}

const types = {
  commonName: '2.5.4.3',
  serialNumber: '2.5.4.5',
  country: '2.5.4.6',
  organization: '2.5.4.10',
  organizationalUnit: '2.5.4.11',
  email: '1.2.840.113549.1.9.1',
} as const;

/** Attributes in the order of the name. */
export type Name = readonly (readonly [keyof typeof types, string])[];

export function encodeName(name: Name): Asn1 {
  return sequence(...name.map(([type, text]) => setOf(sequence(identifier(types[type]), encodeValue(type, text)))));
}

function encodeValue(type: keyof typeof types, text: string): Asn1 {
  if (type === 'email') return ia5(text);
  return type === 'country' || type === 'serialNumber' ? printable(text) : utf8(text);
}
