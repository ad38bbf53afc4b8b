// A PKCS#12 file: the key and the certificates in it. Node reads none, so forge does.
// @see RFC 7292
import { createPrivateKey, type KeyObject } from 'node:crypto';
import forge from 'node-forge';
import { type Certificate, parseCertificate } from './certificate.ts';
import { OwnKeyError } from './own-key-error.ts';

const { asn1, pkcs12, pki } = forge;

/** @throws OwnKeyError unreadable-p12, wrong-passphrase */
export function readPkcs12(file: { readonly p12: Uint8Array; readonly passphrase: string }): {
  readonly key: KeyObject;
  readonly certificates: Certificate[];
} {
  const pfx = open(file.p12, file.passphrase);
  const keys = [...bags(pfx, pki.oids.pkcs8ShroudedKeyBag), ...bags(pfx, pki.oids.keyBag)];
  const [bag] = keys;
  if (bag === undefined || keys.length > 1) {
    throw new OwnKeyError('unreadable-p12', `the PKCS#12 file holds ${keys.length} keys; one is expected`);
  }
  try {
    const info = bag.key ? pki.wrapRsaPrivateKey(pki.privateKeyToAsn1(bag.key)) : bag.asn1;
    return {
      key: createPrivateKey({ key: toDer(info), format: 'der', type: 'pkcs8' }),
      certificates: bags(pfx, pki.oids.certBag).map(({ cert, asn1: raw }) =>
        parseCertificate(toDer(cert ? pki.certificateToAsn1(cert) : raw)),
      ),
    };
  } catch (cause) {
    throw new OwnKeyError('unreadable-p12', 'the PKCS#12 file holds a key or certificate that cannot be read', {
      cause,
    });
  }
}

function open(p12: Uint8Array, passphrase: string): forge.pkcs12.Pkcs12Pfx {
  let structure: forge.asn1.Asn1;
  try {
    structure = asn1.fromDer(forge.util.createBuffer(Buffer.from(p12).toString('binary')));
  } catch (cause) {
    throw new OwnKeyError('unreadable-p12', 'the file is not PKCS#12', { cause });
  }
  try {
    return pkcs12.pkcs12FromAsn1(structure, passphrase);
  } catch (cause) {
    const wrong = cause instanceof Error && /invalid password|MAC could not be verified/i.test(cause.message);
    if (wrong) throw new OwnKeyError('wrong-passphrase', 'the passphrase does not open the PKCS#12 file', { cause });
    throw new OwnKeyError('unreadable-p12', 'the PKCS#12 file cannot be read', { cause });
  }
}

function bags(pfx: forge.pkcs12.Pkcs12Pfx, bagType: string | undefined): forge.pkcs12.Bag[] {
  return bagType === undefined ? [] : (pfx.getBags({ bagType })[bagType] ?? []);
}

function toDer(structure: forge.asn1.Asn1): Buffer {
  return Buffer.from(asn1.toDer(structure).getBytes(), 'binary');
}
