/** Records per stretch that lies in one part, as a power of two, and how many parts there are; the check of `tekst.deel` says the same. */
const STRETCH_BITS = 12;
const PARTS = 32;

/** For a look at all of them at once. */
export const ALL_PARTS: readonly number[] = Array.from({ length: PARTS }, (_, part) => part);

/** The part of `tekst` that a number lies in. A page lies in one, or in two. */
export function partOf(sequenceNumber: number): number {
  return Math.floor(sequenceNumber / 2 ** STRETCH_BITS) % PARTS;
}
