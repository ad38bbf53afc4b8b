import { createHash } from 'node:crypto';
import { type Resource, type ResourceType, resourceKey } from '../../raadsfeed/domain/resource.ts';

/** One text for one resource of an organisation, as key of a map and for people: `Vergadering/meeting-12`. */
export function partKey(part: { readonly resourceType: ResourceType; readonly bronidentificatie: string }): string {
  return `${part.resourceType}/${part.bronidentificatie}`;
}

/** The namespace of names that are addresses (RFC 9562 section 6.6), so that anybody can make the same identifier. */
const NAMESPACE_URL = Buffer.from('6ba7b8119dad11d180b400c04fd430c8', 'hex');

/** UUID version 5 (RFC 9562 section 5.5) of `organisatiecode/resourceType/bronidentificatie`. */
export function aggregatorId(resourceType: ResourceType, resource: Resource): string {
  const bytes = createHash('sha1').update(NAMESPACE_URL).update(resourceKey(resourceType, resource)).digest();
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex', 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
