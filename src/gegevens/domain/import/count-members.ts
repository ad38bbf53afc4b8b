/** How many members all objects within a parsed JSON value have together. */
export function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countMembers(item);
    return count;
  }
  for (const member of Object.values(value)) {
    count += 1;
    if (typeof member === 'object') count += countMembers(member);
  }
  return count;
}
