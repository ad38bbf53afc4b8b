const WEIGHTS = [9, 8, 7, 6, 5, 4, 3, 2, -1];

/** Whether a text is a citizen service number by its form and its eleven test. */
export function isBsn(text: string): boolean {
  if (!/^\d{9}$/.test(text) || text === '000000000') return false;
  const sum = WEIGHTS.reduce((total, weight, i) => total + weight * Number(text[i]), 0);
  return sum % 11 === 0;
}
