// The revocation list of one issuer.
// @see RFC 5280 section 5.1
import { createPublicKey } from 'node:crypto';
import {
  algorithm,
  authorityKeyIdentifier,
  type Extension,
  encodeExtension,
  type Issuer,
  type SignatureHash,
  signStructure,
} from './certificates.ts';
import { type Asn1, encodeName, integer, sequence, tagged, time } from './der.ts';

/** `thisUpdate` and `nextUpdate` of an answer. */
export interface Dates {
  readonly thisUpdate: Date;
  readonly nextUpdate: Date | undefined;
}

/** An answer from now, in whole seconds, that holds for so long. */
export function datesFrom(now: Date, lifeSeconds: number): Dates {
  const start = Math.floor(now.getTime() / 1000) * 1000;
  return { thisUpdate: new Date(start), nextUpdate: new Date(start + lifeSeconds * 1000) };
}

export interface RevocationList {
  readonly issuer: Issuer;
  readonly entries: readonly Asn1[];
  readonly dates: Dates;
  /** The value of the list number; from its date unless given. */
  readonly number?: Asn1;
  readonly extensions?: readonly Extension[];
  /** SHA-256 unless given. */
  readonly hash?: SignatureHash;
  /** The hash that the signed part names; that of the signature unless given. */
  readonly namedHash?: SignatureHash;
}

export function encodeRevocationList(list: RevocationList): Buffer {
  const { issuer, entries, dates, hash = 'sha256', namedHash = hash } = list;
  const number = list.number ?? integer(dates.thisUpdate.getTime().toString(16));
  const extensions = [
    authorityKeyIdentifier(createPublicKey(issuer.key)),
    { id: '2.5.29.20', critical: false, value: number },
    ...(list.extensions ?? []),
  ];
  const contents = sequence(
    integer('01'),
    algorithm(issuer.key, namedHash),
    encodeName(issuer.name),
    time(dates.thisUpdate),
    ...(dates.nextUpdate === undefined ? [] : [time(dates.nextUpdate)]),
    ...(entries.length > 0 ? [sequence(...entries)] : []),
    tagged(0, [sequence(...extensions.map(encodeExtension))]),
  );
  return signStructure(contents, issuer.key, hash);
}

/** One revoked certificate, by its hexadecimal serial number. */
export function encodeEntry(serial: string, at: Date, extensions: readonly Extension[] = []): Asn1 {
  const more = extensions.length === 0 ? [] : [sequence(...extensions.map(encodeExtension))];
  return sequence(integer(serial), time(at), ...more);
}
