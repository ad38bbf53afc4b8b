/** What a schema validator found, as the faulty parts of a request that an answer names. */
import type { ErrorObject } from 'ajv';
import type { InvalidParam } from '../kernel/problem.ts';
import { faultReason } from './fault-reason.ts';
import { isRecord } from './openapi-document.ts';

/** The faults that a validator found, named by place. Faults that only repeat another in vaguer words are left out. */
export function invalidParams(errors: ErrorObject[]): InvalidParam[] {
  const telling = errors.filter((error) => !errors.some((other) => isSaidBy(error, other)));
  const named = telling.map((error) => ({
    name: [...error.instancePath.split('/').slice(1), ...ownMember(error)].map(unescapeStep).join('.'),
    code:
      error.keyword === 'additionalProperties' || error.keyword === 'unevaluatedProperties' ? 'unknown' : error.keyword,
    reason: faultReason(error),
  }));
  return distinct(named);
}

/** That a combination failed is told by the fault of its branches; that text has the wrong form, by the format's name. */
function isSaidBy(error: ErrorObject, other: ErrorObject): boolean {
  if (error.keyword === 'if' || error.keyword === 'allOf') return true;
  const isChoice = ({ keyword }: ErrorObject): boolean => keyword === 'anyOf' || keyword === 'oneOf';
  if (isChoice(error)) return !isChoice(other) && other.instancePath.startsWith(error.instancePath);
  return error.keyword === 'pattern' && other.keyword === 'format' && other.instancePath === error.instancePath;
}

/** Two branches of one schema may find the same fault. */
export function distinct(faults: readonly InvalidParam[]): InvalidParam[] {
  return [...new Map(faults.map((fault) => [`${fault.name} ${fault.code} ${fault.reason}`, fault])).values()];
}

/** A missing or unknown member is reported on its parent; it is the member that the caller looks for. */
function ownMember(error: ErrorObject): string[] {
  const { missingProperty, additionalProperty, unevaluatedProperty } = isRecord(error.params) ? error.params : {};
  const member = missingProperty ?? additionalProperty ?? unevaluatedProperty;
  return typeof member === 'string' ? [member.replaceAll('~', '~0').replaceAll('/', '~1')] : [];
}

function unescapeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}
