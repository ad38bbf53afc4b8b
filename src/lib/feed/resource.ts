import type { components } from '../../contracts/raadsfeed.ts';
import { isRecord, type JsonObject } from '../json/json-value.ts';

/** The identity of a resource, together with its kind; goes unchanged through an aggregator. */
export interface Resource {
  readonly organisatiecode: string;
  readonly bronidentificatie: string;
}

export function resourcePath(resourceType: ResourceType, { organisatiecode, bronidentificatie }: Resource): string {
  return `/organisaties/${organisatiecode}/${COLLECTIONS[resourceType]}/${encodeURIComponent(bronidentificatie)}`;
}

export interface NamedResource {
  readonly resourceType: ResourceType;
  readonly resource: Resource;
}

export function resourceKey({ resourceType, resource }: NamedResource): string {
  return `${resource.organisatiecode}/${resourceType}/${resource.bronidentificatie}`;
}

export const RESOURCE_TYPES = [
  'Vergadering',
  'Agendapunt',
  'Informatieobject',
] as const satisfies readonly components['schemas']['ResourceType'][];
export type ResourceType = (typeof RESOURCE_TYPES)[number];

export const COLLECTIONS = {
  Vergadering: 'vergaderingen',
  Agendapunt: 'agendapunten',
  Informatieobject: 'informatieobjecten',
} as const satisfies Record<ResourceType, string>;

export function isResourceType(value: unknown): value is ResourceType {
  return RESOURCE_TYPES.some((known) => known === value);
}

const ORGANISATIECODE = /^(gm[0-9]{4}|pv[0-9]{2}|ws[0-9]{4})$/;

/** The code in lower case, or `undefined` when it is not a valid code. */
export function normaliseOrganisatiecode(text: string): string | undefined {
  const code = text.toLowerCase();
  return ORGANISATIECODE.test(code) ? code : undefined;
}

const MAX_NAME = 500;

/** The resource that a reference names: of the organisation `own` unless it says another one. */
export function readReference(reference: unknown, own: string): Resource | undefined {
  if (!isRecord(reference)) return undefined;
  return readResource({ resource: { ...reference, organisatiecode: reference.organisatiecode ?? own } });
}

/** The identity in a record of any feed, with its code in lower case; `undefined` when it cannot be an identity here. */
export function readResource({ resource }: JsonObject): Resource | undefined {
  if (!isRecord(resource) || typeof resource.organisatiecode !== 'string') return undefined;
  const organisatiecode = normaliseOrganisatiecode(resource.organisatiecode);
  const { bronidentificatie } = resource;
  if (organisatiecode === undefined || typeof bronidentificatie !== 'string') return undefined;
  const isUsable =
    bronidentificatie !== '' &&
    bronidentificatie.length <= MAX_NAME &&
    bronidentificatie.isWellFormed() &&
    !bronidentificatie.includes('\0');
  return isUsable ? { organisatiecode, bronidentificatie } : undefined;
}
