/** The interface of a supplier: it lists a window, and each listed item reads and maps itself; `read-listed-window.ts` does the rest. */
import type { SupplierOptions } from '../source.ts';
import type { AttachedDocument } from './documents.ts';
import type { IssueLog } from './issue-log.ts';
import type { AdapterSource, KnownItem, PartName, UnreadCount, UpsertLine, WindowRequest } from './source-adapter.ts';

export interface Reading {
  readonly request: WindowRequest;
  readonly issues: IssueLog;
  readonly now: Date;
}

const HOUR_MS = 3_600_000;

/** Keeps the result for each organisation for an hour, but not a failure. Concurrent readings share one call. */
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

/** A meeting or register entry as a list shows it. */
export interface Listed {
  /** The `bronidentificatie` of the meeting, or a similar name of the register entry. */
  readonly key: string;
  /** Its Dutch day, `YYYY-MM-DD`; of a register entry only when the list shows it. */
  readonly day: string | undefined;
  /** Changes with the item; `undefined`: the item is read in every round. */
  readonly stamp: string | undefined;
  /** For people: `Gemeenteraad 2026-01-29`. */
  readonly naam: string;
  /** Names of its type, body or register, for `--bodies`; absent: only the item itself has them. */
  readonly bodies?: readonly string[];
  readonly hidden: boolean;
  /** The call that reads it, for issues; default: its key. */
  readonly path?: string;
  /** Announced resources, which count as unread when the item cannot be read; default: one. */
  readonly announced?: UnreadCount;
  read(): Promise<Found<Mapping>>;
  /** Whether its name may be shown, where only the item itself says so. @throws {SupplierError} */
  isPublic?(): Promise<boolean>;
}

/** After all items were read. @param isShown whether an item of this window is published, or may still be because it could not be read */
export type Mapping = (isShown: (key: string) => boolean) => MappedItem;

export interface MappedItem {
  /** A meeting with its agenda items, each once; empty for a register entry. */
  readonly records: readonly UpsertLine[];
  /** Names by which a register may refer to those records, by `bronidentificatie`. */
  readonly labels?: ReadonlyMap<string, string>;
  /** Where the list does not show them. */
  readonly bodies?: readonly string[];
  readonly documents: readonly AttachedDocument[];
  readonly hidden: readonly PartName[];
  /** Documents that belong to something that is not public. */
  readonly underHidden: readonly PartName[];
  /** When (UTC) it changes without being modified; `null`: never. */
  readonly readAgainAfter: string | null;
  readonly day?: string | undefined;
  /** Instead of that of the list; `undefined`: read it again in every round. */
  readonly stamp?: string | undefined;
  readonly parent?: string | undefined;
  readonly unread?: number;
}

/**
 * An item as it was read.
 * - `hidden`: not public, with any documents that were shown nevertheless
 * - `missing`: the supplier no longer has it
 * - `failed`: unknown; an issue says why
 */
export type Found<T> =
  | { readonly kind: 'found'; readonly value: T }
  | { readonly kind: 'hidden'; readonly hidden?: readonly PartName[]; readonly underHidden?: readonly PartName[] }
  | { readonly kind: 'missing' | 'failed' };

export function foundAs<T, U>(found: Found<T>, make: (value: T) => U): Found<U> {
  return found.kind === 'found' ? { kind: 'found', value: make(found.value) } : found;
}

export interface ListedWindow {
  readonly listed: readonly Listed[];
  /** Only changes since `request.completeAt` are listed: other known items are unchanged. */
  readonly onlyChanged?: boolean;
  /** A known item that the list lacks; absent: it is withdrawn. @throws {SupplierError} */
  find?(known: KnownItem): Promise<Found<Listed>>;
}

/** Deviations from the known interface go into `reading.issues`; a failed call throws `SupplierError`, which makes the window incomplete. */
export interface Supplier {
  /** Listed in the window `REGISTERS`, beside those of days. */
  readonly hasRegisters: boolean;
  /** Its list takes as long as reading. */
  readonly hasPreview?: false;
  readonly quickAgainMs?: number;
  list(reading: Reading): Promise<ListedWindow>;
  /** Options that are found once, when a source is added. @throws {SupplierError} */
  prepare?(request: Pick<WindowRequest, 'source' | 'window' | 'signal'>): Promise<SupplierOptions>;
  /** Assumptions that nothing confirms: issues of the source, shown before it is added. */
  unconfirmed?(source: AdapterSource): readonly string[];
  close(): Promise<void>;
}
