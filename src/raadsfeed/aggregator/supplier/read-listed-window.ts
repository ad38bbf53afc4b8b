/** Reads one window of a supplier: lists, reads and maps its items, and finds those that are gone. */
import type { Clock } from '../../../lib/time.ts';
import { createBodyFilter } from './body-filter.ts';
import { isNewer, partsOf } from './documents.ts';
import { IssueLog } from './issue-log.ts';
import {
  type DocumentRead,
  documentName,
  type KnownItem,
  type PartName,
  type Preview,
  partKey,
  type ReadItem,
  type RemovedItem,
  type UnreadCount,
  type WindowReading,
  type WindowRequest,
} from './source-adapter.ts';
import type { Found, Listed, ListedWindow, MappedItem, Mapping, Reading, Supplier } from './supplier.ts';
import { SupplierError } from './supplier-client.ts';
import { inWindow, isRegisters, periodOf } from './windows.ts';

export type SourceAdapter = ReturnType<typeof createAdapter>;

type Request = Pick<WindowRequest, 'source' | 'window' | 'signal'>;

/** A supplier as a source; it publishes and stores nothing. */
export function createAdapter(supplier: Supplier, clock: Clock) {
  const { hasRegisters, quickAgainMs, hasPreview = true } = supplier;
  return {
    hasRegisters,
    quickAgainMs,
    /** Faults of the supplier are issues of the reading. @throws the signal's reason */
    readWindow: (request: WindowRequest) => new WindowReader(supplier, request, clock.now()).read(),
    prepare: async (request: Request) => (await supplier.prepare?.(request)) ?? {},
    /** Names in a window, by few calls; `undefined` where that takes as many as reading. @throws {SupplierError} {SupplierFault} */
    preview: async (request: Request) =>
      hasPreview ? await preview(supplier, { ...request, depth: 'full', known: [] }, clock.now()) : undefined,
    close: () => supplier.close(),
  };
}

/** Raise it when the same answers give other records: unmodified items are then read again, in quick rounds too. */
const MAPPING = 2;

function stampOf(supplied: string | undefined): string | null {
  return supplied === undefined ? null : `${MAPPING} ${supplied}`;
}

const MAX_NAMES = 10;

async function preview(supplier: Supplier, request: WindowRequest, now: Date): Promise<Preview> {
  const isWanted = createBodyFilter(request.source.options ?? {});
  const issues = new IssueLog();
  const { listed } = await supplier.list({ request, now, issues });
  const [fault] = issues.all().filter(({ blocking }) => blocking);
  // Unread days are not empty days.
  if (listed.length === 0 && fault !== undefined) throw new SupplierError('unreadable', fault.detail);
  const named = await Promise.all(listed.map(async (one) => ({ one, bodies: await bodiesOf(one) })));
  // A hidden item's name is not shown.
  const shown = named.flatMap(({ one, bodies }) => (bodies === undefined ? [] : [{ one, bodies }]));
  const wanted = shown.filter(({ bodies }) => isWanted(bodies));
  const byName = new Map(wanted.map(({ one, bodies }) => [[...new Set([one.naam, ...bodies])].join(' · '), one]));
  const names = await Promise.all(
    [...byName].slice(0, MAX_NAMES).map(async ([name, one]) => ((await one.isPublic?.()) === false ? [] : [name])),
  );
  const unconfirmed = supplier.unconfirmed?.(request.source) ?? [];
  return { names: names.flat(), total: listed.length, leftOut: shown.length - wanted.length, unconfirmed };
}

/** For some suppliers only the item itself has them. `undefined` when it is not public. */
async function bodiesOf(one: Listed): Promise<readonly string[] | undefined> {
  if (one.hidden) return undefined;
  if (one.bodies !== undefined) return one.bodies;
  const found = await one.read();
  return found.kind === 'found' ? (found.value(() => false).bodies ?? []) : undefined;
}

type HiddenParts = Pick<MappedItem, 'hidden' | 'underHidden'>;

interface ReadListed {
  readonly one: Listed;
  readonly found: Found<Mapping> | { readonly kind: 'unchanged' };
}

class WindowReader {
  readonly #supplier: Supplier;
  readonly #reading: Reading;
  readonly #issues = new IssueLog();
  readonly #known: ReadonlyMap<string, KnownItem>;
  readonly #isWanted: (names: readonly string[]) => boolean;
  readonly #items: ReadItem[] = [];
  readonly #unchanged: string[] = [];
  readonly #removed = new Map<string, RemovedItem['verwijderreden']>();
  readonly #documents = new Map<string, DocumentRead>();
  /** One hidden copy hides a document everywhere. */
  readonly #hidden = new Map<string, PartName>();
  readonly #underHidden = new Map<string, PartName>();
  readonly #hiddenItems = new Set<string>();
  readonly #outcomes = new Map<string, ReadListed['found']['kind']>();
  readonly #unread: UnreadCount[] = [];
  readonly #leftOut = { confidential: 0, bodies: 0, period: 0 };
  #hidesSome = false;

  constructor(supplier: Supplier, request: WindowRequest, now: Date) {
    this.#supplier = supplier;
    this.#reading = { request, now, issues: this.#issues };
    this.#known = new Map(request.known.map((item) => [item.key, item]));
    this.#isWanted = createBodyFilter(request.source.options ?? {});
  }

  async read(): Promise<WindowReading> {
    const unconfirmed = this.#supplier.unconfirmed?.(this.#reading.request.source) ?? [];
    for (const detail of unconfirmed) this.#issues.add('unconfirmed-form', 'source', detail);
    const list = await this.#attempt('list', () => this.#supplier.list(this.#reading));
    const seen = new Set<string>();
    const shown = (list?.listed ?? []).filter((one) => this.#isShown(one, seen));
    const read = await Promise.all(shown.map((one) => this.#readListed(one)));
    for (const { one, found } of read) this.#outcomes.set(one.key, found.kind);
    this.#addItems(read);
    const missing = [...this.#known.values()].filter(({ key }) => !seen.has(key));
    if (list?.onlyChanged === true) this.#unchanged.push(...missing.map(({ key }) => key));
    // A failed item may still exist: missing items are looked for only when everything else was read.
    else if (!this.#issues.blocked) {
      const moved = await Promise.all(missing.map((item) => this.#findMissing(item, list)));
      this.#addItems(moved.filter((one) => one !== undefined));
    }
    return this.#result();
  }

  /** `undefined` after a failure, which is reported. */
  async #attempt<T>(where: string, call: () => Promise<T>): Promise<T | undefined> {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof SupplierError)) throw error;
      this.#issues.failed(where, error);
      return undefined;
    }
  }

  /** Whether to read it. An item listed on a wrong day does not count as seen. */
  #isShown({ key, day, hidden, bodies }: Listed, seen: Set<string>): boolean {
    const { window } = this.#reading.request;
    if (seen.has(key)) {
      this.#issues.add('unusable-value', key, 'is listed twice; the first is used');
      return false;
    }
    if (day !== undefined && !isRegisters(window) && !inWindow(day, window)) {
      this.#issues.add('unusable-value', key, `is listed in ${window.from} to ${window.to} and is of ${day}`);
      return false;
    }
    seen.add(key);
    if (bodies !== undefined && this.#isOfOther(key, bodies)) return false;
    if (hidden) this.#hideItem(key);
    return !hidden;
  }

  /** An item that lost its name is not withdrawn. */
  #isOfOther(key: string, names: readonly string[]): boolean {
    if (this.#isWanted(names)) return false;
    this.#leftOut.bodies += 1;
    if (names.length > 0) this.#remove(key, 'ingetrokken');
    else if (this.#known.has(key)) this.#issues.add('unexpected-answer', key, 'has no name any more for --bodies');
    return true;
  }

  #hideItem(key: string, shown: Partial<HiddenParts> = {}): void {
    this.#hidesSome = true;
    this.#hiddenItems.add(key);
    this.#leftOut.confidential += 1;
    this.#remove(key, 'niet_langer_openbaar');
    this.#hideParts(shown);
    for (const { resourceType, bronidentificatie } of this.#known.get(key)?.parts ?? []) {
      const part = { resourceType, bronidentificatie };
      (resourceType === 'Informatieobject' ? this.#underHidden : this.#hidden).set(partKey(part), part);
    }
  }

  #hideParts({ hidden = [], underHidden = [] }: Partial<HiddenParts>): void {
    for (const part of hidden) this.#hidden.set(partKey(part), part);
    for (const part of underHidden) this.#underHidden.set(partKey(part), part);
    this.#leftOut.confidential += hidden.length + underHidden.length;
  }

  #remove(key: string, verwijderreden: RemovedItem['verwijderreden']): void {
    if (this.#known.has(key)) this.#removed.set(key, verwijderreden);
  }

  async #readListed(one: Listed): Promise<ReadListed> {
    if (this.#isUnchanged(one)) return { one, found: { kind: 'unchanged' } };
    const found = await this.#attempt(one.path ?? one.key, () => one.read());
    return { one, found: found ?? { kind: 'failed' } };
  }

  /** Quick rounds skip items that did not change since they were last read whole. */
  #isUnchanged({ key, stamp }: Listed): boolean {
    const known = this.#known.get(key);
    if (this.#reading.request.depth === 'full' || known === undefined || stamp === undefined) return false;
    if (known.lastModified !== stampOf(stamp)) return false;
    return known.readAgainAfter === null || Date.parse(known.readAgainAfter) > this.#reading.now.getTime();
  }

  #addItems(read: readonly ReadListed[]): void {
    for (const { one, found } of read) {
      if (found.kind === 'found')
        this.#addItem(
          one,
          found.value((key) => this.#isPublished(key)),
        );
      else if (found.kind === 'unchanged') this.#unchanged.push(one.key);
      else if (found.kind === 'hidden') this.#hideItem(one.key, found);
      else if (found.kind === 'failed') this.#unread.push(one.announced ?? { month: this.#monthOf(one), count: 1 });
      else this.#issues.add('call-failed', one.path ?? one.key, 'the supplier lists it and does not have it');
    }
  }

  #isPublished(key: string): boolean {
    const kind = this.#outcomes.get(key);
    return kind === 'found' || kind === 'unchanged' || (kind === 'failed' && this.#known.has(key));
  }

  #monthOf({ day }: Listed): string {
    return (day ?? this.#reading.request.window.from).slice(0, 7);
  }

  #addItem(one: Listed, mapped: MappedItem): void {
    const { window, source } = this.#reading.request;
    const { records, documents, labels, readAgainAfter, parent = null, unread = 0 } = mapped;
    const own = mapped.day ?? one.day;
    if (mapped.bodies !== undefined && this.#isOfOther(one.key, mapped.bodies)) return;
    if (isRegisters(window) && own !== undefined && !inWindow(own, periodOf(source.period))) {
      this.#leftOut.period += 1;
      this.#remove(one.key, 'ingetrokken');
      return;
    }
    if (mapped.hidden.some(({ resourceType }) => resourceType === 'Agendapunt')) this.#hidesSome = true;
    this.#hideParts(mapped);
    if (unread > 0) this.#unread.push({ month: one.announced?.month ?? this.#monthOf(one), count: unread });
    for (const { read } of documents) {
      const before = this.#documents.get(read.bronidentificatie);
      if (before === undefined || isNewer(read, before)) this.#documents.set(read.bronidentificatie, read);
    }
    const parts = records.map(({ resourceType, data: { bronidentificatie } }) => {
      const label = labels?.get(bronidentificatie);
      return { resourceType, bronidentificatie, ...(label === undefined ? {} : { label }) };
    });
    // An item that was not read whole is read again in every round.
    const isWhole = !this.#issues.blockedAt(one.path ?? one.key);
    this.#items.push({
      key: one.key,
      day: isRegisters(window) ? window.from : (own ?? window.from),
      parent,
      lastModified: isWhole ? stampOf('stamp' in mapped ? mapped.stamp : one.stamp) : null,
      readAgainAfter,
      parts: [...parts, ...partsOf(documents)],
      records,
    });
  }

  /** A missing item may have been moved to another day. @returns the item, when it is still ours and outside this window */
  async #findMissing(item: KnownItem, list: ListedWindow | undefined): Promise<ReadListed | undefined> {
    const { key, parent } = item;
    // Parts of a hidden item are hidden too, whatever their own answers say.
    if (parent !== null && this.#hiddenItems.has(parent)) return void this.#hideItem(key);
    const found = await this.#attempt(key, async () => (await list?.find?.(item)) ?? { kind: 'missing' as const });
    if (found?.kind === 'hidden') return void this.#hideItem(key, found);
    if (found?.kind === 'missing') return void this.#remove(key, 'ingetrokken');
    if (found?.kind !== 'found') return undefined;
    const { day, hidden, bodies } = found.value;
    if (hidden) return void this.#hideItem(key);
    const { window, source } = this.#reading.request;
    const isElsewhere = day === undefined || !inWindow(day, window);
    const isOurs =
      (bodies === undefined || this.#isWanted(bodies)) && (day === undefined || inWindow(day, periodOf(source.period)));
    if (!isElsewhere || !isOurs) return void this.#remove(key, 'ingetrokken');
    const read = await this.#attempt(key, () => found.value.read());
    return read === undefined ? undefined : { one: found.value, found: read };
  }

  #result(): WindowReading {
    const { window, depth } = this.#reading.request;
    // No other part belongs to several items.
    const isPublic = ({ bronidentificatie }: Pick<PartName, 'bronidentificatie'>): boolean =>
      !this.#hidden.has(partKey(documentName(bronidentificatie)));
    return {
      window,
      depth,
      complete: !this.#issues.blocked,
      items: this.#items.map((item) => ({ ...item, parts: item.parts.filter(isPublic) })),
      unchanged: this.#unchanged,
      removed: [...this.#removed].map(([key, verwijderreden]) => ({ key, verwijderreden })),
      documents: [...this.#documents.values()].filter(isPublic),
      hidden: [...this.#hidden.values()],
      underHidden: [...this.#underHidden.values()],
      unread: this.#unread,
      leftOut: this.#leftOut,
      hasConfidential: this.#hidesSome,
      issues: this.#issues.all(),
    };
  }
}
