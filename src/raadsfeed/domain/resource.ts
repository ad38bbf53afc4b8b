import { COLLECTIONS, type ResourceType } from './resource-type.ts';

/** The identity of a resource, together with its kind; goes unchanged through an aggregator. */
export interface Resource {
  readonly organisatiecode: string;
  readonly bronidentificatie: string;
}

const ORGANISATIECODE = /^(gm[0-9]{4}|pv[0-9]{2}|ws[0-9]{4})$/;

/** The code in lower case, or `undefined` when it is none. */
export function normaliseOrganisatiecode(text: string): string | undefined {
  const code = text.toLowerCase();
  return ORGANISATIECODE.test(code) ? code : undefined;
}

/** The address of a resource below the mount of the feed. */
export function resourcePath(resourceType: ResourceType, { organisatiecode, bronidentificatie }: Resource): string {
  return `/organisaties/${organisatiecode}/${COLLECTIONS[resourceType]}/${encodeURIComponent(bronidentificatie)}`;
}

/** One text for one resource of one kind, for use as the key of a map. */
export function resourceKey(resourceType: ResourceType, { organisatiecode, bronidentificatie }: Resource): string {
  return `${organisatiecode}/${resourceType}/${bronidentificatie}`;
}
