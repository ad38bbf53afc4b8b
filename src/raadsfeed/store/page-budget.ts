/**
 * Octets of stored text that one read takes: a page of a thousand records of four megabytes each would be more than the process can hold. A
 * read ends with the record that reaches it, so that there is always at least one. Less than an aggregator takes of a source in one answer.
 */
export const PAGE_OCTETS = 16 * 1024 * 1024;

/** What was read, in order. */
export interface Bounded<T> {
  readonly found: T[];
  /** The read ended because of its octets: there may be more. */
  readonly isCut: boolean;
}

/** @param rows with the octets up to and including each */
export function bounded<T extends { readonly octets: number }>(rows: T[]): Bounded<T> {
  return { found: rows, isCut: (rows.at(-1)?.octets ?? 0) >= PAGE_OCTETS };
}
