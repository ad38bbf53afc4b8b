export function progressText(read: number, of: number): string {
  return `${read} of ${of} records read (${percentOf(read, of)} %)`;
}

/** Whole per cent; 100 only when all is done. */
export function percentOf(part: number, whole: number): number {
  return part >= whole ? 100 : Math.floor((100 * part) / whole);
}
