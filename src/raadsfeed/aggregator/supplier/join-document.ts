import type { DocumentRead, Part, SourceData } from './source-adapter.ts';

/** Shown with one item of a document and left out with another. */
const OPTIONAL_MEMBERS = ['formaat', 'omvang', 'informatieobjecttype', 'gewijzigdop'];

/** Woo category of council documents, the default. */
const DEFAULT_WOO_CATEGORY = 'c_db4862c3';

interface DocumentContext {
  /** `undefined` when only its references may have changed. */
  readonly read: DocumentRead | undefined;
  /** In the feed. */
  readonly current: SourceData | undefined;
  /** In all its items. */
  readonly parts: readonly Part[];
  /** In items that were read or removed. */
  readonly former: readonly Part[];
  /** Of agenda items that the feed has or gets. */
  readonly meetingOf: (agendapunt: string) => string | undefined;
}

/** A document with the references of all its items, in a fixed order, so that the last item read makes no difference. */
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

/** That of the earliest meeting; on the same day the first in order. */
function earliestAddress(parts: readonly Part[]): string | undefined {
  const addressed = parts.filter(({ bestandsurl }) => bestandsurl !== undefined);
  const order = ({ vergaderdag, bestandsurl }: Part): string => `${vergaderdag} ${bestandsurl}`;
  return addressed.toSorted((a, b) => ORDER.compare(order(a), order(b)))[0]?.bestandsurl;
}

/** Also replaces a page that was the file. */
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
 * A document as read, completed from its items and from a longer description of the same file. Its day is its own, else that of its register entry,
 * earliest meeting or last change; never that of the reading.
 */
function describe(read: DocumentRead, current: SourceData | undefined, parts: readonly Part[]): SourceData {
  const known = current?.bestandsurl === read.data.bestandsurl ? (current ?? {}) : {};
  const completed = Object.entries(known).filter(
    ([member]) => OPTIONAL_MEMBERS.includes(member) && !(member in read.data),
  );
  // Finding the same address another way is not a change.
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

/** What its items say about a document without a description. */
function describedBy(parts: readonly Part[]): { readonly omschrijving?: string } {
  const omschrijving = first(parts.map((part) => part.omschrijving));
  return omschrijving === undefined ? {} : { omschrijving };
}

/** Drops a description that no item gives any more, because its item may be confidential now. */
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
