// A certificate revocation list and the judgement of it. The library reads everything but the entries, and checks the
// signature over all of it; the entries, which may be a hundred thousand, are walked in place.
// @see RFC 5280 sections 5 and 6.3
import { setImmediate } from 'node:timers/promises';
import { CertificateRevocationList } from 'pkijs';
import { isStrongSignature } from './algorithms.ts';
import type { Certificate } from './certificate.ts';
import { authority, crlAddresses, keyUsage, usage } from './certificate-extensions.ts';
import { checkEntry, type ListScope, readListExtensions } from './crl-extensions.ts';
import { children, type Element, encodeElement, readElement } from './der.ts';
import { refreshTime, validUntil } from './revocation-status.ts';

/** A list whose signature, dates and form have been checked. */
export interface RevocationList {
  readonly der: Uint8Array;
  readonly entries: Element | undefined;
  readonly validUntil: Date;
  readonly refreshAt: Date;
  readonly scope: ListScope | undefined;
}

const sequence = 0x30;
const extensionsTag = 0xa0;
const entriesPerTurn = 5_000;

/**
 * Reads a list and checks that this issuer signed it, that it is valid now, and that all of it is understood.
 * @throws Error when it is not usable
 */
export async function readCrl(der: Uint8Array, issuer: Certificate, now: Date): Promise<RevocationList> {
  const { tbs, entries, extensions, withoutEntries } = split(der);
  const crl = CertificateRevocationList.fromBER(withoutEntries);
  const bits = keyUsage(issuer);
  if (bits !== undefined && (bits & usage.cRLSign) === 0) throw new Error('the issuer may not sign lists');
  if (!isStrongSignature(crl.signatureAlgorithm)) throw new Error('the list is signed with a weak algorithm');
  crl.tbs = Uint8Array.from(tbs).buffer;
  if (!(await crl.verify({ issuerCertificate: issuer.pki }))) throw new Error('the list is not signed by the issuer');
  const scope = readListExtensions(der, extensions);
  await inTurns(der, entries, (entry) => {
    checkEntry(der, entry);
    return false;
  });
  const until = validUntil(crl.thisUpdate.value, crl.nextUpdate?.value, now);
  return { der, entries, scope, validUntil: until, refreshAt: refreshTime(now, until) };
}

/** Whether the list holds the certificate. @throws Error when the list is not about such certificates */
export async function isListed(list: RevocationList, certificate: Certificate): Promise<boolean> {
  checkScope(list.scope, certificate);
  const serial = Buffer.from(certificate.pki.serialNumber.valueBlock.valueHexView);
  return await inTurns(list.der, list.entries, (entry) => {
    const number = readElement(list.der, entry.from, entry.end);
    return serial.equals(list.der.subarray(number.from, number.end));
  });
}

/** Walks the entries until one is found, and gives others a turn now and then. */
async function inTurns(
  der: Uint8Array,
  entries: Element | undefined,
  isFound: (entry: Element) => boolean,
): Promise<boolean> {
  if (entries === undefined) return false;
  let count = 0;
  for (const entry of children(der, entries)) {
    if (isFound(entry)) return true;
    count += 1;
    if (count % entriesPerTurn === 0) await setImmediate();
  }
  return false;
}

interface Parts {
  /** The signed part. */
  readonly tbs: Uint8Array;
  readonly entries: Element | undefined;
  readonly extensions: Element | undefined;
  /** A copy of the whole without entries, for the library to read. */
  readonly withoutEntries: Uint8Array;
}

/** @throws Error when it is no list, or names two algorithms */
function split(der: Uint8Array): Parts {
  const outer = readElement(der, 0, der.length);
  const [signed, algorithm, signature, ...more] = children(der, outer);
  if (signed === undefined || algorithm === undefined || signature === undefined || more.length > 0) {
    throw new Error('the list cannot be read');
  }
  if (outer.end !== der.length) throw new Error('the list has bytes behind it');
  // version?, signature, issuer, thisUpdate, nextUpdate?, revokedCertificates?, [0] extensions?
  const parts = [...children(der, signed)];
  const from = parts[0]?.tag === 0x02 ? 1 : 0;
  const inner = parts[from];
  if (inner === undefined || !Buffer.from(bytesOf(der, inner)).equals(bytesOf(der, algorithm))) {
    throw new Error('the list names two different algorithms');
  }
  const entries = parts.slice(from + 2).find((part) => part.tag === sequence);
  const extensions = parts.slice(from + 2).find((part) => part.tag === extensionsTag);
  const kept = parts.filter((part) => part !== entries).map((part) => bytesOf(der, part));
  const withoutEntries = encodeElement(
    sequence,
    Buffer.concat([encodeElement(sequence, Buffer.concat(kept)), bytesOf(der, algorithm), bytesOf(der, signature)]),
  );
  return { tbs: bytesOf(der, signed), entries, extensions, withoutEntries: Uint8Array.from(withoutEntries) };
}

function bytesOf(der: Uint8Array, { start, end }: Element): Uint8Array {
  return der.subarray(start, end);
}

function checkScope(scope: ListScope | undefined, certificate: Certificate): void {
  if (scope === undefined) return;
  if (authority(certificate).ca ? scope.onlyUsers : scope.onlyAuthorities) throw new Error('the list is about others');
  const { addresses } = scope;
  if (addresses !== undefined && !crlAddresses(certificate).some((address) => addresses.includes(address))) {
    throw new Error('the list belongs to another distribution point');
  }
}
