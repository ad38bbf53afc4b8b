import {
  constants,
  createHash,
  createPublicKey,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import forge from 'node-forge';

// Issues certificates with their extensions, valid ones and every kind of invalid one: DER is assembled here and signed by Node, so that
// the code under test did not make what it verifies. @see RFC 5280 sections 4.1 and 4.2

export type SignatureHash = 'sha1' | 'sha256' | 'sha384' | 'sha512';

export interface Issuer {
  readonly name: Name;
  readonly key: KeyObject;
}

export interface CertificateRequest {
  readonly subject: Name;
  /** Private or public. */
  readonly key: KeyObject;
  /** Absent: self-signed with `key`. */
  readonly issuer?: Issuer;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly extensions: readonly Extension[];
  /** Hexadecimal; random unless given. */
  readonly serial?: string;
  /** SHA-256 unless given. */
  readonly hash?: SignatureHash;
  /** Signs with RSASSA-PSS (SHA-256, salt 32). */
  readonly pss?: boolean;
  /** Names different algorithms inside and outside. */
  readonly innerHash?: SignatureHash;
  /** Omits the key identifiers. */
  readonly anonymousKeys?: boolean;
}

const rsa: Readonly<Record<SignatureHash, string>> = {
  sha1: '1.2.840.113549.1.1.5',
  sha256: '1.2.840.113549.1.1.11',
  sha384: '1.2.840.113549.1.1.12',
  sha512: '1.2.840.113549.1.1.13',
};
const ecdsa: Readonly<Record<SignatureHash, string>> = {
  sha1: '1.2.840.10045.4.1',
  sha256: '1.2.840.10045.4.3.2',
  sha384: '1.2.840.10045.4.3.3',
  sha512: '1.2.840.10045.4.3.4',
};
const sha256 = '2.16.840.1.101.3.4.2.1';

export function mintCertificate(request: CertificateRequest): X509Certificate {
  const { key, hash = 'sha256', pss = false } = request;
  const issuer = request.issuer ?? { name: request.subject, key };
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  const identifiers = request.anonymousKeys
    ? []
    : [subjectKeyIdentifier(publicKey), authorityKeyIdentifier(createPublicKey(issuer.key))];
  const extensions = [...identifiers, ...request.extensions];
  const signed = sequence(
    tagged(0, [integer('02')]),
    integer(request.serial ?? randomSerial()),
    algorithm(issuer.key, request.innerHash ?? hash, pss),
    encodeName(issuer.name),
    sequence(time(request.notBefore), time(request.notAfter)),
    encodeName(request.subject),
    fromDer(publicKey.export({ type: 'spki', format: 'der' })),
    ...(extensions.length > 0 ? [tagged(3, [sequence(...extensions.map(encodeExtension))])] : []),
  );
  return new X509Certificate(signStructure(signed, issuer.key, hash, pss));
}

/** The signed structure of certificates and lists: contents, algorithm, signature. */
export function signStructure(contents: Asn1, key: KeyObject, hash: SignatureHash, pss = false): Buffer {
  const padding = pss ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 } : {};
  const signature = sign(hash, toDer(contents), { key, ...padding });
  return toDer(sequence(contents, algorithm(key, hash, pss), bits(signature)));
}

export function algorithm(key: KeyObject, hash: SignatureHash, pss = false): Asn1 {
  if (key.asymmetricKeyType === 'ec') return sequence(identifier(ecdsa[hash]));
  if (!pss) return sequence(identifier(rsa[hash]), nothing());
  const digest = sequence(identifier(sha256), nothing());
  const mask = sequence(identifier('1.2.840.113549.1.1.8'), sequence(identifier(sha256), nothing()));
  const parameters = sequence(tagged(0, [digest]), tagged(1, [mask]), tagged(2, [integer('20')]));
  return sequence(identifier('1.2.840.113549.1.1.10'), parameters);
}

/** Sixteen random bytes, positive and without leading zeros. */
export function randomSerial(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes.toString('hex');
}

export interface Extension {
  readonly id: string;
  readonly critical: boolean;
  readonly value: Asn1;
}

const usageBits = {
  digitalSignature: 0x80,
  nonRepudiation: 0x40,
  keyEncipherment: 0x20,
  keyCertSign: 0x04,
  cRLSign: 0x02,
} as const;
export type Usage = keyof typeof usageBits;

export function basicConstraints(ca: boolean, pathLength?: number): Extension {
  const members = [
    ...(ca ? [boolean(true)] : []),
    ...(pathLength === undefined ? [] : [integer(pathLength.toString(16))]),
  ];
  return { id: '2.5.29.19', critical: true, value: sequence(...members) };
}

export function keyUsage(usages: readonly Usage[]): Extension {
  const byte = usages.reduce((sum, usage) => sum | usageBits[usage], 0);
  const unused = 31 - Math.clz32(byte & -byte);
  const value = byte === 0 ? bits(new Uint8Array()) : bits(Uint8Array.of(byte), unused);
  return { id: '2.5.29.15', critical: true, value };
}

export function extendedKeyUsage(purposes: readonly string[], critical = false): Extension {
  return { id: '2.5.29.37', critical, value: sequence(...purposes.map(identifier)) };
}

export function certificatePolicies(policies: readonly string[]): Extension {
  return {
    id: '2.5.29.32',
    critical: false,
    value: sequence(...policies.map((policy) => sequence(identifier(policy)))),
  };
}

export function authorityInfoAccess(ocspUrl: string): Extension {
  const access = sequence(identifier('1.3.6.1.5.5.7.48.1'), tagged(6, ocspUrl));
  return { id: '1.3.6.1.5.5.7.1.1', critical: false, value: sequence(access) };
}

export function crlDistributionPoint(url: string): Extension {
  const point = sequence(tagged(0, [tagged(0, [tagged(6, url)])]));
  return { id: '2.5.29.31', critical: false, value: sequence(point) };
}

function subjectKeyIdentifier(key: KeyObject): Extension {
  return { id: '2.5.29.14', critical: false, value: octets(keyIdentifier(key)) };
}

export function authorityKeyIdentifier(key: KeyObject): Extension {
  const value = sequence(tagged(0, keyIdentifier(key).toString('binary')));
  return { id: '2.5.29.35', critical: false, value };
}

/** id-pkix-ocsp-nocheck: a delegate's own status is not checked (RFC 6960 section 4.2.2.2.1). */
export function ocspNoCheck(): Extension {
  return { id: '1.3.6.1.5.5.7.48.1.5', critical: false, value: nothing() };
}

export function encodeExtension({ id, critical, value }: Extension): Asn1 {
  return sequence(identifier(id), ...(critical ? [boolean(true)] : []), octets(toDer(value)));
}

/**
 * SHA-1 of the key's bits, which are PKCS#1 for RSA: what other tools assume about an issuer when they issue below it (RFC 5280 section
 * 4.2.1.2, method 1). For the tests' other keys any digest will do.
 */
function keyIdentifier(key: KeyObject): Buffer {
  const type = key.asymmetricKeyType === 'rsa' ? 'pkcs1' : 'spki';
  return createHash('sha1')
    .update(key.export({ type, format: 'der' }))
    .digest();
}

// DER by node-forge's encoder, with short helpers for the certificates below.

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

/** A bit string of whole bytes, except for `unused` bits of the last one. */
export const bits = (bytes: Uint8Array, unused = 0): Asn1 =>
  asn1.create(Class.UNIVERSAL, Type.BITSTRING, false, `${String.fromCharCode(unused)}${binary(bytes)}`);

/** A context-specific tag around elements, or replacing the tag of a primitive one. */
export const tagged = (tag: number, value: Asn1[] | string): Asn1 =>
  asn1.create(Class.CONTEXT_SPECIFIC, tag, typeof value !== 'string', value);

/** A positive integer given as hexadecimal digits. */
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

type Attribute = readonly [keyof typeof types, string];

/** Attributes in the order of the name; an array of several is one relative name. */
export type Name = readonly (Attribute | readonly Attribute[])[];

export function encodeName(name: Name): Asn1 {
  const encode = ([type, text]: Attribute): Asn1 => sequence(identifier(types[type]), encodeValue(type, text));
  return sequence(...name.map((part) => setOf(...(isOne(part) ? [part] : part).map(encode))));
}

function isOne(part: Name[number]): part is Attribute {
  return typeof part[0] === 'string';
}

function encodeValue(type: keyof typeof types, text: string): Asn1 {
  if (type === 'email') return ia5(text);
  return type === 'country' || type === 'serialNumber' ? printable(text) : utf8(text);
}
