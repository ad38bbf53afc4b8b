/**
 * Until when a `security.txt` may be relied on.
 * @returns undefined when it lacks what it must have: a contact, and one date and time of RFC 3339
 * @see RFC 9116 section 2.5
 */
export function expiryOfSecurityTxt(text: string): Date | undefined {
  const [expires, another] = [...text.matchAll(/^Expires: *(\d{4}-\d\d-\d\dT\S+?)\s*$/gim)];
  const date = new Date(expires?.[1] ?? '');
  const isComplete = another === undefined && /^Contact: *(mailto|https|tel):\S+\s*$/im.test(text);
  return isComplete && !Number.isNaN(date.getTime()) ? date : undefined;
}
