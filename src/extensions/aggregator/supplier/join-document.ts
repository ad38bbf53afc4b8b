import type { DocumentRead, Part, SourceData } from './source-adapter.ts';

/** Members that the supplier shows with one item of a document and leaves out with another. */
const OPTIONAL_MEMBERS = ['formaat', 'omvang', 'informatieobjecttype', 'gewijzigdop'];

/** Information category of the Woo for documents of which nothing says another: council documents. */
const DEFAULT_WOO_CATEGORY = 'c_db4862c3';

export interface DocumentContext {
  /** As it was read; `undefined` when only its references may have changed. */
  readonly read: DocumentRead | undefined;
  /** As the feed has it now. */
  readonly current: SourceData | undefined;
  /** That it has in all its items. */
  readonly parts: readonly Part[];
  /** The meeting of an agenda item, for those that the feed has or gets. */
  readonly meetingOf: (agendapunt: string) => string | undefined;
}

/**
 * One document with the references of all its items, in a fixed order: the same items give the same text, whichever of them
 * was read last.
 */
export function joinDocument({ read, current, parts, meetingOf }: DocumentContext): SourceData | undefined {
  const found = read === undefined ? current : newest(read.data, current);
  if (found === undefined) return undefined;
  const agendapunten = new Set(
    parts.flatMap((part) => part.agendapunten ?? []).filter((id) => meetingOf(id) !== undefined),
  );
  const vergaderingen = new Set(parts.flatMap((part) => part.vergaderingen ?? []));
  for (const id of agendapunten) vergaderingen.add(meetingOf(id) ?? '');
  const base = withDate(found, { read, current, parts });
  const ofItems = parts.map((part) => part.wooinformatiecategorie).filter((category) => category !== undefined);
  return {
    ...base,
    wooinformatiecategorie:
      read === undefined
        ? base.wooinformatiecategorie
        : (read.wooinformatiecategorie ?? ofItems.toSorted()[0] ?? DEFAULT_WOO_CATEGORY),
    vergaderingen: references(vergaderingen),
    agendapunten: references(agendapunten),
  };
}

/**
 * With the day of submission: its own, else that of its register item, else of the earliest meeting that it belongs to, else that of its last
 * change. Never the day of the reading.
 */
function withDate(
  found: SourceData,
  { read, current, parts }: Pick<DocumentContext, 'read' | 'current' | 'parts'>,
): SourceData {
  // The description that was read is older than the known one, which stays.
  if (read === undefined || found === current) return found;
  const earliest = (days: readonly (string | undefined)[]): string | undefined =>
    days.filter((day) => day !== undefined).toSorted()[0];
  const day =
    read.date ??
    earliest(parts.map(({ registerdag }) => registerdag)) ??
    earliest(parts.map(({ vergaderdag }) => vergaderdag)) ??
    read.modifiedDay;
  return { ...found, datumingediend: day ?? current?.datumingediend ?? NO_DAY };
}

/** Of a document of which nothing says when it is from. */
const NO_DAY = '1970-01-01';

/** Of the same file, an older description does not replace a newer one, and a shorter one is completed. */
function newest(read: SourceData, current: SourceData | undefined): SourceData {
  if (current === undefined || current.bestandsurl !== read.bestandsurl) return read;
  const { gewijzigdop: modified } = read;
  const { gewijzigdop: known } = current;
  if (typeof modified === 'string' && typeof known === 'string' && modified < known) return current;
  // An address that differs only by the way it was found is no change.
  const isSame = modified === known && read.bestandsurl === undefined;
  const page = isSame && current.webpaginalink !== undefined ? { webpaginalink: current.webpaginalink } : {};
  const absent = OPTIONAL_MEMBERS.filter((member) => read[member] === undefined && current[member] !== undefined);
  return { ...read, ...Object.fromEntries(absent.map((member) => [member, current[member]])), ...page };
}

const ORDER = new Intl.Collator('en', { numeric: true });

function references(ids: ReadonlySet<string>): readonly { readonly bronidentificatie: string }[] {
  return [...ids].toSorted(ORDER.compare).map((bronidentificatie) => ({ bronidentificatie }));
}
