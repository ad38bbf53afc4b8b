import type { Verwijderreden } from '../../../lib/feed/record.ts';
import type { ResourceType } from '../../../lib/feed/resource.ts';
import type { ResourceData } from '../../domain/change.ts';
import type { SupplierOptions } from '../source.ts';

/**
 * The interface of a source that is not a feed. An adapter reads; it publishes and stores nothing: it gets the known items of a
 * window (`known`) and returns those that it read (`items`).
 *
 * Such a source is read in windows of days. A window has items (a meeting, an entry of a register); an item has parts (the resources
 * that exist because of it). A resource exists as long as one item has it.
 */
/** Days as `YYYY-MM-DD` in Dutch time; both are part of the window. */
export interface DateWindow {
  readonly from: string;
  readonly to: string;
}

export interface AdapterSource {
  /** Identification of the organisation at the supplier. */
  readonly organisationId: string;
  readonly organisatiecode: string;
  readonly naam: string;
  /** Address of the organisation's portal, for links that readers follow. */
  readonly portaal?: string;
  readonly options?: SupplierOptions;
  /** The days of which this source is the organisation's; absent: all. */
  readonly period?: Partial<DateWindow>;
}

export interface PartName {
  readonly resourceType: ResourceType;
  readonly bronidentificatie: string;
}

/** A resource of an item. Only documents have references: one document can belong to many items. */
export interface Part extends PartName {
  /** What others call it: the type of a meeting, the number of an agenda item. A register may refer to it so. */
  readonly label?: string;
  readonly vergaderingen?: readonly string[];
  /** Also agenda items that are only mentioned: a reference is published when the feed has that agenda item. */
  readonly agendapunten?: readonly string[];
  /** The Woo category that this item gives to the document. */
  readonly wooinformatiecategorie?: string;
  /** What the item says of a document that says nothing of itself. */
  readonly omschrijving?: string;
  /** The days of the meeting and of the register item that it belongs to: its date, when it has none of its own. */
  readonly vergaderdag?: string;
  readonly registerdag?: string;
  /** The address of its file through this item, where that names the meeting: that of the earliest meeting is published. */
  readonly bestandsurl?: string;
}

/** What is stored of an item, by its `key`. */
export interface KnownItem {
  /** `meeting-<id>` or `register-<register>-<id>`. */
  readonly key: string;
  /** The day that decides in which windows the item is expected; the first of the window where the supplier gives none. */
  readonly day: string;
  /** The item that this one belongs to. */
  readonly parent: string | null;
  /** `stampOf` what the supplier wrote; `null`: read this item again whatever the supplier says. */
  readonly lastModified: string | null;
  /** Moment (UTC) after which the item is different although nothing was modified; `null`: never. */
  readonly readAgainAfter: string | null;
  readonly parts: readonly Part[];
}

/** A resource in the form of the feed. */
export type SourceData = ResourceData & { readonly [member: string]: unknown };

/** A line to publish with. */
export interface UpsertLine {
  readonly op: 'upsert';
  readonly resourceType: ResourceType;
  readonly data: SourceData;
}

export interface ReadItem extends KnownItem {
  /** Its meeting and agenda items; documents are in `WindowReading.documents`, since they can belong to several items. */
  readonly records: readonly UpsertLine[];
}

/** A document as it was read, without the members that follow from all its items together. */
export interface DocumentRead {
  readonly bronidentificatie: string;
  /** Number of the current version; 0 when the supplier gave none. */
  readonly version: number;
  readonly data: SourceData;
  /** Its own day of submission, and the day on which it was modified; its date otherwise follows from its items. */
  readonly date?: string | undefined;
  readonly modifiedDay?: string | undefined;
  /** By its own type; takes precedence over that of an item. */
  readonly wooinformatiecategorie?: string | undefined;
}

/** A deviation from what is known of the supplier's interface. */
export interface SourceIssue {
  /** Stable word for the kind of issue: `count-mismatch`. */
  readonly what: string;
  /** The call or resource that it is about: `/events/meetings/12`. */
  readonly where: string;
  /** For people. */
  readonly detail: string;
  /** How often it was found in this reading. */
  readonly times: number;
  /** Whether it makes the window incomplete. */
  readonly blocking: boolean;
}

/** Why a known item is no longer shown. */
export interface RemovedItem {
  readonly key: string;
  readonly verwijderreden: Extract<Verwijderreden, 'niet_langer_openbaar' | 'ingetrokken'>;
}

/** Resources that the supplier says exist and that were not read, so have no name: they count as missing. */
export interface UnreadCount {
  /** `YYYY-MM`. */
  readonly month: string;
  readonly count: number;
}

/** Counts of what was left out: it is not confidential that there is something confidential. */
export interface LeftOut {
  readonly confidential: number;
  /** By `--bodies` and `--not-bodies`. */
  readonly bodies: number;
  /** Register entries of days outside the period of the source. */
  readonly period: number;
}

/** The part of a reading from which changes of the feed follow. */
export interface PublishableReading {
  readonly window: DateWindow;
  /** Everything in the window was read without an error: only then may something be deleted. */
  readonly complete: boolean;
  readonly items: readonly ReadItem[];
  /** Known items that are still shown and were not read again, because they did not change. */
  readonly unchanged: readonly string[];
  readonly removed: readonly RemovedItem[];
  readonly documents: readonly DocumentRead[];
  /** What the supplier marks as not public: deleted, whatever items have it. */
  readonly hidden: readonly PartName[];
  /** What belongs to something that is not public: when no other item has it, that is the reason for its delete. */
  readonly underHidden: readonly PartName[];
}

export interface WindowReading extends PublishableReading {
  readonly depth: 'quick' | 'full';
  readonly unread: readonly UnreadCount[];
  /** What the supplier shows and was left out on purpose. */
  readonly leftOut: LeftOut;
  /** A meeting or an agenda item is confidential: what belongs to it is not known. */
  readonly hasConfidential: boolean;
  readonly issues: readonly SourceIssue[];
}

/** What the last readings of all windows of days found. */
export interface MeetingsRead {
  readonly hasConfidential: boolean;
  /** A window was not read completely, or not at all. */
  readonly isUnread: boolean;
}

export interface WindowRequest {
  readonly source: AdapterSource;
  readonly window: DateWindow;
  /** `quick` skips what was not modified since it was last read; `full` reads everything. */
  readonly depth: 'quick' | 'full';
  /** The known items whose `day` is in the window. */
  readonly known: readonly KnownItem[];
  /** When a reading of this window that was complete last began. */
  readonly completeAt?: Date | undefined;
  /** The known items of a day, for what a register refers to. */
  readonly knownOn?: (day: string) => Promise<readonly KnownItem[]>;
  /** For documents that do not say what they belong to. */
  readonly meetings?: () => Promise<MeetingsRead>;
  readonly signal: AbortSignal;
}

/** What an operator sees of a source before it is added. */
export interface Preview {
  /** Names of meetings with their bodies, and of registers. */
  readonly names: readonly string[];
  /** Of how many those that `--bodies` leaves out. */
  readonly total: number;
  readonly leftOut: number;
  /** What nothing confirms and reading relies on. */
  readonly unconfirmed: readonly string[];
  /** The options of the source, with what was found out. */
  readonly options?: SupplierOptions;
}

export interface SourceAdapter {
  /** Its registers are read as a whole, in the window `REGISTERS`. */
  readonly hasRegisters: boolean;
  /** Milliseconds between quick readings of current windows, where the supplier bears fewer than others. */
  readonly quickAgainMs: number | undefined;
  /**
   * What reading takes beside what an operator gives: found once, when a source is added.
   * @throws {SupplierError} when it cannot be found
   */
  prepare(request: Pick<WindowRequest, 'source' | 'window' | 'signal'>): Promise<SupplierOptions>;
  /**
   * Names of what a window shows, in as few calls as possible; `undefined` where that would take as many as reading.
   * @throws {SupplierError} {SupplierFault} when it cannot be read
   */
  preview(request: Pick<WindowRequest, 'source' | 'window' | 'signal'>): Promise<Preview | undefined>;
  /**
   * Reads one window. Faults of the supplier are in the result, as issues.
   * @throws the signal's reason, when it is aborted
   */
  readWindow(request: WindowRequest): Promise<WindowReading>;
  /** Closes connections. */
  close(): Promise<void>;
}

const KINDS: ReadonlyMap<string, string> = new Map([
  ['gm', 'gemeente'],
  ['pv', 'provincie'],
  ['ws', 'waterschap'],
]);

/**
 * The `organisatie` of a resource.
 * @throws {TypeError} for a code that is not of a municipality, province or water board
 */
export function organisatieOf({ organisatiecode, naam }: AdapterSource): SourceData['organisatie'] {
  const kind = KINDS.get(organisatiecode.slice(0, 2));
  if (kind === undefined) throw new TypeError(`${organisatiecode} is not a code of an organisation`);
  return { [kind]: organisatiecode, naam };
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The object without its members that are `undefined`: in the feed a value is there or the member is not. */
export function withoutAbsent<T extends Readonly<Record<string, unknown>>>(value: T): Present<T> {
  const result: Present<T> = {};
  for (const key in value) if (isPresent(value[key])) result[key] = value[key];
  return result;
}

function isPresent<T>(value: T): value is Exclude<T, undefined> {
  return value !== undefined;
}
