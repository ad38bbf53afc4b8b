import type { PubliceerRegel } from '../../raadsfeed/domain/publiceer-regel.ts';
import { partKey } from '../resource-key.ts';
import { joinDocument } from './join-document.ts';
import type {
  GonePlace,
  KnownPlace,
  Part,
  ReadPlace,
  SourceData,
  UpsertLine,
  WindowReading,
} from './source-adapter.ts';

/** What the feed and the memory of a source hold, as far as it matters to one reading. */
export interface FeedState {
  readonly organisatiecode: string;
  /** The remembered places that were handed to the reading, and those with the key of a place in it. */
  readonly known: readonly KnownPlace[];
  /**
   * By `partKey`, of every part of the reading and of `known`, and of what the reading calls hidden: the parts of remembered places
   * that are not in `known`.
   */
  readonly elsewhere: ReadonlyMap<string, readonly Part[]>;
  /** Current data of the documents among those parts, by bronidentificatie. */
  readonly documents: ReadonlyMap<string, SourceData>;
  /** Of the agenda items that those parts mention and the feed has: their meeting. */
  readonly agendapunten: ReadonlyMap<string, string>;
  /** How many resources of the organisation the feed has. */
  readonly total: number;
  /** How many were deleted before in this round: the limit holds for all windows together. */
  readonly deletedBefore: number;
  /** An operator's word that more than a tenth may go. */
  readonly allowMassDelete: boolean;
}

/** A line that removes a resource. */
type DeleteLine = Extract<PubliceerRegel, { op: 'delete' | 'redact' }> & {
  readonly op: 'delete';
  readonly verwijderreden: GonePlace['verwijderreden'];
};

export interface WindowChanges {
  /** To publish, in this order. What did not change is a no-op to the log. */
  readonly upserts: readonly UpsertLine[];
  readonly deletes: readonly DeleteLine[];
  /** Deletes that would be more than a tenth of the organisation: nothing is deleted without an operator's word. */
  readonly withheld: readonly DeleteLine[];
  /** To remember. */
  readonly places: readonly KnownPlace[];
  /**
   * To remember first, where the changes take more than one transaction: everything that is being published, to be read again
   * whatever the supplier says. Whenever it stops, nothing is in the feed that is not remembered, nor taken for read.
   */
  readonly drafts: readonly KnownPlace[];
  /** To forget. */
  readonly forget: readonly string[];
}

/** What follows from a reading: records to publish and places to remember. Only a complete window deletes. */
export function deriveChanges(reading: WindowReading, state: FeedState): WindowChanges {
  const deletes = reading.complete ? findDeletes(reading, state) : [];
  const tooMany = (state.deletedBefore + deletes.length) * 10 > state.total;
  const withheld = tooMany && !state.allowMassDelete ? deletes : [];
  const mayDelete = reading.complete && withheld.length === 0;
  const known = new Map(state.known.map((place) => [place.place, place]));
  const places = reading.places.map((place) => mergePlace(place, known.get(place.place), mayDelete));
  const forget = mayDelete ? reading.gone.map(({ place }) => place) : [];
  const published = mayDelete ? deletes : [];
  const touched = new Set([...forget, ...places.map(({ place }) => place)]);
  const remaining = [...places, ...state.known.filter(({ place }) => !touched.has(place))];
  return {
    upserts: [
      ...reading.places.flatMap(({ records }) => records),
      ...documentUpserts(reading, state, remaining, new Set(published.map(keyOf))),
    ],
    deletes: published,
    withheld,
    places,
    drafts: reading.places.map((place) => ({
      ...mergePlace(place, known.get(place.place), false),
      lastModified: null,
    })),
    forget,
  };
}

function keyOf({ resourceType, resource }: DeleteLine): string {
  return partKey({ resourceType, bronidentificatie: resource.bronidentificatie });
}

/** What no place has any more, and what the supplier marks as not public wherever it still hangs. */
function findDeletes(reading: WindowReading, state: FeedState): readonly DeleteLine[] {
  const gone = new Map(reading.gone.map(({ place, verwijderreden }) => [place, verwijderreden]));
  const read = new Set(reading.places.map(({ place }) => place));
  const hidden = new Set(reading.hidden);
  const shielded = new Set(reading.shielded);
  const remaining = [...reading.places, ...state.known.filter(({ place }) => !gone.has(place) && !read.has(place))];
  const held = new Set(remaining.flatMap(({ parts }) => parts.map(partKey)));
  const deletes = new Map<string, DeleteLine>();
  // Only documents hang in several places; those that went before are still among the parts of a window that was not read since.
  const elsewhere = reading.hidden
    .flatMap((key) => state.elsewhere.get(key) ?? [])
    .filter(({ bronidentificatie }) => state.documents.has(bronidentificatie));
  for (const { place, parts } of [...state.known, { place: '', parts: elsewhere }]) {
    for (const part of parts) {
      const key = partKey(part);
      const isHidden = hidden.has(key);
      if (!isHidden && (held.has(key) || (state.elsewhere.get(key) ?? []).length > 0)) continue;
      const { resourceType, bronidentificatie } = part;
      const before = deletes.get(key)?.verwijderreden;
      const verwijderreden =
        isHidden || shielded.has(key) ? 'niet_langer_openbaar' : (before ?? gone.get(place) ?? 'ingetrokken');
      const resource = { organisatiecode: state.organisatiecode, bronidentificatie };
      deletes.set(key, { op: 'delete', resourceType, resource, verwijderreden });
    }
  }
  return [...deletes.values()];
}

/** Documents that were read, and those of which a place in the window let go. */
function documentUpserts(
  reading: WindowReading,
  state: FeedState,
  remaining: readonly KnownPlace[],
  deleted: ReadonlySet<string>,
): readonly UpsertLine[] {
  const read = new Map(reading.documents.map((document) => [document.bronidentificatie, document]));
  const meetings = meetingsOfAgendapunten(reading, state, deleted);
  const parts = documentParts(remaining);
  const touched = new Set([...read.keys(), ...letGo(reading, state)]);
  const upserts: UpsertLine[] = [];
  for (const id of touched) {
    const key = partKey({ resourceType: 'Informatieobject', bronidentificatie: id });
    if (deleted.has(key)) continue;
    const data = joinDocument({
      read: read.get(id),
      current: state.documents.get(id),
      parts: [...(parts.get(id) ?? []), ...(state.elsewhere.get(key) ?? [])],
      meetingOf: (agendapunt) => meetings.get(agendapunt),
    });
    if (data !== undefined) upserts.push({ op: 'upsert', resourceType: 'Informatieobject', data });
  }
  return upserts;
}

function documentParts(places: readonly KnownPlace[]): ReadonlyMap<string, readonly Part[]> {
  const parts = places
    .flatMap((place) => place.parts)
    .filter(({ resourceType }) => resourceType === 'Informatieobject');
  return Map.groupBy(parts, ({ bronidentificatie }) => bronidentificatie);
}

function letGo(reading: WindowReading, state: FeedState): readonly string[] {
  const changed = new Set([...reading.places, ...reading.gone].map(({ place }) => place));
  return [...documentParts(state.known.filter(({ place }) => changed.has(place))).keys()];
}

function meetingsOfAgendapunten(
  reading: WindowReading,
  state: FeedState,
  deleted: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const meetings = new Map(state.agendapunten);
  for (const { place, parts } of reading.places) {
    for (const part of parts) if (part.resourceType === 'Agendapunt') meetings.set(part.bronidentificatie, place);
  }
  for (const id of [...meetings.keys()]) {
    if (deleted.has(partKey({ resourceType: 'Agendapunt', bronidentificatie: id }))) meetings.delete(id);
  }
  return meetings;
}

/** What one transaction publishes, remembers and forgets. */
export interface WindowBatch {
  /** Lines for the writer of the feed. */
  readonly lines: readonly (UpsertLine | DeleteLine)[];
  readonly places: readonly KnownPlace[];
  readonly forget: readonly string[];
}

/**
 * Cuts changes into transactions of at most so many lines; one where they fit. The first of several only remembers: see `drafts`.
 * The last one, with the deletes, makes it final.
 */
export function windowBatches(changes: WindowChanges, maxLines: number): readonly WindowBatch[] {
  const { upserts, deletes, places, drafts, forget } = changes;
  const lines: WindowBatch['lines'] = [...upserts, ...deletes];
  if (lines.length <= maxLines) return [{ lines, places, forget }];
  const cut = Math.ceil(lines.length / maxLines);
  const parts = Array.from({ length: cut }, (_, index) => lines.slice(index * maxLines, (index + 1) * maxLines));
  return [
    { lines: [], places: drafts, forget: [] },
    ...parts.slice(0, -1).map((part) => ({ lines: part, places: [], forget: [] })),
    { lines: parts.at(-1) ?? [], places, forget },
  ];
}

/**
 * What is remembered of a place that was read. Where nothing may be deleted it keeps the parts that it had: they are still in
 * the feed, and a later reading has to find that they are gone.
 */
function mergePlace(read: ReadPlace, known: KnownPlace | undefined, mayDelete: boolean): KnownPlace {
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
