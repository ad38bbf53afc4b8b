/** The tag of a version of an action. */
export function etag(versie: number): string {
  return `"${versie}"`;
}

/** The tag of an activity: its versions begin again when it is removed and put back, and an old tag must not fit the new one. */
export function activiteitEtag({
  versie,
  tijdstipRegistratie,
}: {
  versie: number;
  tijdstipRegistratie: string;
}): string {
  return `"${versie}-${Date.parse(tijdstipRegistratie).toString(36)}"`;
}

/** Whether `If-None-Match` names this tag (RFC 9110 section 13.1.2: weak comparison): who asks has it already. */
export function isKnownTag(ifNoneMatch: string | undefined, current: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags: readonly string[] = ifNoneMatch.match(/"[^"]*"/g) ?? [];
  return ifNoneMatch.trim() === '*' || tags.includes(current);
}

/** Whether a condition allows a change of what has this tag (RFC 9110 section 13.1.1: strong comparison). Absent: always. */
export function matches(ifMatch: string | undefined, current: string): boolean {
  if (ifMatch === undefined || ifMatch.trim() === '*') return true;
  return ifMatch.split(',').some((tag) => tag.trim() === current);
}
