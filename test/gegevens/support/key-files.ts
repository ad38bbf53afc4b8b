import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import forge from 'node-forge';
import type { Authority } from '../../../src/lib/authority/authority.ts';
import { mintLeaf } from '../../support/authority/profiles.ts';

/** A supplier's key with its certificate, in memory. */
export interface Minted {
  readonly key: KeyObject;
  readonly keyPem: string;
  /** Leaf and intermediate. */
  readonly chainPem: string;
}

/** Generating one takes a tenth of a second of CPU: three, used in turn, prove as much as a new one each time. */
const KEYS = 3;
const keys: KeyObject[] = [];
let taken = 0;

/** A 2048-bit key, different from the previous two. */
export function otherKey(): KeyObject {
  taken += 1;
  const key = keys[taken % KEYS] ?? generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  keys[taken % KEYS] = key;
  return key;
}

/**
 * Another key with a certificate of the authority.
 * @param days until it expires
 */
export function mintKey(authority: Authority, days = 365): Minted {
  const key = otherKey();
  const leaf = mintLeaf({
    key,
    issuer: authority.issuers.intermediate,
    now: new Date(),
    organization: 'Voorbeeld Leverancier',
    oin: authority.supplier.oin,
    ocspUrl: authority.ocspUrl,
    crlUrl: authority.crlUrl,
    notBefore: new Date(Date.now() - 86_400_000),
    notAfter: new Date(Date.now() + days * 86_400_000),
  });
  const keyPem = key.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { key, keyPem, chainPem: `${leaf}${readFileSync(authority.intermediate, 'utf8')}` };
}

export function toPkcs12({ keyPem, chainPem }: Minted, passphrase: string): Buffer {
  const certificates = chainPem.match(/-----BEGIN[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  const asn1 = forge.pkcs12.toPkcs12Asn1(
    forge.pki.privateKeyFromPem(keyPem),
    certificates.map((pem) => forge.pki.certificateFromPem(pem)),
    passphrase,
    { algorithm: 'aes256' },
  );
  return Buffer.from(forge.asn1.toDer(asn1).getBytes(), 'binary');
}

export interface KeyDirectory {
  readonly key: string;
  readonly chain: string;
  readonly p12: string;
  /** Replaces a file in one step, as a secret store does. */
  put(path: string, contents: string | Buffer): void;
}

export function keyDirectory(): KeyDirectory {
  const dir = mkdtempSync(join(tmpdir(), 'sleutel-'));
  return {
    key: join(dir, 'key.pem'),
    chain: join(dir, 'chain.pem'),
    p12: join(dir, 'key.p12'),
    put(path, contents) {
      writeFileSync(`${path}.new`, contents);
      renameSync(`${path}.new`, path);
    },
  };
}
