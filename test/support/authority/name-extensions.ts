// Extensions that name subjects and subtrees, which the demo's certificates do not have. @see RFC 5280 sections 4.2.1.6 and 4.2.1.10
import {
  type Asn1,
  type Extension,
  encodeName,
  identifier,
  type Name,
  sequence,
  tagged,
  toDer,
} from './certificates.ts';

/** A name of a subject or of a subtree. */
export type GeneralName =
  | { readonly dns: string }
  | { readonly email: string }
  | { readonly uri: string }
  /** An address, with its mask behind it in a constraint. */
  | { readonly ip: Uint8Array }
  | { readonly directory: Name }
  | { readonly registered: string };

export function subjectAltName(names: readonly GeneralName[]): Extension {
  return { id: '2.5.29.17', critical: false, value: sequence(...names.map(encodeGeneralName)) };
}

export function nameConstraints(limits: {
  readonly permitted?: readonly GeneralName[];
  readonly excluded?: readonly GeneralName[];
}): Extension {
  const subtrees = (tag: number, names: readonly GeneralName[] = []): Asn1[] =>
    names.length === 0
      ? []
      : [
          tagged(
            tag,
            names.map((name) => sequence(encodeGeneralName(name))),
          ),
        ];
  const value = sequence(...subtrees(0, limits.permitted), ...subtrees(1, limits.excluded));
  return { id: '2.5.29.30', critical: true, value };
}

function encodeGeneralName(name: GeneralName): Asn1 {
  if ('email' in name) return tagged(1, name.email);
  if ('dns' in name) return tagged(2, name.dns);
  if ('directory' in name) return tagged(4, [encodeName(name.directory)]);
  if ('uri' in name) return tagged(6, name.uri);
  if ('ip' in name) return tagged(7, Buffer.from(name.ip).toString('binary'));
  const raw = toDer(identifier(name.registered));
  return tagged(8, raw.subarray(2).toString('binary'));
}
