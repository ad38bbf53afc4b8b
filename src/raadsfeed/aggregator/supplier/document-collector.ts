import { type DocumentRead, type Part, type PartName, withoutAbsent } from './source-adapter.ts';

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

/** Each document becomes one resource, however many items have it, from its newest version, or else its last modification. */
export class DocumentCollector {
  readonly #documents = new Map<string, DocumentRead>();
  readonly #hidden = new Set<string>();
  readonly #underHidden = new Set<string>();

  /** @returns the parts of the item */
  add(attached: readonly AttachedDocument[]): readonly Part[] {
    for (const { read } of attached) {
      const known = this.#documents.get(read.bronidentificatie);
      if (known === undefined || isNewer(read, known)) this.#documents.set(read.bronidentificatie, read);
    }
    const copies = Map.groupBy(attached, ({ read }) => read.bronidentificatie);
    return [...copies].map(([id, all]) =>
      join(
        id,
        all.map(({ attachment }) => attachment),
      ),
    );
  }

  /** One hidden copy hides a document everywhere. */
  hide(bronidentificatie: string): void {
    this.#hidden.add(bronidentificatie);
  }

  /** Belongs to something that is not public. */
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

/** Joins the places where one item has the document. */
function join(bronidentificatie: string, attachments: readonly Attachment[]): Part {
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
}
