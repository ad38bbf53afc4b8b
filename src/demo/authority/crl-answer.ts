// The revocation list of one issuer.
// @see RFC 5280 section 5.1
import { createPublicKey } from 'node:crypto';
import type { CrlBehaviour } from './behaviour.ts';
import {
  algorithm,
  authorityKeyIdentifier,
  type Extension,
  encodeExtension,
  type Issuer,
  signStructure,
} from './certificates.ts';
import type { Dates } from './dates.ts';
import {
  type Asn1,
  bits,
  encodeName,
  identifier,
  integer,
  nothing,
  octets,
  sequence,
  tagged,
  time,
  utf8,
} from './der.ts';

interface ListInput {
  readonly issuer: Issuer;
  /** Hexadecimal. */
  readonly serials: readonly string[];
  readonly dates: Dates;
  readonly behaviour: CrlBehaviour;
}

export function revocationList({ issuer, serials, dates, behaviour }: ListInput): Buffer {
  const hash = behaviour === 'weak-signature' ? 'sha1' : 'sha256';
  const entries = serials.map((serial) => sequence(integer(serial), time(dates.thisUpdate)));
  if (behaviour === 'unknown-entry') {
    entries.unshift(sequence(integer('0123'), time(dates.thisUpdate), sequence(encodeExtension(nobodyKnows))));
  }
  const extensions = [
    authorityKeyIdentifier(createPublicKey(issuer.key)),
    {
      id: '2.5.29.20',
      critical: false,
      value:
        behaviour === 'unreadable-number' ? octets(Buffer.from('1')) : integer(dates.thisUpdate.getTime().toString(16)),
    },
    ...scope(behaviour),
  ];
  const contents = sequence(
    integer('01'),
    algorithm(issuer.key, behaviour === 'two-algorithms' ? 'sha384' : hash),
    encodeName(issuer.name),
    time(dates.thisUpdate),
    ...(dates.nextUpdate === undefined ? [] : [time(dates.nextUpdate)]),
    ...(entries.length > 0 ? [sequence(...entries)] : []),
    tagged(0, [sequence(...extensions.map(encodeExtension))]),
  );
  return signStructure(contents, issuer.key, hash);
}

const nobodyKnows: Extension = { id: '1.2.3.4.5', critical: true, value: bits(new Uint8Array()) };

function scope(behaviour: CrlBehaviour): Extension[] {
  const point = (value: Asn1): Extension => ({ id: '2.5.29.28', critical: true, value: sequence(value) });
  if (behaviour === 'delta') return [{ id: '2.5.29.27', critical: true, value: integer('01') }];
  if (behaviour === 'partial') return [point(tagged(3, Buffer.from([0x01, 0x40]).toString('binary')))];
  if (behaviour === 'authorities-only') return [point(tagged(2, '\xff'))];
  if (behaviour === 'elsewhere') return [point(tagged(0, [tagged(0, [tagged(6, 'http://elders.example/lijst.crl')])]))];
  if (behaviour === 'unknown-extension') return [nobodyKnows];
  if (behaviour === 'relative-name') {
    return [point(tagged(0, [tagged(1, [sequence(identifier('2.5.4.3'), utf8('lijst'))])]))];
  }
  if (behaviour === 'unreadable-scope') return [{ ...point(nothing()), value: octets(Buffer.from('lijst')) }];
  if (behaviour === 'scope-twice') return [point(tagged(2, '\x00')), point(tagged(1, '\x00'))];
  return [];
}
