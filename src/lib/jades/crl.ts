// Certificate revocation lists (RFC 5280 sections 5 and 6.3). The library reads everything but the entries and checks the signature over all of it; the
// entries, of which there may be a hundred thousand, are walked in place.
import { setImmediate } from 'node:timers/promises';
import { CertificateRevocationList, IssuingDistributionPoint } from 'pkijs';
import {
  authority,
  type Certificate,
  crlAddresses,
  extensionFault,
  keyUsage,
  OID,
  parsedValue,
  USAGE,
  uriOf,
} from './certificate.ts';
import { isStrongSignature } from './chain.ts';

const TAG = { boolean: 0x01, integer: 0x02, sequence: 0x30 } as const;
const ENTRIES_PER_TICK = 5_000;
const KNOWN_EXTENSIONS: ReadonlySet<string> = new Set([
  OID.crlNumber,
  OID.issuingDistributionPoint,
  OID.authorityKeyIdentifier,
]);

/** A list whose signature and form have been checked. */
export type RevocationList = Awaited<ReturnType<typeof readCrl>>;

/** @returns a complete list signed by this issuer, without unknown critical extensions; the caller checks its dates @throws Error for any other list */
export async function readCrl(der: Uint8Array, issuer: Certificate) {
  const { tbs, entries, withoutEntries } = split(der);
  const crl = CertificateRevocationList.fromBER(withoutEntries);
  const bits = keyUsage(issuer);
  if (bits !== undefined && (bits & USAGE.cRLSign) === 0) throw new Error('the issuer may not sign lists');
  if (!isStrongSignature(crl.signatureAlgorithm)) throw new Error('the list is signed with a weak algorithm');
  crl.tbs = Uint8Array.from(tbs).buffer;
  if (!(await crl.verify({ issuerCertificate: issuer.pki }))) throw new Error('the list is not signed by the issuer');
  const scope = scopeOf(crl);
  await findEntry(der, entries, (entry) => {
    if (isCritical(der, entry)) throw new Error('the list has an entry that is not understood');
    return false;
  });
  return { der, entries, scope, thisUpdate: crl.thisUpdate.value, nextUpdate: crl.nextUpdate?.value };
}

/** Whether the list contains the certificate. @throws Error when the list does not cover such certificates */
export async function isListed(list: RevocationList, certificate: Certificate): Promise<boolean> {
  checkScope(list.scope, certificate);
  const serial = Buffer.from(certificate.pki.serialNumber.valueBlock.valueHexView);
  return await findEntry(list.der, list.entries, (entry) => {
    const number = readElement(list.der, entry.from, entry.end);
    return serial.equals(list.der.subarray(number.from, number.end));
  });
}

async function findEntry(
  der: Uint8Array,
  entries: Element | undefined,
  isFound: (entry: Element) => boolean,
): Promise<boolean> {
  if (entries === undefined) return false;
  let count = 0;
  for (const entry of children(der, entries)) {
    if (isFound(entry)) return true;
    count += 1;
    if (count % ENTRIES_PER_TICK === 0) await setImmediate();
  }
  return false;
}

/** An entry is a number, a date, extensions?; a critical extension may change the meaning of the entries after it (section 5.3). */
function isCritical(der: Uint8Array, entry: Element): boolean {
  const [, , extensions] = children(der, entry);
  if (extensions === undefined) return false;
  return [...children(der, extensions)].some((extension) => {
    const [, flag] = children(der, extension);
    return flag?.tag === TAG.boolean && der[flag.from] !== 0;
  });
}

/** The signed bytes, the entries, and a copy of the whole without them for the library. @throws Error when it is not a list, or names two algorithms */
function split(der: Uint8Array) {
  const bytesOf = ({ start, end }: Element): Uint8Array => der.subarray(start, end);
  const outer = readElement(der, 0, der.length);
  const [signed, algorithm, signature, ...more] = children(der, outer);
  if (signed === undefined || algorithm === undefined || signature === undefined || more.length > 0) {
    throw new Error('the list cannot be read');
  }
  if (outer.end !== der.length) throw new Error('the list is followed by other bytes');
  // version?, signature, issuer, thisUpdate, nextUpdate?, revokedCertificates?, [0] extensions?
  const parts = [...children(der, signed)];
  const from = parts[0]?.tag === TAG.integer ? 1 : 0;
  const inner = parts[from];
  if (inner === undefined || !Buffer.from(bytesOf(inner)).equals(bytesOf(algorithm))) {
    throw new Error('the list names two different algorithms');
  }
  const entries = parts.slice(from + 2).find((part) => part.tag === TAG.sequence);
  const others = parts.filter((part) => part !== entries).map(bytesOf);
  const withoutEntries = encodeSequence(encodeSequence(...others), bytesOf(algorithm), bytesOf(signature));
  return { tbs: bytesOf(signed), entries, withoutEntries: Uint8Array.from(withoutEntries) };
}

/** Partial (a delta has a critical extension) and indirect lists are not used, nor those with a relative name, which is not resolved. @throws Error */
function scopeOf({ crlExtensions }: CertificateRevocationList): IssuingDistributionPoint | undefined {
  const { extensions = [] } = crlExtensions ?? {};
  if (extensionFault(extensions, KNOWN_EXTENSIONS) !== undefined)
    throw new Error('an extension of the list is not understood');
  const scope = parsedValue(extensions.find(({ extnID }) => extnID === OID.issuingDistributionPoint));
  if (!(scope instanceof IssuingDistributionPoint)) return undefined;
  const { distributionPoint = [], onlySomeReasons, indirectCRL, onlyContainsAttributeCerts } = scope;
  const isPartial = onlySomeReasons !== undefined || indirectCRL || onlyContainsAttributeCerts;
  if (isPartial || !Array.isArray(distributionPoint)) throw new Error('the list is partial or indirect');
  return scope;
}

function checkScope(scope: IssuingDistributionPoint | undefined, certificate: Certificate): void {
  if (scope === undefined) return;
  const { distributionPoint, onlyContainsUserCerts, onlyContainsCACerts } = scope;
  if (authority(certificate).ca ? onlyContainsUserCerts : onlyContainsCACerts)
    throw new Error('the list covers other certificates');
  if (!Array.isArray(distributionPoint)) return;
  const addresses = distributionPoint.map(uriOf);
  if (!crlAddresses(certificate).some((address) => addresses.includes(address))) {
    throw new Error('the list belongs to another distribution point');
  }
}

// DER, read in place by its headers only. @see ITU-T X.690 section 8.1

interface Element {
  readonly tag: number;
  /** Where the header begins, the contents begin, and the element ends. */
  readonly start: number;
  readonly from: number;
  readonly end: number;
}

function readElement(bytes: Uint8Array, start: number, limit: number): Element {
  const tag = bytes[start];
  const first = bytes[start + 1];
  if (tag === undefined || first === undefined || start + 2 > limit) throw new Error('DER ends too early');
  let from = start + 2;
  let length = first;
  if (first >= 0x80) {
    const size = first & 0x7f;
    if (size === 0 || size > 4 || from + size > limit) throw new Error('DER has a length that cannot be');
    length = 0;
    for (const byte of bytes.subarray(from, from + size)) length = length * 256 + byte;
    from += size;
  }
  const end = from + length;
  if (end > limit) throw new Error('DER ends too early');
  return { tag, start, from, end };
}

function* children(bytes: Uint8Array, parent: Element): Generator<Element> {
  for (let at = parent.from; at < parent.end; ) {
    const element = readElement(bytes, at, parent.end);
    yield element;
    at = element.end;
  }
}

function encodeSequence(...parts: readonly Uint8Array[]): Buffer {
  const contents = Buffer.concat(parts);
  const { length } = contents;
  if (length < 0x80) return Buffer.concat([Buffer.from([TAG.sequence, length]), contents]);
  const text = length.toString(16);
  const digits = Buffer.from(text.length % 2 === 0 ? text : `0${text}`, 'hex');
  return Buffer.concat([Buffer.from([TAG.sequence, 0x80 | digits.length]), digits, contents]);
}
