import {
  type Chapter,
  type ConformanceCase,
  described,
  type Finding,
  Skipped,
  type Suite,
  type SuiteSubject,
} from '../case.ts';
import type { SignedMessage, Trust } from './message.ts';
import { RULE_IDS, type RuleName } from './rule.ts';
import { RULES } from './rules.ts';

export interface SignatureSubject extends SuiteSubject {
  readonly messages: readonly SignedMessage[];
  readonly trust: Trust;
}

/**
 * Checks all messages against one rule; those without the part in question do not count.
 * @throws {Skipped} when no message has it
 */
async function judgeAll(name: RuleName, messages: readonly SignedMessage[], trust: Trust): Promise<Finding> {
  const { judge, open } = RULES[name];
  const seen = new Set<string>();
  let absent = 'there is no message';
  let judged = 0;
  for (const message of messages) {
    try {
      const found = await judge(message, trust);
      judged += 1;
      if (found === undefined) continue;
      if (open === undefined) return { failed: `${message.name}: ${found}`, at: message.shown };
      seen.add(found);
    } catch (error) {
      if (!(error instanceof Skipped)) throw error;
      absent = error.message;
    }
  }
  if (judged === 0) throw new Skipped(absent);
  return open && { seen: [...seen].join('; ') };
}

/**
 * Cases for rules.
 * @param idOf returns the id of a rule; undefined: it is not tested here
 */
function ruleCases<Subject extends SuiteSubject & { readonly trust: Trust }>(
  idOf: (name: RuleName) => string | undefined,
  messagesOf: (subject: Subject) => readonly SignedMessage[] | Promise<readonly SignedMessage[]>,
): readonly ConformanceCase<Subject>[] {
  return RULE_NAMES.flatMap((name) => {
    const id = idOf(name);
    if (id === undefined) return [];
    const { judge: _, needs: rules = ['json'], ...written } = RULES[name];
    // Lacking an optional part is no reason to skip another rule.
    const needs = rules.filter((one) => !OPTIONAL.has(one)).flatMap((one) => idOf(one) ?? []);
    return {
      ...described(id, { ...written, needs }, id),
      check: async (subject) => judgeAll(name, await messagesOf(subject), subject.trust),
    };
  });
}

const OPTIONAL: ReadonlySet<RuleName> = new Set(['content-digest', 'crit', 'b64', 'sigD', 'x5t', 'time-holds']);
const isRuleName = (name: string): name is RuleName => Object.hasOwn(RULE_IDS, name);
const RULE_NAMES: readonly RuleName[] = Object.keys(RULE_IDS).filter(isRuleName);

/**
 * One chapter with the rules for a party's signatures.
 * @param messagesOf may throw {Skipped}
 */
export function messageChapter<Subject extends SuiteSubject & { readonly trust: Trust }>(
  id: string,
  [nl, en]: readonly [string, string],
  messagesOf: (subject: Subject) => readonly SignedMessage[] | Promise<readonly SignedMessage[]>,
): Chapter<Subject> {
  const idOf = (name: RuleName): string | undefined => {
    const { number } = RULE_IDS[name];
    return number && `${id}-${number}`;
  };
  return { id, title: { nl, en }, cases: ruleCases(idOf, messagesOf) };
}

const CASES = ruleCases<SignatureSubject>(
  (name) => RULE_IDS[name].own,
  ({ messages }) => messages,
);

const chapter = (id: string, nl: string, en: string): Chapter<SignatureSubject> => ({
  id,
  title: { nl, en },
  cases: CASES.filter((one) => one.id.startsWith(`${id}-`)),
});

export const SIGNATURES: Suite<SignatureSubject> = {
  name: 'signature',
  title: { nl: 'Ondertekende berichten', en: 'Signed messages' },
  chapters: [
    chapter('S-DIG', 'De digest', 'The digest'),
    chapter('S-JWS', 'De handtekening', 'The signature'),
    chapter('S-CRT', 'De certificaten', 'The certificates'),
  ],
};
