import { InvalidArgumentError } from 'commander';
import type { Verwijderreden } from '../raadsfeed/domain/change.ts';
import {
  isResourceType,
  normaliseOrganisatiecode,
  RESOURCE_TYPES,
  type Resource,
  type ResourceType,
} from '../raadsfeed/domain/resource.ts';
import { UsageError } from './run-command.ts';

export interface NamedResource {
  readonly resourceType: ResourceType;
  readonly resource: Resource;
}

/** The code of an organisation, as an option of a command. */
export function parseOrganisatie(text: string): string {
  const code = normaliseOrganisatiecode(text);
  if (code === undefined) throw new InvalidArgumentError('A code is gm and 4 digits, pv and 2, or ws and 4.');
  return code;
}

/** `gm0363/Informatieobject/doc-1`: what comes after the second slash is the identification, slashes and all. */
export function collectResources(text: string, before: readonly NamedResource[] = []): NamedResource[] {
  const [code = '', resourceType, ...rest] = text.split('/');
  const bronidentificatie = rest.join('/');
  const organisatiecode = parseOrganisatie(code);
  if (!isResourceType(resourceType)) {
    throw new InvalidArgumentError(`After the code comes one of ${RESOURCE_TYPES.join(', ')}.`);
  }
  if (bronidentificatie === '') throw new InvalidArgumentError('After the second slash comes the bronidentificatie.');
  return [...before, { resourceType, resource: { organisatiecode, bronidentificatie } }];
}

/** A day, or a moment with a time zone. */
export function parseMoment(text: string): Date {
  const isWritten = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text);
  const moment = isWritten && isDay(text.slice(0, 10)) ? new Date(text) : undefined;
  if (moment === undefined || Number.isNaN(moment.getTime())) {
    throw new InvalidArgumentError(
      'A moment is a day (2026-01-31, UTC) or a time with its zone (2026-01-31T12:00:00Z).',
    );
  }
  return moment;
}

/** Whether a month has this day: 30 February would be read as a day in March. */
function isDay(text: string): boolean {
  const day = new Date(text);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

/** @throws {UsageError} when the reason needs an explanation that is not there */
export function requireToelichting(reden: Verwijderreden, toelichting: string | undefined): void {
  if (reden === 'overig' && (toelichting ?? '') === '') throw new UsageError('--reden overig needs --toelichting');
  if (toelichting !== undefined && !/^[^\0]{1,2000}$/s.test(toelichting)) {
    throw new UsageError('--toelichting is a text of 1 to 2000 characters');
  }
}

/** An address of the web. */
export function parseWebAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new InvalidArgumentError('An address begins with https:// or http://.');
  }
  return url.href;
}
