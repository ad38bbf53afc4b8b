/** The suite for signed messages at rest. */
import { type Chapter, type ConformanceCase, type Finding, Skipped, type Suite, type SuiteSubject } from '../case.ts';
import type { SignedMessage, Trust } from './message.ts';
import { Absent, type RuleName } from './rule.ts';
import { RULES } from './rules.ts';

export interface SignatureSubject extends SuiteSubject {
  readonly messages: readonly SignedMessage[];
  readonly trust: Trust;
}

/**
 * Judges all messages by one rule: those that do not have what it is about do not count.
 * @throws {Skipped} when no message has it
 */
async function judgeAll(name: RuleName, messages: readonly SignedMessage[], trust: Trust): Promise<Finding> {
  const { judge, level } = RULES[name];
  const seen = new Set<string>();
  let absent = 'there is no message';
  let judged = 0;
  for (const message of messages) {
    try {
      const found = await judge(message, trust);
      judged += 1;
      if (found === undefined) continue;
      if (level !== 'open') return { failed: `${message.name}: ${found}`, at: message.shown };
      seen.add(found);
    } catch (error) {
      if (!(error instanceof Absent)) throw error;
      absent = error.message;
    }
  }
  if (judged === 0) throw new Skipped(absent);
  return level === 'open' ? { seen: [...seen].join('; ') } : undefined;
}

/** Cases for these rules, numbered in their order: a new one comes last. @param idOf gives the id of a rule that another one needs */
function ruleCases<Subject extends SuiteSubject>(
  chapter: string,
  names: readonly RuleName[],
  idOf: (name: RuleName) => string | undefined,
  judge: (name: RuleName, subject: Subject) => Promise<Finding>,
): readonly ConformanceCase<Subject>[] {
  return names.map((name, index) => {
    const { title, level, source, needs } = RULES[name];
    return {
      ...{ id: numbered(chapter, index), title, level, source },
      // What a message need not have is no reason not to judge another rule.
      dependsOn: needs.filter((one) => !OPTIONAL.has(one)).flatMap((one) => idOf(one) ?? []),
      check: (subject) => judge(name, subject),
    };
  });
}

const OPTIONAL: ReadonlySet<RuleName> = new Set(['content-digest', 'crit', 'b64', 'sigD', 'x5t', 'time-holds']);

const CHAPTERS: readonly (readonly [string, string, string, readonly RuleName[]])[] = [
  ['S-DIG', 'De digest', 'The digest', ['digest', 'digest-form', 'digest-holds', 'content-digest']],
  [
    ...(['S-JWS', 'De handtekening', 'The signature'] as const),
    [
      ...(['signature', 'detached', 'base64url', 'json', 'alg', 'kid', 'typ', 'crit', 'b64', 'sigD', 'form'] as const),
      ...(['x5c', 'x5t', 'holds', 'time', 'time-holds'] as const),
    ],
  ],
  [
    ...(['S-CRT', 'De certificaten', 'The certificates'] as const),
    ['anchor', 'validity', 'usage', 'strength', 'oin', 'revoked', 'status'],
  ],
];

/** Of messages that were just made; none of them has to have a `Content-Digest`. */
const OF_EVERY_MESSAGE: readonly RuleName[] = CHAPTERS.flatMap(([, , , names]) => names).filter(
  (name) => name !== 'content-digest',
);

/** One chapter with the rules for what a party signs. @param messagesOf may throw {Skipped} */
export function messageChapter<Subject extends SuiteSubject & { readonly trust: Trust }>(
  id: string,
  [nl, en]: readonly [string, string],
  messagesOf: (subject: Subject) => readonly SignedMessage[] | Promise<readonly SignedMessage[]>,
): Chapter<Subject> {
  const numberOf = (name: RuleName): string => numbered(id, OF_EVERY_MESSAGE.indexOf(name));
  return {
    ...{ id, title: { nl, en } },
    cases: ruleCases<Subject>(id, OF_EVERY_MESSAGE, numberOf, async (name, subject) =>
      judgeAll(name, await messagesOf(subject), subject.trust),
    ),
  };
}

function numbered(chapter: string, index: number): string {
  return `${chapter}-${String(index + 1).padStart(2, '0')}`;
}

function idOf(name: RuleName): string | undefined {
  for (const [chapter, , , names] of CHAPTERS) {
    const index = names.indexOf(name);
    if (index !== -1) return numbered(chapter, index);
  }
  return undefined;
}

export const SIGNATURES: Suite<SignatureSubject> = {
  name: 'signature',
  title: { nl: 'Ondertekende berichten', en: 'Signed messages' },
  chapters: CHAPTERS.map(
    ([id, nl, en, names]): Chapter<SignatureSubject> => ({
      ...{ id, title: { nl, en } },
      cases: ruleCases(id, names, idOf, (name, { messages, trust }) => judgeAll(name, messages, trust)),
    }),
  ),
};
