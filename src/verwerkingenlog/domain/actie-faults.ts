import type { InvalidParam } from '../../kernel/problem.ts';
import { isBsn } from './bsn.ts';
import { illFormedTexts } from './ill-formed-text.ts';
import { toUtc } from './moments.ts';

const NO_BSN = { code: 'bsn', reason: 'is geen burgerservicenummer (elfproef)' };

/** What is wrong with the body of an action that a contract cannot express. The body may be anything: what has another form is skipped. */
export function actieFaults(body: unknown, options: { readonly checkBsn: boolean }): InvalidParam[] {
  if (!isObject(body)) return [];
  const faults = [...illFormedTexts(body), ...(options.checkBsn ? bsnFaults(body) : [])];
  if (typeof body.tijdstip === 'string' && toUtc(body.tijdstip) === undefined) {
    faults.push({ name: 'tijdstip', code: 'range', reason: 'moet in UTC in de jaren 1 tot en met 9999 liggen' });
  }
  return faults;
}

function bsnFaults({ soortAfnemerId, afnemerId, verwerkteObjecten }: Record<string, unknown>): InvalidParam[] {
  const faults: InvalidParam[] = [];
  if (isWrong(soortAfnemerId, afnemerId)) faults.push({ name: 'afnemerId', ...NO_BSN });
  for (const [i, object] of (Array.isArray(verwerkteObjecten) ? verwerkteObjecten : []).entries()) {
    if (isObject(object) && isWrong(object.soortObjectId, object.objectId)) {
      faults.push({ name: `verwerkteObjecten.${i}.objectId`, ...NO_BSN });
    }
  }
  return faults;
}

function isWrong(kind: unknown, id: unknown): boolean {
  return kind === 'BSN' && typeof id === 'string' && !isBsn(id);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
