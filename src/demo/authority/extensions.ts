// The extensions of a certificate to be minted, each as its DER value.
// @see RFC 5280 section 4.2
import { createHash, type KeyObject } from 'node:crypto';
import { type Asn1, bits, boolean, identifier, integer, nothing, octets, sequence, tagged, toDer } from './der.ts';
import { encodeName, type Name } from './name.ts';

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

/** A name of a subject or of a subtree. */
export type GeneralName =
  | { readonly dns: string }
  | { readonly email: string }
  | { readonly uri: string }
  /** An address, with its mask behind it in a constraint. */
  | { readonly ip: Uint8Array }
  | { readonly directory: Name }
  | { readonly registered: string };

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

export function subjectAltName(names: readonly GeneralName[]): Extension {
  return { id: '2.5.29.17', critical: false, value: sequence(...names.map(encodeGeneralName)) };
}

export function nameConstraints(limits: {
  readonly permitted?: readonly GeneralName[];
  readonly excluded?: readonly GeneralName[];
}): Extension {
  const subtrees = (tag: number, names: readonly GeneralName[] = []): Asn1[] =>
    names.length === 0
      ? []
      : [
          tagged(
            tag,
            names.map((name) => sequence(encodeGeneralName(name))),
          ),
        ];
  const value = sequence(...subtrees(0, limits.permitted), ...subtrees(1, limits.excluded));
  return { id: '2.5.29.30', critical: true, value };
}

export function authorityInfoAccess(ocspUrl: string): Extension {
  const access = sequence(identifier('1.3.6.1.5.5.7.48.1'), encodeGeneralName({ uri: ocspUrl }));
  return { id: '1.3.6.1.5.5.7.1.1', critical: false, value: sequence(access) };
}

export function crlDistributionPoint(url: string): Extension {
  const point = sequence(tagged(0, [tagged(0, [encodeGeneralName({ uri: url })])]));
  return { id: '2.5.29.31', critical: false, value: sequence(point) };
}

export function subjectKeyIdentifier(key: KeyObject): Extension {
  return { id: '2.5.29.14', critical: false, value: octets(keyIdentifier(key)) };
}

export function authorityKeyIdentifier(key: KeyObject): Extension {
  const value = sequence(tagged(0, keyIdentifier(key).toString('binary')));
  return { id: '2.5.29.35', critical: false, value };
}

/** id-pkix-ocsp-nocheck: a delegate is not itself asked about (RFC 6960 section 4.2.2.2.1). */
export function ocspNoCheck(): Extension {
  return { id: '1.3.6.1.5.5.7.48.1.5', critical: false, value: nothing() };
}

export function encodeExtension({ id, critical, value }: Extension): Asn1 {
  return sequence(identifier(id), ...(critical ? [boolean(true)] : []), octets(toDer(value)));
}

/**
 * SHA-1 of the bits of the key, which are PKCS#1 for RSA: what other tools assume of an issuer when they mint below it
 * (RFC 5280 section 4.2.1.2, method 1). For the other keys of tests any digest serves.
 */
function keyIdentifier(key: KeyObject): Buffer {
  const type = key.asymmetricKeyType === 'rsa' ? 'pkcs1' : 'spki';
  return createHash('sha1')
    .update(key.export({ type, format: 'der' }))
    .digest();
}

function encodeGeneralName(name: GeneralName): Asn1 {
  if ('email' in name) return tagged(1, name.email);
  if ('dns' in name) return tagged(2, name.dns);
  if ('directory' in name) return tagged(4, [encodeName(name.directory)]);
  if ('uri' in name) return tagged(6, name.uri);
  if ('ip' in name) return tagged(7, Buffer.from(name.ip).toString('binary'));
  const raw = toDer(identifier(name.registered));
  return tagged(8, raw.subarray(2).toString('binary'));
}
