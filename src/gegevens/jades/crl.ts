// A certificate revocation list and the judgement of it. The library reads everything but the entries, and checks the
// signature over all of it; the entries, which may be a hundred thousand, are walked in place.
// @see RFC 5280 sections 5 and 6.3
import { setImmediate } from 'node:timers/promises';
import { CertificateRevocationList, IssuingDistributionPoint } from 'pkijs';
import { isStrongSignature } from './algorithms.ts';
import type { Certificate } from './certificate.ts';
import { authority, crlAddresses, keyUsage, parsedValue, uriOf, usage } from './certificate-extensions.ts';
import { children, type Element, encodeElement, readElement } from './der.ts';
import { refreshTime, validUntil } from './revocation-status.ts';

/** A list whose signature and dates have been checked. */
export interface RevocationList {
  readonly der: Uint8Array;
  readonly entries: Element | undefined;
  readonly validUntil: Date;
  readonly refreshAt: Date;
  readonly scope: IssuingDistributionPoint | undefined;
}

const sequence = 0x30;
const issuingDistributionPoint = '2.5.29.28';
const understood: ReadonlySet<string> = new Set(['2.5.29.20', '2.5.29.35', issuingDistributionPoint]);
const entriesPerTurn = 5_000;

/**
 * Reads a list and checks that this issuer signed it and that it is valid now.
 * @throws Error when it is not usable
 */
export async function readCrl(received: Uint8Array, issuer: Certificate, now: Date): Promise<RevocationList> {
  const der = Uint8Array.from(received);
  const { tbs, entries, withoutEntries } = split(der);
  const crl = CertificateRevocationList.fromBER(withoutEntries);
  const bits = keyUsage(issuer);
  if (bits !== undefined && (bits & usage.cRLSign) === 0) throw new Error('the issuer may not sign lists');
  if (!isStrongSignature(crl.signatureAlgorithm)) throw new Error('the list is signed with a weak algorithm');
  crl.tbs = Uint8Array.from(tbs).buffer;
  if (!(await crl.verify({ issuerCertificate: issuer.pki }))) throw new Error('the list is not signed by the issuer');
  const scope = readScope(crl);
  const until = validUntil(crl.thisUpdate.value, crl.nextUpdate?.value, now);
  return { der, entries, scope, validUntil: until, refreshAt: refreshTime(now, until) };
}

/** Whether the list holds the certificate. @throws Error when the list is not about such certificates */
export async function isListed(list: RevocationList, certificate: Certificate): Promise<boolean> {
  checkScope(list.scope, certificate);
  if (list.entries === undefined) return false;
  const serial = Buffer.from(certificate.pki.serialNumber.valueBlock.valueHexView);
  let count = 0;
  for (const entry of children(list.der, list.entries)) {
    const number = readElement(list.der, entry.from, entry.end);
    if (serial.equals(list.der.subarray(number.from, number.end))) return true;
    count += 1;
    if (count % entriesPerTurn === 0) await setImmediate();
  }
  return false;
}

/** The signed part, its entries, and a copy of the whole without entries for the library to read. */
function split(der: Uint8Array): { tbs: Uint8Array; entries: Element | undefined; withoutEntries: Uint8Array } {
  const outer = readElement(der, 0, der.length);
  const [signed, algorithm, signature] = children(der, outer);
  if (outer.end !== der.length || signed === undefined || algorithm === undefined || signature === undefined) {
    throw new Error('the list cannot be read');
  }
  // version?, signature, issuer, thisUpdate, nextUpdate?, revokedCertificates?, [0] extensions?
  const parts = [...children(der, signed)];
  const entries = parts.slice(parts[0]?.tag === 0x02 ? 3 : 2).find(({ tag }) => tag === sequence);
  const kept = parts.filter((part) => part !== entries).map(({ start, end }) => der.subarray(start, end));
  const rest = [algorithm, signature].map(({ start, end }) => der.subarray(start, end));
  const withoutEntries = encodeElement(
    sequence,
    Buffer.concat([encodeElement(sequence, Buffer.concat(kept)), ...rest]),
  );
  return { tbs: der.subarray(signed.start, signed.end), entries, withoutEntries: Uint8Array.from(withoutEntries) };
}

/** Critical extensions beyond the scope of the list, delta lists among them, make it unusable. */
function readScope(crl: CertificateRevocationList): IssuingDistributionPoint | undefined {
  const extensions = crl.crlExtensions?.extensions ?? [];
  if (extensions.some((entry) => entry.critical && !understood.has(entry.extnID))) {
    throw new Error('the list has a critical extension that is not understood');
  }
  const entry = extensions.find(({ extnID }) => extnID === issuingDistributionPoint);
  if (entry === undefined) return undefined;
  const scope = parsedValue(entry);
  if (!(scope instanceof IssuingDistributionPoint)) throw new Error('the scope of the list cannot be read');
  return scope;
}

function checkScope(scope: IssuingDistributionPoint | undefined, certificate: Certificate): void {
  if (scope === undefined) return;
  const { ca } = authority(certificate);
  const partial = scope.indirectCRL || scope.onlyContainsAttributeCerts || scope.onlySomeReasons !== undefined;
  if (partial) throw new Error('the list is partial or indirect');
  if (ca ? scope.onlyContainsUserCerts : scope.onlyContainsCACerts) throw new Error('the list is about others');
  if (scope.distributionPoint === undefined) return;
  const names = Array.isArray(scope.distributionPoint) ? scope.distributionPoint.map(uriOf) : [];
  if (!crlAddresses(certificate).some((address) => names.includes(address))) {
    throw new Error('the list belongs to another distribution point');
  }
}
