/** Answers of suppliers with and without an object around them. */
import { isRecord, type JsonObject } from '../../../lib/json/json-value.ts';

/** The list that an answer is, or has as one of these members; `undefined` when it is not one. */
export function listIn(answer: unknown, ...members: readonly string[]): readonly unknown[] | undefined {
  if (Array.isArray(answer)) return answer;
  if (!isRecord(answer)) return undefined;
  return members.map((member) => answer[member]).find((value) => Array.isArray(value));
}

/**
 * The object that an answer has as a member, or is.
 * @param identity the member by which an object without another around it is known
 */
export function recordIn(answer: unknown, member: string, identity: string): JsonObject | undefined {
  if (!isRecord(answer)) return undefined;
  const inner = answer[member];
  if (isRecord(inner)) return inner;
  return inner === undefined && answer[identity] !== undefined ? answer : undefined;
}
