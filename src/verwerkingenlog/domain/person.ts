/** Who somebody is: the same person however kind and number were written. */

/** A person's identification, as callers write it. */
export interface Person {
  readonly soortObjectId: string;
  readonly objectId: string;
}

/**
 * Whether a kind of identification means a citizen service number. The standard has no closed list of kinds, and callers write it in many
 * ways: ` bsn`, `B.S.N.`, `BSN:`, `Burgerservicenummer`.
 */
export function isBsnKind(kind: unknown): boolean {
  return typeof kind === 'string' && /^(?:bsn|burgerservicenummer)$/.test(lettersAndDigits(kind).toLowerCase());
}

/** The nine digits of a citizen service number, in whatever way it is written; undefined for what is not just digits. */
export function bsnDigits(text: string): string | undefined {
  const digits = lettersAndDigits(text);
  if (!/^\d+$/.test(digits)) return undefined;
  const number = digits.replace(/^0+/, '').padStart(BSN_DIGITS, '0');
  return number.length === BSN_DIGITS ? number : undefined;
}

const BSN_DIGITS = 9;

/** Also without marks of no width. */
function lettersAndDigits(text: string): string {
  return text.normalize('NFKC').replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** The form that a person is looked up by. */
export function normalPerson(person: Person): Person {
  const { soortObjectId, objectId } = person;
  if (soortObjectId === 'BSN' && /^\d{9}$/.test(objectId)) return person;
  if (isBsnKind(soortObjectId)) return { soortObjectId: 'BSN', objectId: bsnDigits(objectId) ?? objectId };
  const kind = soortObjectId
    .normalize('NFKC')
    .replaceAll(/[\s.\p{Cf}]/gu, '')
    .toLowerCase();
  // What consists of such characters only stays as it is.
  return { soortObjectId: kind === '' ? soortObjectId : kind, objectId };
}

/** A person as one text: the same for every way of writing, and different for any two persons. */
export function personKey(person: Person): string {
  return personText(normalPerson(person));
}

/** An identification as one text, different for any two whatever is in them. */
export function personText({ soortObjectId, objectId }: Person): string {
  // A kind is never empty, so nothing else begins with a line break.
  return soortObjectId.includes('\n')
    ? `\n${JSON.stringify([soortObjectId, objectId])}`
    : `${soortObjectId}\n${objectId}`;
}

export function isSamePerson(one: Person, other: Person): boolean {
  return personKey(one) === personKey(other);
}
