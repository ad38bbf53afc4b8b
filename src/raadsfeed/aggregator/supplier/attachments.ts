import { type DocumentRead, type Part, withoutAbsent } from './source-adapter.ts';

export interface Attachment {
  /** bronidentificaties. */
  readonly vergaderingen: readonly string[];
  readonly agendapunten: readonly string[];
  readonly wooinformatiecategorie?: string | undefined;
  readonly omschrijving?: string | undefined;
  /** Of the meeting and of the register entry, for a document without a date. */
  readonly vergaderdag?: string | undefined;
  readonly registerdag?: string | undefined;
  /** Of the file, where it names the meeting. */
  readonly bestandsurl?: string | undefined;
}

export interface AttachedDocument {
  readonly read: DocumentRead;
  readonly attachment: Attachment;
}

/** The parts of an item: each document once, with all its places in it joined. */
export function partsOf(attached: readonly AttachedDocument[]): readonly Part[] {
  const copies = Map.groupBy(attached, ({ read }) => read.bronidentificatie);
  return [...copies].map(([bronidentificatie, all]): Part => {
    const attachments = all.map(({ attachment }) => attachment);
    const first = <K extends keyof Attachment>(name: K): Attachment[K] | undefined =>
      attachments.find((one) => one[name] !== undefined)?.[name];
    const earliest = (name: 'vergaderdag' | 'registerdag'): string | undefined =>
      attachments
        .map((one) => one[name])
        .filter((day) => day !== undefined)
        .toSorted()[0];
    return {
      resourceType: 'Informatieobject',
      bronidentificatie,
      vergaderingen: [...new Set(attachments.flatMap(({ vergaderingen }) => vergaderingen))],
      agendapunten: [...new Set(attachments.flatMap(({ agendapunten }) => agendapunten))],
      ...withoutAbsent({
        wooinformatiecategorie: first('wooinformatiecategorie'),
        omschrijving: first('omschrijving'),
        vergaderdag: earliest('vergaderdag'),
        registerdag: earliest('registerdag'),
        bestandsurl: first('bestandsurl'),
      }),
    };
  });
}

/** A document comes from its newest version, or else its last modification, however many items have it. */
export function isNewer(read: DocumentRead, known: DocumentRead): boolean {
  if (read.version !== known.version) return read.version > known.version;
  const [modified = '', knownModified = ''] = [read.data.gewijzigdop, known.data.gewijzigdop];
  if (modified !== knownModified) return modified > knownModified;
  return Object.keys(read.data).length > Object.keys(known.data).length;
}
