/** Reads one window of a supplier: what is listed, read, mapped, left out and gone. */
import type { Clock } from '../../../lib/time.ts';
import { createBodyFilter } from './body-filter.ts';
import { DocumentCollector } from './document-collector.ts';
import { IssueLog } from './issue-log.ts';
import { stampOf } from './mapping.ts';
import type {
  KnownItem,
  PartName,
  Preview,
  ReadItem,
  RemovedItem,
  SourceAdapter,
  WindowReading,
  WindowRequest,
} from './source-adapter.ts';
import type { Found, Listed, MappedItem, Reading, Supplier } from './supplier.ts';
import { SupplierError } from './supplier-client.ts';
import { inWindow, isRegisters, periodOf } from './windows.ts';

/** A supplier as a source of the feed. */
export function createAdapter<L extends Listed, D>(supplier: Supplier<L, D>, clock: Clock): SourceAdapter {
  const { hasRegisters, quickAgainMs } = supplier;
  return {
    hasRegisters,
    ...(quickAgainMs === undefined ? {} : { quickAgainMs }),
    readWindow: (request) => new WindowReader(supplier, request, clock.now()).read(),
    prepare: async (request) => (await supplier.prepare?.(request)) ?? {},
    preview: (request) => preview(supplier, { ...request, depth: 'full', known: [] }, clock.now()),
    close: () => supplier.close(),
  };
}

/** Names in a preview at most: some take a call each. */
const MAX_NAMES = 10;

async function preview<L extends Listed, D>(
  supplier: Supplier<L, D>,
  request: WindowRequest,
  now: Date,
): Promise<Preview> {
  const isWanted = createBodyFilter(request.source.options ?? {});
  const reading = { request, now, issues: new IssueLog() };
  const { listed: all } = await supplier.list(reading);
  const [fault] = reading.issues.all().filter(({ blocking }) => blocking);
  // Days that could not be read are not days without meetings.
  if (all.length === 0 && fault !== undefined) throw new SupplierError('unreadable', fault.detail);
  const listed = await Promise.all(all.map(async (one) => ({ one, ...(await named(supplier, one, reading)) })));
  // A name that is not public is not shown either.
  const wanted = listed.filter(({ hidden, bodies }) => !hidden && isWanted(bodies));
  const byName = new Map(wanted.map(({ one, naam, bodies }) => [[...new Set([naam, ...bodies])].join(' · '), one]));
  const names = await Promise.all(
    [...byName]
      .slice(0, MAX_NAMES)
      .map(async ([name, one]) => ((await supplier.isPublic?.(one, reading)) === false ? [] : [name])),
  );
  const leftOut = listed.filter(({ hidden, bodies }) => !hidden && !isWanted(bodies)).length;
  const unconfirmed = supplier.unconfirmed?.(request.source) ?? [];
  return { names: names.flat(), total: listed.length, leftOut, unconfirmed };
}

/** An item of a list with its names, which for some suppliers only the item itself says. */
async function named<L extends Listed, D>(
  supplier: Supplier<L, D>,
  one: L,
  reading: Reading,
): Promise<Pick<Listed, 'naam' | 'hidden'> & { readonly bodies: readonly string[] }> {
  const { naam, hidden, bodies } = one;
  if (bodies !== undefined || hidden) return { naam, hidden, bodies: bodies ?? [] };
  const found = await supplier.read(one, reading);
  if (found.kind !== 'found') return { naam, hidden: true, bodies: [] };
  return { naam, hidden, bodies: (await supplier.map(found.value, one, reading)).bodies ?? [] };
}

interface MappedListed<L> {
  readonly one: L;
  readonly mapped: MappedItem;
}

class WindowReader<L extends Listed, D> {
  readonly #supplier: Supplier<L, D>;
  readonly #reading: Reading;
  readonly #issues = new IssueLog();
  readonly #collector = new DocumentCollector();
  readonly #known: ReadonlyMap<string, KnownItem>;
  readonly #isWanted: (names: readonly string[]) => boolean;
  readonly #items: ReadItem[] = [];
  readonly #unchanged: string[] = [];
  readonly #removed = new Map<string, RemovedItem['verwijderreden']>();
  readonly #hidden: PartName[] = [];
  readonly #unread: { readonly month: string; readonly count: number }[] = [];
  readonly #leftOut = { confidential: 0, bodies: 0, period: 0 };
  /** A meeting or an agenda item is confidential: what hangs on it is not known. */
  #hidesSome = false;

  constructor(supplier: Supplier<L, D>, request: WindowRequest, now: Date) {
    this.#supplier = supplier;
    this.#reading = { request, now, issues: this.#issues };
    this.#known = new Map(request.known.map((item) => [item.key, item]));
    this.#isWanted = createBodyFilter(request.source.options ?? {});
  }

  async read(): Promise<WindowReading> {
    const { source } = this.#reading.request;
    for (const detail of this.#supplier.unconfirmed?.(source) ?? [])
      this.#issues.add('unconfirmed-form', 'source', detail);
    const list = await this.#attempt('list', () => this.#supplier.list(this.#reading));
    const seen = new Set<string>();
    const shown = (list?.listed ?? []).filter((one) => this.#isShown(one, seen));
    const read = await Promise.all(shown.map((one) => this.#readListed(one)));
    for (const found of read) this.#addItem(found);
    const missing = [...this.#known.values()].filter(({ key }) => !seen.has(key));
    if (list?.onlyChanged === true) this.#unchanged.push(...missing.map(({ key }) => key));
    // A failed item may still exist: missing items are only looked for when everything else was read.
    else if (!this.#issues.blocked) await Promise.all(missing.map((item) => this.#findMissing(item)));
    return this.#result();
  }

  /** `undefined` when the supplier gave nothing usable, which is an issue. */
  async #attempt<T>(where: string, call: () => Promise<T>): Promise<T | undefined> {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof SupplierError)) throw error;
      this.#issues.failed(where, error);
      return undefined;
    }
  }

  /** Whether it is read: public, of the organisation, and of this window. What was not listed twice counts as seen. */
  #isShown(one: L, seen: Set<string>): boolean {
    const { key, day, hidden, bodies } = one;
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

  /** Leaves out what the names say is of another body; what had a name and has none any more is not withdrawn. */
  #isOfOther(key: string, names: readonly string[]): boolean {
    if (this.#isWanted(names)) return false;
    this.#leftOut.bodies += 1;
    if (names.length > 0) this.#remove(key, 'ingetrokken');
    else if (this.#known.has(key)) this.#issues.add('unexpected-answer', key, 'has no name any more for --bodies');
    return true;
  }

  #hideItem(key: string): void {
    this.#hidesSome = true;
    this.#leftOut.confidential += 1;
    this.#remove(key, 'niet_langer_openbaar');
    for (const part of this.#known.get(key)?.parts ?? []) {
      if (part.resourceType === 'Informatieobject') this.#collector.hideUnder(part.bronidentificatie);
      else this.#hidden.push({ resourceType: part.resourceType, bronidentificatie: part.bronidentificatie });
    }
  }

  #remove(key: string, verwijderreden: RemovedItem['verwijderreden']): void {
    if (this.#known.has(key)) this.#removed.set(key, verwijderreden);
  }

  async #readListed(one: L): Promise<MappedListed<L> | undefined> {
    if (this.#isUnchanged(one)) {
      this.#unchanged.push(one.key);
      return undefined;
    }
    const found = await this.#attempt(one.key, () => this.#supplier.read(one, this.#reading));
    if (found === undefined) {
      this.#unread.push({ month: (one.day ?? this.#reading.request.window.from).slice(0, 7), count: 1 });
      return undefined;
    }
    return await this.#judge(one, found);
  }

  async #judge(one: L, found: Found<D>): Promise<MappedListed<L> | undefined> {
    if (found.kind === 'hidden') this.#hideItem(one.key);
    if (found.kind === 'missing') {
      this.#issues.add('call-failed', one.key, 'the supplier lists it and does not have it');
    }
    if (found.kind !== 'found') return undefined;
    return { one, mapped: await this.#supplier.map(found.value, one, this.#reading) };
  }

  /** In a quick round, what did not change since it was last read as a whole is not read again. */
  #isUnchanged({ key, stamp }: L): boolean {
    const known = this.#known.get(key);
    if (this.#reading.request.depth === 'full' || known === undefined || stamp === undefined) return false;
    if (known.lastModified !== stampOf(stamp)) return false;
    return known.readAgainAfter === null || Date.parse(known.readAgainAfter) > this.#reading.now.getTime();
  }

  #addItem(read: MappedListed<L> | undefined): void {
    if (read === undefined) return;
    const { one, mapped } = read;
    const { window, source } = this.#reading.request;
    const { records, documents, labels, readAgainAfter } = mapped;
    const own = mapped.day ?? one.day;
    if (mapped.bodies !== undefined && this.#isOfOther(one.key, mapped.bodies)) return;
    if (isRegisters(window) && own !== undefined && !inWindow(own, periodOf(source.period))) {
      this.#leftOut.period += 1;
      this.#remove(one.key, 'ingetrokken');
      return;
    }
    if (mapped.hidden.some(({ resourceType }) => resourceType === 'Agendapunt')) this.#hidesSome = true;
    this.#hidden.push(...mapped.hidden.filter(({ resourceType }) => resourceType !== 'Informatieobject'));
    for (const { resourceType, bronidentificatie } of mapped.hidden) {
      if (resourceType === 'Informatieobject') this.#collector.hide(bronidentificatie);
    }
    for (const id of mapped.underHidden) this.#collector.hideUnder(id);
    this.#leftOut.confidential += mapped.hidden.length + mapped.underHidden.length;
    const parts = [
      ...records.map(({ resourceType, data: { bronidentificatie } }) => {
        const label = labels?.get(bronidentificatie);
        return { resourceType, bronidentificatie, ...(label === undefined ? {} : { label }) };
      }),
      ...this.#collector.add(documents),
    ];
    this.#items.push({
      key: one.key,
      day: isRegisters(window) ? window.from : (own ?? window.from),
      parent: null,
      // An item that was not read as a whole is read again in every round.
      lastModified: this.#issues.blockedAt(one.key) ? null : stampOf(one.stamp),
      readAgainAfter,
      parts,
      records,
    });
  }

  /** A list lacks what was moved to another day too; where the supplier has it by itself, that tells. */
  async #findMissing(item: KnownItem): Promise<void> {
    const { key } = item;
    if (this.#supplier.find === undefined) return this.#remove(key, 'ingetrokken');
    const found = await this.#attempt(key, async () => this.#supplier.find?.(item, this.#reading));
    if (found === undefined) return;
    if (found.kind !== 'found') {
      return found.kind === 'hidden' ? this.#hideItem(key) : this.#remove(key, 'ingetrokken');
    }
    const { day, hidden, bodies } = found.value;
    if (hidden) return this.#hideItem(key);
    const { window, source } = this.#reading.request;
    const isElsewhere = day === undefined || !inWindow(day, window);
    const isOurs =
      (bodies === undefined || this.#isWanted(bodies)) && (day === undefined || inWindow(day, periodOf(source.period)));
    if (!isElsewhere || !isOurs) return this.#remove(key, 'ingetrokken');
    const read = await this.#attempt(key, () => this.#supplier.read(found.value, this.#reading));
    if (read !== undefined) this.#addItem(await this.#judge(found.value, read));
  }

  #result(): WindowReading {
    const { window, depth } = this.#reading.request;
    const isPublic = ({ bronidentificatie }: PartName): boolean => !this.#collector.isHidden(bronidentificatie);
    return {
      window,
      depth,
      complete: !this.#issues.blocked,
      items: this.#items.map((item) => ({ ...item, parts: item.parts.filter(isPublic) })),
      unchanged: this.#unchanged,
      removed: [...this.#removed].map(([key, verwijderreden]) => ({ key, verwijderreden })),
      documents: this.#collector.documents(),
      hidden: [...this.#hidden, ...this.#collector.hidden()],
      underHidden: this.#collector.underHidden(),
      unread: this.#unread,
      leftOut: this.#leftOut,
      hasConfidential: this.#hidesSome,
      issues: this.#issues.all(),
    };
  }
}
