// Who signs OCSP answers: a delegate of each issuer, and for tests those that should not.
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { OcspBehaviour } from './behaviour.ts';
import { extendedKeyUsage, type Issuer, keyUsage, mintCertificate, ocspNoCheck } from './certificates.ts';
import type { Name } from './der.ts';
import type { Responder } from './ocsp.ts';

export interface Signers {
  /** The key of the delegates. */
  readonly key: KeyObject;
  /** An authority that nobody trusts; made when it is first needed. */
  readonly stranger: () => Issuer;
  readonly now: () => Date;
}

const ocspSigning = '1.3.6.1.5.5.7.3.9';
const dayMs = 24 * 3_600_000;

/** The signer of answers about certificates of this issuer. */
export function signerFor(behaviour: OcspBehaviour, issuer: Issuer, signers: Signers): Responder {
  if (behaviour === 'issuer-signed') return { ...issuer, certificate: undefined };
  const name = responderName(issuer.name);
  const appointer = behaviour === 'foreign' ? { name: issuer.name, key: signers.stranger().key } : issuer;
  const certificate = mintDelegate(name, appointer, signers, behaviour);
  return { name, key: behaviour === 'forged' ? signers.stranger().key : signers.key, certificate };
}

function mintDelegate(name: Name, issuer: Issuer, signers: Signers, behaviour: OcspBehaviour): Uint8Array {
  const now = signers.now().getTime();
  const shift = behaviour === 'expired-delegate' ? -90 * dayMs : 0;
  const purpose = behaviour === 'unappointed' ? '1.3.6.1.5.5.7.3.2' : ocspSigning;
  return mintCertificate({
    subject: name,
    key: createPublicKey(signers.key),
    issuer,
    notBefore: new Date(now + shift - dayMs),
    notAfter: new Date(now + shift + 30 * dayMs),
    extensions: [keyUsage(['digitalSignature']), extendedKeyUsage([purpose]), ocspNoCheck()],
  }).raw;
}

function responderName(issuer: Name): Name {
  return issuer.map(([type, text]) => [type, type === 'commonName' ? `${text} OCSP` : text] as const);
}

/** An authority with a key of its own, made at the first call. */
export function lazyStranger(): () => Issuer {
  let made: Issuer | undefined;
  return () => {
    made ??= {
      name: [['commonName', 'Een vreemde']],
      key: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
    };
    return made;
  };
}
