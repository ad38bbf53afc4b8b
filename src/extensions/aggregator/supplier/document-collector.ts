import type { DocumentRead, Part, PartName } from './source-adapter.ts';

/** What a document belongs to. */
export interface Attachment {
  /** bronidentificaties. */
  readonly vergaderingen: readonly string[];
  readonly agendapunten: readonly string[];
  readonly wooinformatiecategorie?: string | undefined;
  /** The day of the meeting, and that of the register item, for a document without a date of its own. */
  readonly vergaderdag?: string | undefined;
  readonly registerdag?: string | undefined;
  /** The address of the file, where that names the meeting. */
  readonly bestandsurl?: string | undefined;
}

/** A document where it was found. */
export interface AttachedDocument {
  readonly read: DocumentRead;
  readonly attachment: Attachment;
}

/**
 * Collects the documents of a reading: each becomes one resource, however many items have it. Of several copies the newest version is
 * used, then the one that was modified last.
 */
export class DocumentCollector {
  readonly #documents = new Map<string, DocumentRead>();
  readonly #hidden = new Set<string>();
  readonly #underHidden = new Set<string>();

  /** Adds the documents of one item, and returns its parts. */
  add(attached: readonly AttachedDocument[]): readonly Part[] {
    const parts = new Map<string, Part>();
    for (const { read, attachment } of attached) {
      const { bronidentificatie: id } = read;
      const known = this.#documents.get(id);
      if (known === undefined || isNewer(read, known)) this.#documents.set(id, read);
      parts.set(id, join(parts.get(id), id, attachment));
    }
    return [...parts.values()];
  }

  /** A document is hidden everywhere when one of its copies is. */
  hide(bronidentificatie: string): void {
    this.#hidden.add(bronidentificatie);
  }

  /** Marks a document that belongs to something that is not public. */
  hideUnder(bronidentificatie: string): void {
    this.#underHidden.add(bronidentificatie);
  }

  isHidden(bronidentificatie: string): boolean {
    return this.#hidden.has(bronidentificatie);
  }

  documents(): readonly DocumentRead[] {
    return [...this.#documents.values()].filter(({ bronidentificatie }) => !this.isHidden(bronidentificatie));
  }

  hidden(): readonly PartName[] {
    return [...this.#hidden].map(documentName);
  }

  underHidden(): readonly PartName[] {
    return [...this.#underHidden].map(documentName);
  }
}

function documentName(bronidentificatie: string): PartName {
  return { resourceType: 'Informatieobject', bronidentificatie };
}

function isNewer(read: DocumentRead, known: DocumentRead): boolean {
  if (read.version !== known.version) return read.version > known.version;
  const [modified = '', knownModified = ''] = [read.data.gewijzigdop, known.data.gewijzigdop];
  if (modified !== knownModified) return modified > knownModified;
  return Object.keys(read.data).length > Object.keys(known.data).length;
}

function join(known: Part | undefined, bronidentificatie: string, attachment: Attachment): Part {
  const vergaderdag = earliest(known?.vergaderdag, attachment.vergaderdag);
  const registerdag = earliest(known?.registerdag, attachment.registerdag);
  const bestandsurl = known?.bestandsurl ?? attachment.bestandsurl;
  const category = known?.wooinformatiecategorie ?? attachment.wooinformatiecategorie;
  return {
    resourceType: 'Informatieobject',
    bronidentificatie,
    vergaderingen: [...new Set([...(known?.vergaderingen ?? []), ...attachment.vergaderingen])],
    agendapunten: [...new Set([...(known?.agendapunten ?? []), ...attachment.agendapunten])],
    ...(category === undefined ? {} : { wooinformatiecategorie: category }),
    ...(vergaderdag === undefined ? {} : { vergaderdag }),
    ...(registerdag === undefined ? {} : { registerdag }),
    ...(bestandsurl === undefined ? {} : { bestandsurl }),
  };
}

function earliest(...days: readonly (string | undefined)[]): string | undefined {
  return days.filter((day) => day !== undefined).toSorted()[0];
}
