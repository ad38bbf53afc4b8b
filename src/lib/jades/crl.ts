// Certificate revocation lists. The library reads everything but the entries and checks the signature over all of it; the
// entries, of which there may be a hundred thousand, are walked in place.
// @see RFC 5280 sections 5 and 6.3
import { setImmediate } from 'node:timers/promises';
import { CertificateRevocationList } from 'pkijs';
import {
  authority,
  type Certificate,
  children,
  crlAddresses,
  type Element,
  encodeElement,
  keyUsage,
  readElement,
  usage,
} from './certificate.ts';
import { isStrongSignature } from './chain.ts';

/** A list whose signature and form have been checked. */
export interface RevocationList {
  readonly der: Uint8Array;
  readonly entries: Element | undefined;
  readonly thisUpdate: Date;
  readonly nextUpdate: Date | undefined;
  readonly scope: ListScope | undefined;
}

const sequence = 0x30;
const extensionsTag = 0xa0;
const entriesPerTick = 5_000;

/**
 * Reads a list and checks that this issuer signed it, and that all of it is understood. The caller judges its dates.
 * @throws Error when it is not usable
 */
export async function readCrl(der: Uint8Array, issuer: Certificate): Promise<RevocationList> {
  const { tbs, entries, extensions, withoutEntries } = split(der);
  const crl = CertificateRevocationList.fromBER(withoutEntries);
  const bits = keyUsage(issuer);
  if (bits !== undefined && (bits & usage.cRLSign) === 0) throw new Error('the issuer may not sign lists');
  if (!isStrongSignature(crl.signatureAlgorithm)) throw new Error('the list is signed with a weak algorithm');
  crl.tbs = Uint8Array.from(tbs).buffer;
  if (!(await crl.verify({ issuerCertificate: issuer.pki }))) throw new Error('the list is not signed by the issuer');
  const scope = readListExtensions(der, extensions);
  await findEntry(der, entries, (entry) => {
    checkEntry(der, entry);
    return false;
  });
  return { der, entries, scope, thisUpdate: crl.thisUpdate.value, nextUpdate: crl.nextUpdate?.value };
}

/** Whether the list holds the certificate. @throws Error when the list is not about such certificates */
export async function isListed(list: RevocationList, certificate: Certificate): Promise<boolean> {
  checkScope(list.scope, certificate);
  const serial = Buffer.from(certificate.pki.serialNumber.valueBlock.valueHexView);
  return await findEntry(list.der, list.entries, (entry) => {
    const number = readElement(list.der, entry.from, entry.end);
    return serial.equals(list.der.subarray(number.from, number.end));
  });
}

/** Walks the entries until one is found, and yields to the event loop now and then. */
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
    if (count % entriesPerTick === 0) await setImmediate();
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

/** @throws Error when it is not a list, or names two algorithms */
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
  const others = parts.filter((part) => part !== entries).map((part) => bytesOf(der, part));
  const withoutEntries = encodeElement(
    sequence,
    Buffer.concat([encodeElement(sequence, Buffer.concat(others)), bytesOf(der, algorithm), bytesOf(der, signature)]),
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

// Extensions of a list and of its entries. An extension that cannot be read is an error, never taken for absent.
// @see RFC 5280 sections 5.2 and 5.3

/** Which certificates a list is about (RFC 5280 section 5.2.5). */
interface ListScope {
  /** Addresses of its distribution point; absent where it names none. */
  readonly addresses: readonly string[] | undefined;
  readonly onlyUsers: boolean;
  readonly onlyAuthorities: boolean;
}

const tag = { boolean: 0x01, integer: 0x02, octets: 0x04, identifier: 0x06, sequence: 0x30 } as const;

/** Contents of the identifiers, in hexadecimal. */
const listExtension = {
  number: '551d14', // 2.5.29.20
  authorityKeyIdentifier: '551d23', // 2.5.29.35
  issuingDistributionPoint: '551d1c', // 2.5.29.28
} as const;
/** Reason, hold instruction and invalidity date change nothing: a listed certificate is revoked. */
const entryExtensions: ReadonlySet<string> = new Set(['551d15', '551d17', '551d18']);

/**
 * Reads the extensions of a list that limit it; an unknown critical one is an error.
 * @param wrapper the element `[0]` of the list; absent for a list without extensions
 * @throws Error when the list may be incomplete
 */
function readListExtensions(der: Uint8Array, wrapper: Element | undefined): ListScope | undefined {
  if (wrapper === undefined) return undefined;
  let scope: ListScope | undefined;
  const seen = new Set<string>();
  for (const { id, critical, value } of extensionsIn(der, readOnly(der, wrapper, tag.sequence))) {
    if (seen.has(id)) throw new Error('the list has an extension more than once');
    seen.add(id);
    if (id === listExtension.issuingDistributionPoint) scope = readScope(der, readOnly(der, value, tag.sequence));
    else if (id === listExtension.number) readOnly(der, value, tag.integer);
    else if (id === listExtension.authorityKeyIdentifier) readOnly(der, value, tag.sequence);
    else if (critical) throw new Error('the list has a critical extension that is not understood');
  }
  return scope;
}

/**
 * Checks one entry: an unknown critical extension may change the meaning of the entries after it (section 5.3).
 * @throws Error
 */
function checkEntry(der: Uint8Array, entry: Element): void {
  const number = readElement(der, entry.from, entry.end);
  const date = readElement(der, number.end, entry.end);
  if (date.end === entry.end) return;
  for (const { id, critical } of extensionsIn(der, readOnly(der, { from: date.end, end: entry.end }, tag.sequence))) {
    if (critical && !entryExtensions.has(id)) throw new Error('the list has an entry that is not understood');
  }
}

/** The only element between two offsets, of this tag. @throws Error */
function readOnly(der: Uint8Array, range: Pick<Element, 'from' | 'end'>, expected: number): Element {
  const element = readElement(der, range.from, range.end);
  if (element.tag !== expected || element.end !== range.end) throw new Error('an extension of the list cannot be read');
  return element;
}

function* extensionsIn(
  der: Uint8Array,
  list: Element,
): Generator<{ readonly id: string; readonly critical: boolean; readonly value: Element }> {
  for (const extension of children(der, list)) {
    const [identifier, ...rest] = children(der, extension);
    const value = rest.at(-1);
    const flag = rest.length === 2 ? rest[0] : undefined;
    const isWhole = identifier?.tag === tag.identifier && value?.tag === tag.octets && rest.length <= 2;
    if (extension.tag !== tag.sequence || !isWhole || (flag !== undefined && flag.tag !== tag.boolean)) {
      throw new Error('an extension of the list cannot be read');
    }
    const critical = flag !== undefined && der[flag.from] !== 0;
    yield { id: Buffer.from(der.subarray(identifier.from, identifier.end)).toString('hex'), critical, value };
  }
}

/** Members [0] to [5], each at most once and in order. Partial and indirect lists are not used. */
function readScope(der: Uint8Array, point: Element): ListScope {
  let addresses: readonly string[] | undefined;
  const flags = new Map<number, boolean>();
  let last = -1;
  for (const member of children(der, point)) {
    const number = member.tag & 0x1f;
    if ((member.tag & 0xc0) !== 0x80 || number <= last) throw new Error('the scope of the list cannot be read');
    last = number;
    if (member.tag === 0xa0) addresses = readFullName(der, member);
    else if ([0x81, 0x82, 0x84, 0x85].includes(member.tag)) flags.set(number, readFlag(der, member));
    else throw new Error('the list is of some reasons only, or its scope cannot be read');
  }
  if (flags.get(4) === true || flags.get(5) === true) throw new Error('the list is partial or indirect');
  return { addresses, onlyUsers: flags.get(1) === true, onlyAuthorities: flags.get(2) === true };
}

/** Lists with a relative name ([1]) are not used: it is not resolved against the issuer's. */
function readFullName(der: Uint8Array, member: Element): string[] {
  const names = readOnly(der, member, 0xa0);
  const addresses: string[] = [];
  for (const name of children(der, names)) {
    if (name.tag === 0x86) addresses.push(Buffer.from(der.subarray(name.from, name.end)).toString('latin1'));
  }
  return addresses;
}

function readFlag(der: Uint8Array, member: Element): boolean {
  if (member.end - member.from !== 1) throw new Error('the scope of the list cannot be read');
  return der[member.from] !== 0;
}
