import { lineOfHtml } from './html-text.ts';

/** A value of a register entry under the name that the organisation gives it. */
export interface RegisterValue {
  readonly label: string | undefined;
  /** As the supplier writes it. */
  readonly value: string | undefined;
}

/** What became of an entry. Votes are not read: the contract of the feed has no place for them. */
const OUTCOME = /^(?:uitslag|uitkomst|resultaat|besluit|status|stand van zaken|afdoening)$/i;
const PROPOSER =
  /^(?:(?:(?:mede|eerste)[ -]?)?indieners?(?:\(s\))?|ingediend door|(?:indienende )?(?:fractie|partij)(?:s|en|\(s\)|\(en\))?)$/i;
/** Registers of what members of the council propose. Elsewhere, as among letters received, who handed in may be a citizen. */
const BY_MEMBERS = /motie|amendement|initiatief|vragen|toezegging/i;

/** The outcome and the proposers of what the named register holds, a line each, in the order of the supplier. */
export function describeEntry(register: string | undefined, values: readonly RegisterValue[]): string | undefined {
  const isByMembers = register !== undefined && BY_MEMBERS.test(register);
  const found = new Map<string, string[]>();
  for (const { label, value } of values) {
    const [name, text] = [lineOfHtml(label)?.replace(/:$/, ''), lineOfHtml(value)];
    if (name === undefined || text === undefined || !(OUTCOME.test(name) || (isByMembers && PROPOSER.test(name))))
      continue;
    // A number is that of something whose name is not given.
    if (/^\d+$/.test(text)) continue;
    const texts = found.get(name) ?? [];
    if (!texts.includes(text)) found.set(name, [...texts, text]);
  }
  const lines = [...found].map(([name, texts]) => `${name}: ${texts.join(', ')}`);
  return lines.length === 0 ? undefined : lines.join('\n');
}
