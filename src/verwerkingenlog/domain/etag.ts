/** The tag of a version. */
export function etag(versie: number): string {
  return `"${versie}"`;
}

/** Whether a condition allows a change of this version (RFC 9110 section 13.1.1: strong comparison). Absent: always. */
export function matches(ifMatch: string | undefined, versie: number): boolean {
  if (ifMatch === undefined || ifMatch.trim() === '*') return true;
  return ifMatch.split(',').some((tag) => tag.trim() === etag(versie));
}
