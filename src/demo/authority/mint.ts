// Mints certificates, good ones and every kind of bad one: DER is assembled here and signed by Node, so that nothing that
// is to be verified was made by what verifies it.
// @see RFC 5280 section 4.1
import { constants, createPublicKey, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto';
import { type Asn1, bits, fromDer, identifier, integer, nothing, sequence, tagged, time, toDer } from './der.ts';
import { authorityKeyIdentifier, type Extension, encodeExtension, subjectKeyIdentifier } from './extensions.ts';
import { encodeName, type Name } from './name.ts';

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
  /** Sign with RSASSA-PSS (SHA-256, salt 32). */
  readonly pss?: boolean;
  /** Name another algorithm inside than outside. */
  readonly innerHash?: SignatureHash;
  /** Leave out the key identifiers. */
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
