import { isMassDelete, type PubliceerRegel } from '../../domain/change.ts';
import { joinDocument } from './documents.ts';
import {
  type KnownItem,
  type Part,
  type PublishableReading,
  partKey,
  type ReadItem,
  type RemovedItem,
  type SourceData,
  type UpsertLine,
} from './source-adapter.ts';

/** The relevant part of the feed and the stored items before a reading. */
export interface WindowBaseline {
  readonly organisatiecode: string;
  /** The items given to the reading, and those with the key of an item in it. */
  readonly known: readonly KnownItem[];
  /** Parts of other items, by `partKey`, for every part of the reading and of `known` and every hidden resource. */
  readonly elsewhere: ReadonlyMap<string, readonly Part[]>;
  /** Of those parts, by bronidentificatie. */
  readonly documents: ReadonlyMap<string, SourceData>;
  /** Of each agenda item that those parts mention and the feed has. */
  readonly agendapunten: ReadonlyMap<string, string>;
  readonly total: number;
  /** In this round: the limit holds for all windows together. */
  readonly deletedBefore: number;
  readonly allowMassDelete: boolean;
}

type DeleteLine = Extract<PubliceerRegel, { op: 'delete' | 'redact' }> & {
  readonly op: 'delete';
  readonly verwijderreden: RemovedItem['verwijderreden'];
};

export interface WindowChanges {
  /** In this order. Unchanged records are no-ops. */
  readonly upserts: readonly UpsertLine[];
  readonly deletes: readonly DeleteLine[];
  /** More than a tenth of the organisation: they wait for an operator's consent. */
  readonly withheld: readonly DeleteLine[];
  readonly items: readonly KnownItem[];
  readonly obsolete: readonly string[];
}

/** Only a complete window deletes. */
export function deriveChanges(reading: PublishableReading, state: WindowBaseline): WindowChanges {
  const deletes = reading.complete ? findDeletes(reading, state) : new Map<string, DeleteLine>();
  const tooMany = isMassDelete(state.deletedBefore + deletes.size, state.total);
  const withheld = tooMany && !state.allowMassDelete ? [...deletes.values()] : [];
  const mayDelete = reading.complete && withheld.length === 0;
  const known = new Map(state.known.map((item) => [item.key, item]));
  const items = reading.items.map((item) => toKnown(item, mayDelete ? undefined : known.get(item.key)));
  const obsolete = mayDelete ? reading.removed.map(({ key }) => key) : [];
  const touched = new Set([...obsolete, ...items.map(({ key }) => key)]);
  const remaining = [...items, ...state.known.filter(({ key }) => !touched.has(key))];
  const upserts = [
    ...reading.items.flatMap(({ records }) => records),
    ...documentUpserts(reading, state, remaining, mayDelete ? deletes : new Map()),
  ];
  return { upserts, deletes: mayDelete ? [...deletes.values()] : [], withheld, items, obsolete };
}

/**
 * Where nothing may be deleted, an item keeps its former parts, which are still in the feed, and is read again so that a later reading
 * finds them removed.
 */
function toKnown({ records: _records, ...item }: ReadItem, kept: KnownItem | undefined): KnownItem {
  if (kept === undefined) return item;
  const parts = new Map(kept.parts.map((part) => [partKey(part), part]));
  for (const part of item.parts) parts.set(partKey(part), joinParts(part, parts.get(partKey(part))));
  return { ...item, parts: [...parts.values()], lastModified: null };
}

function joinParts(read: Part, kept: Part = read): Part {
  if (read.resourceType !== 'Informatieobject') return read;
  const union = (name: 'vergaderingen' | 'agendapunten'): readonly string[] => [
    ...new Set([...(read[name] ?? []), ...(kept[name] ?? [])]),
  ];
  return { ...kept, ...read, vergaderingen: union('vergaderingen'), agendapunten: union('agendapunten') };
}

/** Deletes resources that no item has any more, and those that are not public, whichever items have them. */
function findDeletes(reading: PublishableReading, state: WindowBaseline): ReadonlyMap<string, DeleteLine> {
  const removed = new Map(reading.removed.map(({ key, verwijderreden }) => [key, verwijderreden]));
  const read = new Set(reading.items.map(({ key }) => key));
  const hidden = new Set(reading.hidden.map(partKey));
  const underHidden = new Set(reading.underHidden.map(partKey));
  const remaining = [...reading.items, ...state.known.filter(({ key }) => !removed.has(key) && !read.has(key))];
  const held = new Set(remaining.flatMap(({ parts }) => parts.map(partKey)));
  const deletes = new Map<string, DeleteLine>();
  // Only documents belong to several items; deleted ones remain among the parts of windows not read since.
  const elsewhere = [...hidden]
    .flatMap((key) => state.elsewhere.get(key) ?? [])
    .filter(({ bronidentificatie }) => state.documents.has(bronidentificatie));
  for (const { key: itemKey, parts } of [...state.known, { key: '', parts: elsewhere }]) {
    for (const part of parts) {
      const key = partKey(part);
      const isHidden = hidden.has(key);
      if (!isHidden && (held.has(key) || (state.elsewhere.get(key) ?? []).length > 0)) continue;
      const { resourceType, bronidentificatie } = part;
      const before = deletes.get(key)?.verwijderreden;
      const verwijderreden =
        isHidden || underHidden.has(key) ? 'niet_langer_openbaar' : (before ?? removed.get(itemKey) ?? 'ingetrokken');
      const resource = { organisatiecode: state.organisatiecode, bronidentificatie };
      deletes.set(key, { op: 'delete', resourceType, resource, verwijderreden });
    }
  }
  return deletes;
}

function documentUpserts(
  reading: PublishableReading,
  state: WindowBaseline,
  remaining: readonly KnownItem[],
  deleted: ReadonlyMap<string, unknown>,
): readonly UpsertLine[] {
  const read = new Map(reading.documents.map((document) => [document.bronidentificatie, document]));
  const own = reading.items.flatMap(({ key, parts }) =>
    parts
      .filter(({ resourceType }) => resourceType === 'Agendapunt')
      .map((part) => [part.bronidentificatie, key] as const),
  );
  const meetings = new Map(
    [...state.agendapunten, ...own].filter(
      ([bronidentificatie]) => !deleted.has(partKey({ resourceType: 'Agendapunt', bronidentificatie })),
    ),
  );
  const parts = documentParts(remaining);
  const changed = new Set([...reading.items, ...reading.removed].map(({ key }) => key));
  const before = documentParts(state.known.filter(({ key }) => changed.has(key)));
  const touched = new Set([...read.keys(), ...before.keys()]);
  const upserts: UpsertLine[] = [];
  for (const id of touched) {
    const key = partKey({ resourceType: 'Informatieobject', bronidentificatie: id });
    if (deleted.has(key)) continue;
    const data = joinDocument({
      read: read.get(id),
      current: state.documents.get(id),
      parts: [...(parts.get(id) ?? []), ...(state.elsewhere.get(key) ?? [])],
      former: before.get(id) ?? [],
      meetingOf: (agendapunt) => meetings.get(agendapunt),
    });
    if (data !== undefined) upserts.push({ op: 'upsert', resourceType: 'Informatieobject', data });
  }
  return upserts;
}

function documentParts(items: readonly KnownItem[]): ReadonlyMap<string, readonly Part[]> {
  const parts = items.flatMap((item) => item.parts).filter(({ resourceType }) => resourceType === 'Informatieobject');
  return Map.groupBy(parts, ({ bronidentificatie }) => bronidentificatie);
}
