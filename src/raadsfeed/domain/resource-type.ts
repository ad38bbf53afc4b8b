import type { components } from '../../contracts/raadsfeed.ts';

/** The kinds of resource in the feed, as the draft spells them. */
export const RESOURCE_TYPES = [
  'Vergadering',
  'Agendapunt',
  'Informatieobject',
] as const satisfies readonly components['schemas']['ResourceType'][];
export type ResourceType = (typeof RESOURCE_TYPES)[number];

/** The path segment of the collection of each kind. */
export const COLLECTIONS = {
  Vergadering: 'vergaderingen',
  Agendapunt: 'agendapunten',
  Informatieobject: 'informatieobjecten',
} as const satisfies Record<ResourceType, string>;

export function isResourceType(value: unknown): value is ResourceType {
  return RESOURCE_TYPES.some((known) => known === value);
}
