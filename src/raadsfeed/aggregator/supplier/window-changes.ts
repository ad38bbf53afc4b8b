import { isMassDelete, type PubliceerRegel } from '../../domain/change.ts';
import { joinDocument } from './documents.ts';
import {
  documentName,
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
  const found = reading.complete ? findDeletes(reading, state) : new Map<string, DeleteLine>();
  const tooMany = found.size > 0 && isMassDelete(state.deletedBefore + found.size, state.total);
  const isWithheld = tooMany && !state.allowMassDelete;
  const mayDelete = reading.complete && !isWithheld;
  const deletes = mayDelete ? found : new Map<string, DeleteLine>();
  const known = new Map(state.known.map((item) => [item.key, item]));
  const items = reading.items.map((item) => toKnown(item, mayDelete ? undefined : known.get(item.key)));
  const obsolete = mayDelete ? reading.removed.map(({ key }) => key) : [];
  const touched = new Set([...obsolete, ...items.map(({ key }) => key)]);
  const remaining = [...items, ...state.known.filter(({ key }) => !touched.has(key))];
  return {
    upserts: [
      ...reading.items.flatMap(({ records }) => records),
      ...documentUpserts(reading, state, remaining, new Set(deletes.keys())),
    ],
    deletes: [...deletes.values()],
    withheld: isWithheld ? [...found.values()] : [],
    items,
    obsolete,
  };
}

/** Where nothing may be deleted, an item keeps its former parts, still in the feed, and is read again so that a later reading finds them removed. */
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

/** @param deleted by `partKey` */
function documentUpserts(
  reading: PublishableReading,
  state: WindowBaseline,
  remaining: readonly KnownItem[],
  deleted: ReadonlySet<string>,
): readonly UpsertLine[] {
  const own = reading.items.flatMap(({ key, parts }) =>
    parts
      .filter(({ resourceType }) => resourceType === 'Agendapunt')
      .map(({ bronidentificatie }) => [bronidentificatie, key] as const),
  );
  const meetings = new Map([...state.agendapunten, ...own]);
  const meetingOf = (bronidentificatie: string): string | undefined =>
    deleted.has(partKey({ resourceType: 'Agendapunt', bronidentificatie }))
      ? undefined
      : meetings.get(bronidentificatie);
  const read = new Map(reading.documents.map((document) => [document.bronidentificatie, document]));
  const changed = new Set([...reading.items, ...reading.removed].map(({ key }) => key));
  const parts = documentParts(remaining);
  const former = documentParts(state.known.filter(({ key }) => changed.has(key)));
  return [...new Set([...read.keys(), ...former.keys()])].flatMap((id): UpsertLine[] => {
    const { resourceType } = documentName(id);
    const key = partKey(documentName(id));
    if (deleted.has(key)) return [];
    const data = joinDocument({
      read: read.get(id),
      current: state.documents.get(id),
      parts: [...(parts.get(id) ?? []), ...(state.elsewhere.get(key) ?? [])],
      former: former.get(id) ?? [],
      meetingOf,
    });
    return data === undefined ? [] : [{ op: 'upsert', resourceType, data }];
  });
}

function documentParts(items: readonly KnownItem[]): ReadonlyMap<string, readonly Part[]> {
  const parts = items.flatMap((item) => item.parts).filter(({ resourceType }) => resourceType === 'Informatieobject');
  return Map.groupBy(parts, ({ bronidentificatie }) => bronidentificatie);
}
