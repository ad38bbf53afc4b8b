// The own key with its certificate chain, checked before it is used. Messages are for the operator.
import { createHash, createPrivateKey, type KeyObject } from 'node:crypto';
import forge from 'node-forge';
import {
  authority,
  type Certificate,
  keyUsage,
  parseCertificate,
  parsePemCertificates,
  signerOin,
  USAGE,
} from './certificate.ts';
import { keyFault } from './chain.ts';
import { ALGORITHMS, algorithmFor } from './signature.ts';

export type OwnKeyFault =
  | 'unreadable-key'
  | 'unreadable-chain'
  | 'unreadable-p12'
  | 'wrong-passphrase'
  | 'mismatched-pair'
  | 'broken-chain'
  | 'weak-key'
  | 'wrong-usage'
  | 'not-yet-valid'
  | 'expired';

/** The own key cannot be used; `message` says why, for the operator. */
export class OwnKeyError extends Error {
  override readonly name = 'OwnKeyError';
  readonly code: OwnKeyFault;

  constructor(code: OwnKeyFault, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

export interface OwnKey {
  readonly key: KeyObject;
  /** Leaf first, each issued by the next. */
  readonly chain: readonly Certificate[];
  /** base64url of the SHA-256 of the public key. */
  readonly kid: string;
  readonly oin: string | undefined;
  readonly subject: string;
  /** When the first certificate of the chain expires. */
  readonly notAfter: Date;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Reads a PEM key and a PEM chain in any order. @param at the moment at which it is used
 * @throws {OwnKeyError}
 * @example
 * const key = loadPemKey({ key: pemOfKey, chain: pemOfChain }, new Date());
 */
export function loadPemKey(files: { readonly key: string; readonly chain: string }, at: Date): OwnKey {
  const key = readPemKey(files.key);
  let certificates: Certificate[];
  try {
    certificates = parsePemCertificates(files.chain);
  } catch (cause) {
    throw new OwnKeyError('unreadable-chain', 'the signing chain holds a certificate that cannot be read', { cause });
  }
  if (certificates.length === 0) throw new OwnKeyError('unreadable-chain', 'the signing chain holds no certificate');
  return accept(key, certificates, at);
}

function readPemKey(pem: string): KeyObject {
  try {
    return createPrivateKey({ key: pem, format: 'pem' });
  } catch (cause) {
    if (pem.includes('ENCRYPTED')) {
      throw new OwnKeyError('wrong-passphrase', 'the signing key is encrypted and there is no passphrase', { cause });
    }
    throw new OwnKeyError('unreadable-key', 'the signing key is not a private key in PEM', { cause });
  }
}

const { asn1, pkcs12, pki } = forge;

/**
 * Reads a PKCS#12 file (RFC 7292) with one key and its certificates, which Node cannot read but forge can. @param at the moment at which it is used
 * @throws {OwnKeyError}
 * @example
 * const key = loadPkcs12Key({ p12: bytes, passphrase }, new Date());
 */
export function loadPkcs12Key(file: { readonly p12: Uint8Array; readonly passphrase: string }, at: Date): OwnKey {
  let pfx: forge.pkcs12.Pkcs12Pfx;
  try {
    pfx = pkcs12.pkcs12FromAsn1(asn1.fromDer(Buffer.from(file.p12).toString('binary')), file.passphrase);
  } catch (cause) {
    const wrong = cause instanceof Error && /invalid password|MAC could not be verified/i.test(cause.message);
    if (wrong) throw new OwnKeyError('wrong-passphrase', 'the passphrase does not open the PKCS#12 file', { cause });
    throw new OwnKeyError('unreadable-p12', 'the file cannot be read as PKCS#12', { cause });
  }
  const bags = (bagType = ''): forge.pkcs12.Bag[] => pfx.getBags({ bagType })[bagType] ?? [];
  const keys = [...bags(pki.oids.pkcs8ShroudedKeyBag), ...bags(pki.oids.keyBag)];
  const [bag] = keys;
  if (bag === undefined || keys.length > 1) {
    throw new OwnKeyError('unreadable-p12', `the PKCS#12 file holds ${keys.length} keys; one is expected`);
  }
  let key: KeyObject;
  let certificates: Certificate[];
  try {
    const info = bag.key ? pki.wrapRsaPrivateKey(pki.privateKeyToAsn1(bag.key)) : bag.asn1;
    key = createPrivateKey({ key: toDer(info), format: 'der', type: 'pkcs8' });
    certificates = bags(pki.oids.certBag).map(({ cert, asn1: raw }) =>
      parseCertificate(toDer(cert ? pki.certificateToAsn1(cert) : raw)),
    );
  } catch (cause) {
    const message = 'the PKCS#12 file holds a key or certificate that cannot be read';
    throw new OwnKeyError('unreadable-p12', message, { cause });
  }
  return accept(key, certificates, at);
}

function toDer(structure: forge.asn1.Asn1): Buffer {
  return Buffer.from(asn1.toDer(structure).getBytes(), 'binary');
}

/** Whole days until the first certificate of the chain expires; negative afterwards. */
export function daysToExpiry(own: Pick<OwnKey, 'notAfter'>, at: Date): number {
  return Math.floor((own.notAfter.getTime() - at.getTime()) / DAY_MS);
}

function accept(key: KeyObject, certificates: readonly Certificate[], at: Date): OwnKey {
  const leaf = certificates.find(({ x509 }) => x509.checkPrivateKey(key));
  if (leaf === undefined)
    throw new OwnKeyError('mismatched-pair', 'none of the certificates belongs to the signing key');
  const { publicKey } = leaf.x509;
  if (algorithmFor(publicKey) === undefined || keyFault(publicKey) !== undefined) {
    const wanted = [...ALGORITHMS.values()].map(({ key: { en } }) => en).join(' or ');
    throw new OwnKeyError('weak-key', `the signing key is not ${wanted}`);
  }
  const signing = (keyUsage(leaf) ?? 0) & (USAGE.digitalSignature | USAGE.nonRepudiation);
  if (signing === 0 || authority(leaf).ca) {
    throw new OwnKeyError('wrong-usage', 'the signing certificate is not meant for signing messages');
  }
  const chain = order(leaf, certificates);
  for (const { notBefore, notAfter, x509 } of chain) {
    const whose = `the certificate of ${x509.subject.replaceAll('\n', ', ')} in the signing chain`;
    if (at < notBefore) throw new OwnKeyError('not-yet-valid', `${whose} is valid from ${notBefore.toISOString()}`);
    if (at > notAfter) throw new OwnKeyError('expired', `${whose} expired on ${notAfter.toISOString()}`);
  }
  const notAfter = new Date(Math.min(...chain.map((certificate) => certificate.notAfter.getTime())));
  const der = publicKey.export({ type: 'spki', format: 'der' });
  const kid = createHash('sha256').update(der).digest('base64url');
  return { key, chain, kid, oin: signerOin(leaf), subject: leaf.x509.subject, notAfter };
}

/** Leaf first, each followed by its issuer. Receivers refuse any other order, and superfluous certificates. */
function order(leaf: Certificate, certificates: readonly Certificate[]): Certificate[] {
  const left = new Map(certificates.map((certificate) => [certificate.thumbprint, certificate]));
  const chain: Certificate[] = [];
  let next: Certificate | undefined = leaf;
  while (next !== undefined) {
    const { thumbprint, x509 }: Certificate = next;
    chain.push(next);
    left.delete(thumbprint);
    next = [...left.values()].find((other) => x509.checkIssued(other.x509) && x509.verify(other.x509.publicKey));
  }
  const [stray] = left.values();
  if (stray === undefined) return chain;
  throw new OwnKeyError(
    'broken-chain',
    `the signing chain holds a certificate outside the path: ${stray.x509.subject}`,
  );
}
