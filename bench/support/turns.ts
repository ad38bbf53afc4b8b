/** Comparisons on a machine whose speed varies: the variants run in turns, and the ratio within a turn counts. */

/** The median of some figures; of an even number the lower middle one. NaN of none. */
export function middle(figures: readonly number[]): number {
  const sorted = figures.filter((figure) => !Number.isNaN(figure)).sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
}

/** A ratio for printing: the median of the turns, with the smallest and the largest. */
export function ratioText(ratios: readonly number[]): string {
  return `${middle(ratios).toFixed(2)} (turns ${ratios.map((ratio) => ratio.toFixed(2)).join(', ')})`;
}
