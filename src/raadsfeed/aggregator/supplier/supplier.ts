/** The interface of a supplier: list a window, read an item, map it. What a window needs beside that is in `read-listed-window.ts`. */
import type { SupplierOptions } from '../source.ts';
import type { AttachedDocument } from './document-collector.ts';
import type { IssueLog } from './issue-log.ts';
import type { AdapterSource, KnownItem, PartName, UnreadCount, UpsertLine, WindowRequest } from './source-adapter.ts';

/** One reading, for everything that takes part in it. */
export interface Reading {
  readonly request: WindowRequest;
  readonly issues: IssueLog;
  readonly now: Date;
}

const HOUR_MS = 3_600_000;

/** Keeps for an hour what is read of an organisation, but not a failure. Readings at the same time share one call. */
export function keptForAnHour<T>(read: (reading: Reading) => Promise<T>): typeof read {
  const kept = new Map<string, { readonly value: Promise<T>; readonly until: number }>();
  return (reading) => {
    const { organisationId } = reading.request.source;
    const known = kept.get(organisationId);
    if (known !== undefined && known.until > reading.now.getTime()) return known.value;
    const value = read(reading);
    kept.set(organisationId, { value, until: reading.now.getTime() + HOUR_MS });
    const forget = () => kept.delete(organisationId);
    value.then((found) => found ?? forget(), forget);
    return value;
  };
}

/** A meeting or register entry as a list of the supplier shows it. */
export interface Listed {
  /** The `bronidentificatie` of the meeting, or a name of the register entry that begins in the same way. */
  readonly key: string;
  /** Its Dutch day, `YYYY-MM-DD`; of a register entry only what the list itself says. */
  readonly day: string | undefined;
  /** Text that changes when the item does; absent: it is read in every round. */
  readonly stamp: string | undefined;
  /** For people: `Gemeenteraad 2026-01-29`. */
  readonly naam: string;
  /** The names of its type, body or register, for `--bodies`; absent: only the item itself says them. */
  readonly bodies?: readonly string[];
  /** The supplier marks it as not public. */
  readonly hidden: boolean;
  /** The call that reads it, for issues; default: its key. */
  readonly path?: string;
  /** The resources that the list announces; default: one. They count as unread when the item cannot be read. */
  readonly announced?: UnreadCount;
}

interface ListedWindow<L extends Listed> {
  readonly listed: readonly L[];
  /** It shows only what changed since `request.completeAt`: the other known items are as they were. */
  readonly onlyChanged?: boolean;
}

/** An item in the form of the feed. */
export interface MappedItem {
  /** A meeting with its agenda items, each once; empty for a register entry. */
  readonly records: readonly UpsertLine[];
  /** By `bronidentificatie` of those records: what a register may call them. */
  readonly labels?: ReadonlyMap<string, string>;
  /** The names of its body, where the list does not say them. */
  readonly bodies?: readonly string[];
  /** What may be published. */
  readonly documents: readonly AttachedDocument[];
  /** What is marked as not public. */
  readonly hidden: readonly PartName[];
  /** Documents that belong to something that is not public. */
  readonly underHidden: readonly string[];
  /** Moment (UTC) after which the item is different although nothing was modified; `null`: never. */
  readonly readAgainAfter: string | null;
  /** The day that it says itself, where the list gives none. */
  readonly day?: string | undefined;
  /** Where the item has a stamp of its own; `undefined`: read it again in every round. */
  readonly stamp?: string | undefined;
  /** Key of the item that it is a part of. */
  readonly parent?: string | undefined;
  /** Resources that were announced and not shown. */
  readonly unread?: number;
}

/**
 * An item as it was read.
 * - `hidden`: not public, with the documents that were shown all the same
 * - `missing`: the supplier does not have it any more
 * - `failed`: not known; an issue says why
 */
export type Found<T> =
  | { readonly kind: 'found'; readonly value: T }
  | { readonly kind: 'hidden'; readonly hidden?: readonly PartName[]; readonly underHidden?: readonly string[] }
  | { readonly kind: 'missing' | 'failed' };

/** A reading whose items are all read. */
export interface Mapping extends Reading {
  /** Whether an item of this window is published, or may still be because it could not be read. */
  readonly isShown: (key: string) => boolean;
}

/**
 * A supplier of council information. Every deviation from what is known of its answers goes into `reading.issues`; a call that gave
 * nothing usable throws `SupplierError`, which makes the window incomplete.
 */
export interface Supplier<L extends Listed, D> {
  /** Its registers are listed in the window `REGISTERS`, beside those of days. */
  readonly hasRegisters: boolean;
  /** Its list takes as long as reading: no names are shown before a source is added. */
  readonly hasPreview?: false;
  readonly quickAgainMs?: number;
  /** @throws {SupplierError} */
  list(reading: Reading): Promise<ListedWindow<L>>;
  /** The whole of an item that was listed. @throws {SupplierError} */
  read(listed: L, reading: Reading): Promise<Found<D>>;
  /** Where only the item itself says whether it is confidential: whether its name may be shown. @throws {SupplierError} */
  isPublic?(listed: L, reading: Reading): Promise<boolean>;
  map(detail: D, listed: L, mapping: Mapping): Promise<MappedItem>;
  /** A known item that its list lacks, where it can be read by itself. @throws {SupplierError} */
  find?(known: KnownItem, reading: Reading): Promise<Found<L>>;
  /** What reading takes beside what an operator gives: found once, when a source is added. @throws {SupplierError} */
  prepare?(request: Pick<WindowRequest, 'source' | 'window' | 'signal'>): Promise<SupplierOptions>;
  /** What reading this source relies on and nothing confirms, for people: an issue of the source, and said before it is added. */
  unconfirmed?(source: AdapterSource): readonly string[];
  close(): Promise<void>;
}
