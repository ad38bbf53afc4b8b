// Kinds of identification: the standard closes no list, so callers write them in many ways.

/** Whether a kind of identification means a citizen service number, whatever stands around the letters: ` bsn`, `B.S.N.`, `BSN:`. */
export function isBsnKind(kind: unknown): boolean {
  return (
    typeof kind === 'string' &&
    kind
      .normalize('NFKC')
      .replaceAll(/[^\p{L}\p{N}]/gu, '')
      .toLowerCase() === 'bsn'
  );
}

/**
 * Whether an identification is of an organisation and of nobody else: only that is kept as it came. Anything else may identify a person,
 * however its kind is called.
 */
export function isOrganisation(kind: string | null, id: string): boolean {
  return kind === 'OIN' && /^\d{20}$/.test(id);
}
