import { lineOfHtml } from './html-text.ts';

export interface RegisterValue {
  readonly label: string | undefined;
  readonly value: string | undefined;
}

/** Labels of an outcome. Votes are left out: the contract has no member for them. */
const OUTCOME = /^(?:uitslag|uitkomst|resultaat|besluit|status|stand van zaken|afdoening)$/i;
const PROPOSER =
  /^(?:(?:(?:mede|eerste)[ -]?)?indieners?(?:\(s\))?|ingediend door|(?:indienende )?(?:fractie|partij)(?:s|en|\(s\)|\(en\))?)$/i;
/** Registers of proposals by members of the council. In others, such as letters received, the proposer may be a citizen. */
const BY_MEMBERS = /motie|amendement|initiatief|vragen|toezegging/i;

/** Outcome and proposers of an entry, a line each, in the order of the supplier. */
export function describeEntry(register: string | undefined, values: readonly RegisterValue[]): string | undefined {
  const isByMembers = register !== undefined && BY_MEMBERS.test(register);
  const found = new Map<string, string[]>();
  for (const { label, value } of values) {
    const [name, text] = [lineOfHtml(label)?.replace(/:$/, ''), lineOfHtml(value)];
    if (name === undefined || text === undefined || !(OUTCOME.test(name) || (isByMembers && PROPOSER.test(name))))
      continue;
    // A number refers to something that has no name.
    if (/^\d+$/.test(text)) continue;
    const texts = found.get(name) ?? [];
    if (!texts.includes(text)) found.set(name, [...texts, text]);
  }
  const lines = [...found].map(([name, texts]) => `${name}: ${texts.join(', ')}`);
  return lines.length === 0 ? undefined : lines.join('\n');
}
