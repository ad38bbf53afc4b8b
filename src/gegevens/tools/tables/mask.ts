/** Masks cells and records: their shape stays visible, with letters and digits replaced. */
import { isRecord } from '../../../lib/json/json-value.ts';

/** A text with placeholders for its letters and digits. */
export function maskedText(text: string, { upper, lower }: { readonly upper: string; readonly lower: string }): string {
  return text.replaceAll(/\p{L}/gu, (letter) => (/\p{Lu}/u.test(letter) ? upper : lower)).replaceAll(/\d/g, '9');
}

/** Names of members that identify a person, in the models and in likely mappings. */
const PERSONAL =
  /burgerservicenummer|bsn|naam|voorletters|voorvoegsel|geboorte|postcode|huisnummer|straat|adres|plaats|e-?mail|telefoon/i;

/** A copy of a record in which each letter and digit of identifying members is a placeholder. */
export function maskPersons(value: unknown, isPersonal = false): unknown {
  if (Array.isArray(value)) return value.map((item) => maskPersons(item, isPersonal));
  if (isRecord(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, maskPersons(member, isPersonal || PERSONAL.test(name))]),
    );
  }
  if (!isPersonal || (typeof value !== 'string' && typeof value !== 'number')) return value;
  return maskedText(String(value), { upper: 'X', lower: 'x' });
}
