/** What a change of source would do to the feed of an organisation. */
export interface IdentityComparison {
  /** Keys that both have: nothing changes but where they come from, when the content is the same too. */
  readonly same: number;
  /** Keys that the feed has and the new source does not: they would be deleted. */
  readonly deleted: readonly string[];
  /** Keys that only the new source has. */
  readonly added: readonly string[];
  /** Whether so much would go that it takes an operator's word: more than a tenth. */
  readonly isMassDelete: boolean;
}

/** Compares the feed with another source of the same organisation, by `<resourceType>/<bronidentificatie>`. */
export function compareIdentities(held: ReadonlySet<string>, offered: ReadonlySet<string>): IdentityComparison {
  const deleted = [...held].filter((key) => !offered.has(key)).toSorted();
  return {
    same: held.size - deleted.length,
    deleted,
    added: [...offered].filter((key) => !held.has(key)).toSorted(),
    isMassDelete: deleted.length * 10 > held.size,
  };
}
