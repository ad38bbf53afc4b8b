/**
 * What an adapter reads from a supplier: windows of days. A window has items (a meeting, a register entry), and an item has parts: its resources. A
 * resource exists as long as one item has it.
 */
import type { Verwijderreden } from '../../../lib/feed/record.ts';
import type { ResourceType } from '../../../lib/feed/resource.ts';
import type { ResourceData } from '../../domain/change.ts';
import type { SupplierOptions } from '../source.ts';

/** Dutch days as `YYYY-MM-DD`, both included. */
export interface DateWindow {
  readonly from: string;
  readonly to: string;
}

export interface AdapterSource {
  readonly organisationId: string;
  readonly organisatiecode: string;
  readonly naam: string;
  readonly portaal?: string;
  readonly options?: SupplierOptions;
  /** The days for which the organisation has this source; absent: all. */
  readonly period?: Partial<DateWindow>;
}

export interface PartName {
  readonly resourceType: ResourceType;
  readonly bronidentificatie: string;
}

/** A resource of an organisation as a map key and for people: `Vergadering/meeting-12`. */
export function partKey({ resourceType, bronidentificatie }: PartName): string {
  return `${resourceType}/${bronidentificatie}`;
}

export function documentName(bronidentificatie: string): PartName {
  return { resourceType: 'Informatieobject', bronidentificatie };
}

/** A resource of an item. Only documents have references: a document can belong to many items. */
export interface Part extends PartName {
  /** By which a register may refer to it: the type of a meeting, the number of an agenda item. */
  readonly label?: string;
  readonly vergaderingen?: readonly string[];
  /** Also agenda items that are only mentioned: published when the feed has that agenda item. */
  readonly agendapunten?: readonly string[];
  readonly wooinformatiecategorie?: string;
  /** For a document without a description. */
  readonly omschrijving?: string;
  /** The days of its meeting and register entry, for a document without a date. */
  readonly vergaderdag?: string;
  readonly registerdag?: string;
  /** The address of its file through this item, where that names the meeting: that of the earliest meeting counts. */
  readonly bestandsurl?: string;
}

export interface KnownItem {
  readonly key: string;
  /** Its window; the first day of the window where the supplier gives none. */
  readonly day: string;
  readonly parent: string | null;
  /** By `stampOf`; `null`: read it again whatever the supplier says. */
  readonly lastModified: string | null;
  /** When (UTC) it changes without being modified; `null`: never. */
  readonly readAgainAfter: string | null;
  readonly parts: readonly Part[];
}

export type SourceData = ResourceData & { readonly [member: string]: unknown };

export interface UpsertLine {
  readonly op: 'upsert';
  readonly resourceType: ResourceType;
  readonly data: SourceData;
}

export interface ReadItem extends KnownItem {
  /** Its meeting and agenda items; documents can belong to several items. */
  readonly records: readonly UpsertLine[];
}

/** A document as it was read, without members that follow from all its items. */
export interface DocumentRead {
  readonly bronidentificatie: string;
  /** 0 when the supplier gave none. */
  readonly version: number;
  readonly data: SourceData;
  /** Its day of submission, and that of its last modification; its date otherwise follows from its items. */
  readonly date?: string | undefined;
  readonly modifiedDay?: string | undefined;
  /** Of its own type; takes precedence over that of an item. */
  readonly wooinformatiecategorie?: string | undefined;
}

export interface SourceIssue {
  /** Stable code for its kind: `count-mismatch`. */
  readonly what: string;
  /** A call or resource: `/events/meetings/12`. */
  readonly where: string;
  readonly detail: string;
  readonly times: number;
  readonly blocking: boolean;
}

export interface RemovedItem {
  readonly key: string;
  readonly verwijderreden: Extract<Verwijderreden, 'niet_langer_openbaar' | 'ingetrokken'>;
}

/** Announced resources that were not read, so have no name: they count as missing. */
export interface UnreadCount {
  readonly month: string;
  readonly count: number;
}

/** Counts of resources left out; the count of confidential ones is not confidential. */
export type LeftOut = { readonly [why in 'confidential' | 'bodies' | 'period']: number };

/** The part of a reading that changes of the feed follow from. */
export interface PublishableReading {
  readonly window: DateWindow;
  /** Everything in the window was read without an error: only then may anything be deleted. */
  readonly complete: boolean;
  readonly items: readonly ReadItem[];
  readonly removed: readonly RemovedItem[];
  readonly documents: readonly DocumentRead[];
  /** Not public: deleted, whatever items have it. */
  readonly hidden: readonly PartName[];
  /** Parts of something that is not public, deleted for that reason when no other item has them. */
  readonly underHidden: readonly PartName[];
}

export interface WindowReading extends PublishableReading {
  readonly depth: 'quick' | 'full';
  /** Keys of known items that were not read again, because they did not change. */
  readonly unchanged: readonly string[];
  readonly unread: readonly UnreadCount[];
  readonly leftOut: LeftOut;
  /** A meeting or an agenda item is confidential: which documents belong to it is unknown. */
  readonly hasConfidential: boolean;
  readonly issues: readonly SourceIssue[];
}

export interface MeetingsRead {
  readonly hasConfidential: boolean;
  /** A window was not read completely, or not at all. */
  readonly isUnread: boolean;
}

export interface WindowRequest {
  readonly source: AdapterSource;
  readonly window: DateWindow;
  /** `quick` skips items that were not modified since they were last read. */
  readonly depth: 'quick' | 'full';
  /** Those whose `day` is in the window. */
  readonly known: readonly KnownItem[];
  /** When the last complete reading of this window began. */
  readonly completeAt?: Date | undefined;
  readonly knownOn?: (day: string) => Promise<readonly KnownItem[]>;
  /** For documents that name no meeting. */
  readonly meetings?: () => Promise<MeetingsRead>;
  readonly signal: AbortSignal;
}

/** Shown to an operator before a source is added. */
export interface Preview {
  /** Of meetings with their bodies, and of registers. */
  readonly names: readonly string[];
  /** `leftOut`: how many of them `--bodies` excludes. */
  readonly total: number;
  readonly leftOut: number;
  readonly unconfirmed: readonly string[];
  readonly options?: SupplierOptions;
}

export function organisatieOf({ organisatiecode: code, naam }: AdapterSource): SourceData['organisatie'] {
  if (code.startsWith('gm')) return { gemeente: code, naam };
  return code.startsWith('pv') ? { provincie: code, naam } : { waterschap: code, naam };
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Drops members that are `undefined`: the feed has no such values. */
export function withoutAbsent<T extends Readonly<Record<string, unknown>>>(value: T): Present<T> {
  const result: Present<T> = {};
  for (const key in value) if (isPresent(value[key])) result[key] = value[key];
  return result;
}

function isPresent<T>(value: T): value is Exclude<T, undefined> {
  return value !== undefined;
}
