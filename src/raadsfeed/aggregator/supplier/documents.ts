/** A document can belong to many items: its copies in one item, and in all of them, become one. */
import {
  type DocumentRead,
  documentName,
  type Part,
  type PartName,
  type SourceData,
  withoutAbsent,
} from './source-adapter.ts';

/** Where and how an item has a document. */
export type Attachment = { readonly [K in Exclude<keyof Part, keyof PartName | 'label'>]: Part[K] | undefined };

export interface AttachedDocument {
  readonly read: DocumentRead;
  readonly attachment: Partial<Attachment>;
}

/** The parts of an item: each document once, with all its places in it joined. */
export function partsOf(attached: readonly AttachedDocument[]): readonly Part[] {
  const copies = Map.groupBy(attached, ({ read }) => read.bronidentificatie);
  return [...copies].map(([bronidentificatie, all]): Part => {
    const attachments = all.map(({ attachment }) => attachment);
    return {
      ...documentName(bronidentificatie),
      vergaderingen: [...new Set(attachments.flatMap(({ vergaderingen = [] }) => vergaderingen))],
      agendapunten: [...new Set(attachments.flatMap(({ agendapunten = [] }) => agendapunten))],
      ...withoutAbsent({
        wooinformatiecategorie: first(attachments, 'wooinformatiecategorie'),
        omschrijving: first(attachments, 'omschrijving'),
        vergaderdag: first(attachments, 'vergaderdag'),
        registerdag: first(attachments, 'registerdag'),
        bestandsurl: first(attachments, 'bestandsurl'),
      }),
    };
  });
}

type Text = 'wooinformatiecategorie' | 'omschrijving' | 'vergaderdag' | 'registerdag' | 'bestandsurl';

/** The earliest day, and of other texts the same one whatever the order. */
function first(parts: readonly Partial<Attachment>[], name: Text): string | undefined {
  return parts
    .map((part) => part[name])
    .filter((text) => text !== undefined)
    .toSorted()[0];
}

/** A document comes from its newest version, or else its last modification, however many items have it. */
export function isNewer(read: DocumentRead, known: DocumentRead): boolean {
  if (read.version !== known.version) return read.version > known.version;
  const [modified = '', knownModified = ''] = [read.data.gewijzigdop, known.data.gewijzigdop];
  if (modified !== knownModified) return modified > knownModified;
  return Object.keys(read.data).length > Object.keys(known.data).length;
}

/** Shown with one item of a document and left out with another. */
const OPTIONAL_MEMBERS = ['formaat', 'omvang', 'informatieobjecttype', 'gewijzigdop'];

const DEFAULT_WOO_CATEGORY = 'c_db4862c3';

const NO_DAY = '1970-01-01';

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
  const named = parts.flatMap(({ agendapunten = [] }) => agendapunten).map((id) => ({ id, meeting: meetingOf(id) }));
  const published = named.flatMap(({ id, meeting }) => (meeting === undefined ? [] : [{ id, meeting }]));
  const vergaderingen = [
    ...parts.flatMap((part) => part.vergaderingen ?? []),
    ...published.map(({ meeting }) => meeting),
  ];
  return { ...base, vergaderingen: references(vergaderingen), agendapunten: references(published.map(({ id }) => id)) };
}

const ORDER = new Intl.Collator('en', { numeric: true });

function references(ids: readonly string[]): readonly { readonly bronidentificatie: string }[] {
  return [...new Set(ids)].toSorted(ORDER.compare).map((bronidentificatie) => ({ bronidentificatie }));
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
  const day = read.date ?? first(parts, 'registerdag') ?? first(parts, 'vergaderdag') ?? read.modifiedDay;
  const category = read.wooinformatiecategorie ?? first(parts, 'wooinformatiecategorie');
  return {
    ...withoutAbsent({ omschrijving: first(parts, 'omschrijving') }),
    ...read.data,
    ...Object.fromEntries(completed),
    ...page,
    datumingediend: day ?? current?.datumingediend ?? NO_DAY,
    wooinformatiecategorie: category ?? DEFAULT_WOO_CATEGORY,
  };
}

/** Drops a description that no item gives any more, because its item may be confidential now. */
function describeAgain(current: SourceData, parts: readonly Part[], former: readonly Part[]): SourceData {
  const { omschrijving, ...rest } = current;
  const isOfItem = former.some((part) => part.omschrijving !== undefined && part.omschrijving === omschrijving);
  return isOfItem ? { ...rest, ...withoutAbsent({ omschrijving: first(parts, 'omschrijving') }) } : current;
}
