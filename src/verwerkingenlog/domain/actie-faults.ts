import { isRecord } from '../../kernel/json-value.ts';
import type { InvalidParam } from '../../kernel/problem.ts';
import { isDuration, isTerm, LONGEST_TERM } from '../../kernel/time.ts';
import { isBsn } from './bsn.ts';
import { isBsnKind } from './identification.ts';
import { illFormedTexts } from './ill-formed-text.ts';
import { toUtc } from './moments.ts';

const NO_BSN = { code: 'bsn', reason: 'is geen burgerservicenummer (elfproef)' };

interface FaultOptions {
  readonly checkBsn: boolean;
}

/** What is wrong with the body of an action that a contract cannot express. The body may be anything: what has another form is skipped. */
export function actieFaults(body: unknown, options: FaultOptions): InvalidParam[] {
  if (!isRecord(body)) return [];
  const { tijdstip, bewaartermijn } = body;
  const utc = typeof tijdstip === 'string' ? toUtc(tijdstip) : undefined;
  return [
    ...textFaults(body, options),
    ...(typeof tijdstip === 'string' ? momentFaults(utc) : []),
    ...termFaults(bewaartermijn, new Date(utc ?? 0)),
  ];
}

/** The faults of the body's texts: half characters, and numbers that are no citizen service number. */
export function textFaults(body: Identified, { checkBsn }: FaultOptions): InvalidParam[] {
  const faults = illFormedTexts(body);
  return checkBsn ? [...faults, ...bsnFaults(body)] : faults;
}

/** @param utc what `toUtc` made of the body's `tijdstip` */
export function momentFaults(utc: string | undefined): InvalidParam[] {
  if (utc !== undefined) return [];
  return [{ name: 'tijdstip', code: 'range', reason: 'moet in UTC in de jaren 1 tot en met 9999 liggen' }];
}

/**
 * What is wrong with a `bewaartermijn` that is a duration; another form is a fault that the contract names.
 * @param at the moment that it counts from
 */
export function termFaults(bewaartermijn: unknown, at: Date): InvalidParam[] {
  if (typeof bewaartermijn !== 'string' || !isDuration(bewaartermijn) || isTerm(bewaartermijn, at)) return [];
  return [{ name: 'bewaartermijn', code: 'range', reason: `moet langer dan niets zijn, en hoogstens ${LONGEST_TERM}` }];
}

/** The members of a body that identify persons, of any form. */
interface Identified {
  readonly soortAfnemerId?: unknown;
  readonly afnemerId?: unknown;
  readonly verwerkteObjecten?: unknown;
}

function bsnFaults({ soortAfnemerId, afnemerId, verwerkteObjecten }: Identified): InvalidParam[] {
  const faults: InvalidParam[] = [];
  if (isWrong(soortAfnemerId, afnemerId)) faults.push({ name: 'afnemerId', ...NO_BSN });
  for (const [i, object] of (Array.isArray(verwerkteObjecten) ? verwerkteObjecten : []).entries()) {
    if (isRecord(object) && isWrong(object.soortObjectId, object.objectId)) {
      faults.push({ name: `verwerkteObjecten.${i}.objectId`, ...NO_BSN });
    }
  }
  return faults;
}

function isWrong(kind: unknown, id: unknown): boolean {
  return isBsnKind(kind) && typeof id === 'string' && !isBsn(id);
}
