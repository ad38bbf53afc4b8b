import type { DocumentRead, Part, SourceData } from './source-adapter.ts';

/** Members that the supplier shows with one item of a document and leaves out with another. */
const OPTIONAL_MEMBERS = ['formaat', 'omvang', 'informatieobjecttype', 'gewijzigdop'];

/** Woo information category for documents that name no other: council documents. */
const DEFAULT_WOO_CATEGORY = 'c_db4862c3';

interface DocumentContext {
  /** As it was read; `undefined` when only its references may have changed. */
  readonly read: DocumentRead | undefined;
  /** As the feed has it now. */
  readonly current: SourceData | undefined;
  /** That it has in all its items. */
  readonly parts: readonly Part[];
  /** That it had before in items that were read or removed. */
  readonly former: readonly Part[];
  /** The meeting of an agenda item, for those that the feed has or gets. */
  readonly meetingOf: (agendapunt: string) => string | undefined;
}

/**
 * One document with the references of all its items, in a fixed order: the same items give the same text, whichever of them
 * was read last.
 */
export function joinDocument(context: DocumentContext): SourceData | undefined {
  const { parts, former, meetingOf } = context;
  const address = earliestAddress(parts);
  const current = context.current && withAddress(context.current, address);
  const read = context.read && { ...context.read, data: withAddress(context.read.data, address) };
  const used = read !== undefined && isOlder(read.data, current) ? undefined : read;
  const base = used === undefined ? current && describeAgain(current, parts, former) : describe(used, current, parts);
  if (base === undefined) return undefined;
  const agendapunten = new Set(
    parts.flatMap((part) => part.agendapunten ?? []).filter((id) => meetingOf(id) !== undefined),
  );
  const vergaderingen = new Set(parts.flatMap((part) => part.vergaderingen ?? []));
  for (const id of agendapunten) vergaderingen.add(meetingOf(id) ?? '');
  return { ...base, vergaderingen: references(vergaderingen), agendapunten: references(agendapunten) };
}

/** The address of the file through the earliest meeting, of two on one day the one whose address comes first. */
function earliestAddress(parts: readonly Part[]): string | undefined {
  const addressed = parts.filter(({ bestandsurl }) => bestandsurl !== undefined);
  const order = ({ vergaderdag, bestandsurl }: Part): string => `${vergaderdag} ${bestandsurl}`;
  return addressed.toSorted((a, b) => ORDER.compare(order(a), order(b)))[0]?.bestandsurl;
}

/** With another address of the file, and of its page where that was the file. */
function withAddress(data: SourceData, address: string | undefined): SourceData {
  if (address === undefined || data.bestandsurl === address) return data;
  const page = data.webpaginalink === data.bestandsurl ? { webpaginalink: address } : {};
  return { ...data, ...page, bestandsurl: address };
}

/** An older description of the same file does not replace a newer one. */
function isOlder({ bestandsurl, gewijzigdop: modified }: SourceData, current: SourceData | undefined): boolean {
  if (current === undefined || current.bestandsurl !== bestandsurl) return false;
  const { gewijzigdop: known } = current;
  return typeof modified === 'string' && typeof known === 'string' && modified < known;
}

/**
 * The document as it was read, completed with what follows from its items and with what a shorter description of the same file leaves out.
 * Its day of submission is its own, else that of its register item, else of the earliest meeting that it belongs to, else that of its last
 * change; never the day of the reading.
 */
function describe(read: DocumentRead, current: SourceData | undefined, parts: readonly Part[]): SourceData {
  const known = current?.bestandsurl === read.data.bestandsurl ? (current ?? {}) : {};
  const completed = Object.entries(known).filter(
    ([member]) => OPTIONAL_MEMBERS.includes(member) && !(member in read.data),
  );
  // An address that differs only by the way it was found is not a change.
  const isSame = read.data.bestandsurl === undefined && read.data.gewijzigdop === current?.gewijzigdop;
  const page = isSame && current?.webpaginalink !== undefined ? { webpaginalink: current.webpaginalink } : {};
  const day =
    read.date ??
    first(parts.map(({ registerdag }) => registerdag)) ??
    first(parts.map(({ vergaderdag }) => vergaderdag)) ??
    read.modifiedDay;
  return {
    ...describedBy(parts),
    ...read.data,
    ...Object.fromEntries(completed),
    ...page,
    datumingediend: day ?? current?.datumingediend ?? NO_DAY,
    wooinformatiecategorie:
      read.wooinformatiecategorie ??
      first(parts.map(({ wooinformatiecategorie: category }) => category)) ??
      DEFAULT_WOO_CATEGORY,
  };
}

function first(texts: readonly (string | undefined)[]): string | undefined {
  return texts.filter((text) => text !== undefined).toSorted()[0];
}

/** What its items say of a document that says nothing of itself. */
function describedBy(parts: readonly Part[]): { readonly omschrijving?: string } {
  const omschrijving = first(parts.map((part) => part.omschrijving));
  return omschrijving === undefined ? {} : { omschrijving };
}

/** A document that was not read, without what an item said of it that does not say so any more: that item may be confidential now. */
function describeAgain(current: SourceData, parts: readonly Part[], former: readonly Part[]): SourceData {
  const { omschrijving, ...rest } = current;
  const isOfItem = former.some((part) => part.omschrijving !== undefined && part.omschrijving === omschrijving);
  return isOfItem ? { ...rest, ...describedBy(parts) } : current;
}

/** For a document without any date. */
const NO_DAY = '1970-01-01';

const ORDER = new Intl.Collator('en', { numeric: true });

function references(ids: ReadonlySet<string>): readonly { readonly bronidentificatie: string }[] {
  return [...ids].toSorted(ORDER.compare).map((bronidentificatie) => ({ bronidentificatie }));
}
