/** Of an organisation with fewer resources, one may still be deleted. */
const COUNTED_AT_LEAST = 10;

/** Whether a comparison would delete more than a tenth of what an organisation has, which needs the consent of an operator. */
export function isMassDelete(deleted: number, total: number): boolean {
  return deleted * 10 > Math.max(total, COUNTED_AT_LEAST);
}
