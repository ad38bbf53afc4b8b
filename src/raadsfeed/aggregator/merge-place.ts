import { partKey } from './part-key.ts';
import type { KnownPlace, Part, ReadPlace } from './source-adapter.ts';

/**
 * What is remembered of a place that was read. Where nothing may be deleted it keeps the parts that it had: they are still in
 * the feed, and a later reading has to find that they are gone.
 */
export function mergePlace(read: ReadPlace, known: KnownPlace | undefined, mayDelete: boolean): KnownPlace {
  const { complete: _complete, records: _records, ...place } = read;
  if (mayDelete || known === undefined) return place;
  const parts = new Map(place.parts.map((part) => [partKey(part), part]));
  let kept = false;
  for (const part of known.parts) {
    const same = parts.get(partKey(part));
    const joined = same === undefined ? part : join(same, part);
    kept ||= same === undefined || size(joined) > size(same);
    parts.set(partKey(part), joined);
  }
  // Something may be gone: the place has to be read again, whatever the supplier says about modifications.
  return { ...place, parts: [...parts.values()], lastModified: kept ? null : place.lastModified };
}

function size({ vergaderingen = [], agendapunten = [] }: Part): number {
  return vergaderingen.length + agendapunten.length;
}

function join(read: Part, known: Part): Part {
  if (read.resourceType !== 'Informatieobject') return read;
  const registerdag = read.registerdag ?? known.registerdag;
  return {
    ...read,
    ...(registerdag === undefined ? {} : { registerdag }),
    vergaderingen: [...new Set([...(read.vergaderingen ?? []), ...(known.vergaderingen ?? [])])],
    agendapunten: [...new Set([...(read.agendapunten ?? []), ...(known.agendapunten ?? [])])],
  };
}
