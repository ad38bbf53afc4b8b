/** The organisations of the example data. They do not exist: codes and numbers are outside what is given out. */
export const organisations = [
  { naam: 'Gemeente Voorbeeldstad', kvk: '90000001', gemeentecode: '9901', postcode: '9999AA' },
  { naam: 'Gemeente Waterrijk', kvk: '90000002', gemeentecode: '9902', postcode: '9998AA' },
  { naam: 'Kredietbank De Brug', kvk: '90000003', gemeentecode: '9903', postcode: '9997AA' },
] as const;

/** The reporting period of the example deliveries. */
export const period = { start: '2026-01-01', end: '2026-03-31', delivered: '2026-04-07T09:00:00Z' } as const;

/** Citizen service numbers for tests: they pass the eleven test and belong to nobody. */
export const persons = { eerste: '999990019', tweede: '999991905' } as const;

/** The n-th test number of a client: nine digits that pass the eleven test. */
export function testBsn(n: number): string {
  const digits = String(99999000 + n);
  const sum = [...digits].reduce((total, digit, index) => total + Number(digit) * (9 - index), 0);
  // A remainder of ten has no check digit: the next number has one.
  return sum % 11 === 10 ? testBsn(n + 500) : `${digits}${sum % 11}`;
}
