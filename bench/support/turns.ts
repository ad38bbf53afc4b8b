/**
 * Comparing on a machine whose speed moves: what is compared runs in turns, and what counts is the ratio within a turn.
 */

/** The middle of some figures; of an even number the lower of the two in the middle. NaN of none. */
export function middle(figures: readonly number[]): number {
  const sorted = figures.filter((figure) => !Number.isNaN(figure)).sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
}

/** A ratio as it is printed: the middle of the turns, with the least and the greatest. */
export function ratioText(ratios: readonly number[]): string {
  return `${middle(ratios).toFixed(2)} (turns ${ratios.map((ratio) => ratio.toFixed(2)).join(', ')})`;
}
