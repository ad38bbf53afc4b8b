/** Answers of suppliers with and without an envelope. */
import { isRecord, type JsonObject } from '../../../lib/json/json-value.ts';

/** The list in an answer: itself, or one of these members. */
export function listIn(answer: unknown, ...members: readonly string[]): readonly unknown[] | undefined {
  if (Array.isArray(answer)) return answer;
  if (!isRecord(answer)) return undefined;
  return members.map((member) => answer[member]).find((value) => Array.isArray(value));
}

/** The object in an answer: a member, or the answer itself. @param identity the member that identifies a bare object */
export function recordIn(answer: unknown, member: string, identity: string): JsonObject | undefined {
  if (!isRecord(answer)) return undefined;
  const inner = answer[member];
  if (isRecord(inner)) return inner;
  return inner === undefined && answer[identity] !== undefined ? answer : undefined;
}
