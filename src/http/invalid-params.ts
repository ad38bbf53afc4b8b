/** What a schema validator found, as the faulty parts of a request that an answer names. */
import type { ErrorObject } from 'ajv';
import { isRecord } from '../kernel/is-record.ts';
import type { InvalidParam } from '../kernel/problem.ts';
import { faultReason } from './fault-reason.ts';

/** Faults that one answer names; a body of a megabyte can have a million, and whoever mends the first thousand has found the pattern. */
export const MAX_FAULTS = 1000;
const MAX_NAME = 200;

/**
 * The faults that a validator found, named by place, at most `MAX_FAULTS`. Faults that only repeat another in vaguer words are left
 * out. The work grows with the number of errors and no faster: a caller chooses how many there are.
 */
export function invalidParams(errors: ErrorObject[]): InvalidParam[] {
  const said = whatIsSaid(errors);
  const named: InvalidParam[] = [];
  for (const error of errors) {
    if (named.length >= MAX_FAULTS) break;
    if (!isSaid(error, said)) named.push(fault(error));
  }
  return distinct(named);
}

function fault(error: ErrorObject): InvalidParam {
  return {
    name: shortened([...error.instancePath.split('/').slice(1), ...ownMember(error)].map(unescapeStep).join('.')),
    code:
      error.keyword === 'additionalProperties' || error.keyword === 'unevaluatedProperties' ? 'unknown' : error.keyword,
    reason: faultReason(error),
  };
}

/** A caller chooses how long the names of unknown members are; an answer repeats so much of them as shows which is meant. */
function shortened(name: string): string {
  return name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME).toWellFormed()}…`;
}

interface Said {
  /** Places with a telling fault, and every place that they lie in. */
  readonly within: ReadonlySet<string>;
  /** Places where the format is wrong. */
  readonly format: ReadonlySet<string>;
}

function whatIsSaid(errors: readonly ErrorObject[]): Said {
  const within = new Set<string>();
  const format = new Set<string>();
  const chosen = errors.some(isChoice);
  for (const error of errors) {
    if (error.keyword === 'format') format.add(error.instancePath);
    if (!chosen || isChoice(error)) continue;
    for (let place = error.instancePath; !within.has(place); place = place.slice(0, place.lastIndexOf('/'))) {
      within.add(place);
      if (place === '') break;
    }
  }
  return { within, format };
}

/** That a combination failed is told by the fault of its branches; that text has the wrong form, by the format's name. */
function isSaid(error: ErrorObject, said: Said): boolean {
  if (error.keyword === 'if' || error.keyword === 'allOf') return true;
  if (isChoice(error)) return said.within.has(error.instancePath);
  return error.keyword === 'pattern' && said.format.has(error.instancePath);
}

function isChoice({ keyword }: ErrorObject): boolean {
  return keyword === 'anyOf' || keyword === 'oneOf';
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
