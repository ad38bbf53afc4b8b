import type { ResourceType } from '../../lib/feed/resource.ts';

/** A resource of an organisation as a map key and for people: `Vergadering/meeting-12`. */
export function partKey(part: { readonly resourceType: ResourceType; readonly bronidentificatie: string }): string {
  return `${part.resourceType}/${part.bronidentificatie}`;
}
