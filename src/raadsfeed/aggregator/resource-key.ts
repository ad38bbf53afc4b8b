import type { ResourceType } from '../../lib/feed/resource.ts';

/** One text for one resource of an organisation, as key of a map and for people: `Vergadering/meeting-12`. */
export function partKey(part: { readonly resourceType: ResourceType; readonly bronidentificatie: string }): string {
  return `${part.resourceType}/${part.bronidentificatie}`;
}
