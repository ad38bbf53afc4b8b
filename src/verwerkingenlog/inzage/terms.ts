import { isDuration } from '../../lib/time.ts';
import type { Entry, Group } from './read-overview.ts';

/** One, and more than one; `M` is a month, and after the `T` a minute. */
const UNITS: Readonly<Record<string, readonly [one: string, more: string]>> = {
  Y: ['jaar', 'jaar'],
  M: ['maand', 'maanden'],
  W: ['week', 'weken'],
  D: ['dag', 'dagen'],
  H: ['uur', 'uur'],
  TM: ['minuut', 'minuten'],
  S: ['seconde', 'seconden'],
};

/** `P1Y6M` as `1 jaar en 6 maanden`. @param duration of ISO 8601 */
export function durationInWords(duration: string): string {
  const behindT = duration.replace(/T.*/, (time) => time.replace('M', 'TM'));
  const parts = [...behindT.matchAll(/(\d+)([YWDHS]|T?M)/g)].flatMap(([, digits, unit = '']) => {
    const [one, more] = UNITS[unit] ?? [];
    const amount = Number(digits);
    return amount === 0 ? [] : [`${amount} ${amount === 1 ? one : more}`];
  });
  return new Intl.ListFormat('nl').format(parts);
}

/**
 * The retention period of an entry: its own term, else that of its activity, else that of the service; as text when the register has text.
 * @param longest the term of the service
 */
export function keptFor(entry: Entry, { activiteit }: Group, longest: string | undefined): string {
  const ofRegister = activiteit?.bewaartermijn ?? undefined;
  const term = entry.bewaartermijn ?? (ofRegister !== undefined && isDuration(ofRegister) ? ofRegister : longest);
  if (term !== undefined) return durationInWords(term);
  return ofRegister ?? 'Daar is geen termijn voor';
}

/** The terms of all entries, each once, the newest first. */
export function termsOf(group: Group, longest: string | undefined): string[] {
  return [...new Set(group.acties.map((entry) => keptFor(entry, group, longest)))];
}
