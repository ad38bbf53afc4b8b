import type { IssueSink } from '../supplier/issue-log.ts';
import type { DocumentRead, Part, PartName } from '../supplier/source-adapter.ts';
import { documentId, type MappingContext, mapInformatieObject, mapRegisterItem, registerItemId } from './map.ts';
import { isHidden, type NotubizDocument, type RegisterItem } from './schema.ts';

/** What a document belongs to. */
export interface Attachment {
  /** bronidentificaties. */
  readonly vergaderingen: readonly string[];
  readonly agendapunten: readonly string[];
  readonly wooinformatiecategorie?: string | undefined;
  /** The day of the meeting, and that of the register item, for a document without a date of its own. */
  readonly vergaderdag?: string | undefined;
  readonly registerdag?: string | undefined;
}

/** Documents with what they belong to, or a register item that has none. */
export interface AttachedDocuments {
  readonly documents: readonly NotubizDocument[];
  readonly attachment: Attachment;
  readonly item?: RegisterItem;
  /** Name of its register, where that is known. */
  readonly register?: string | undefined;
}

/** The documents of a register item: values of datatype document, and attachments. */
export function documentsOf({ attributes, attachments }: RegisterItem): readonly NotubizDocument[] {
  const values = attributes.filter(({ datatype }) => datatype === 'document').flatMap((attribute) => attribute.values);
  const documents = values.map(({ document }) => document).filter((document) => document !== undefined);
  return [...documents, ...(attachments?.document ?? [])];
}

/**
 * Collects the documents of a reading: each becomes one resource, however many items have it. Of several copies the newest version is
 * used, then the one that was modified last.
 */
export class DocumentCollector {
  readonly #context: MappingContext;
  readonly #documents = new Map<string, DocumentRead>();
  readonly #hidden = new Set<string>();
  readonly #underHidden = new Set<string>();

  constructor(context: MappingContext) {
    this.#context = context;
  }

  /** Adds the documents of one item, and returns its parts. */
  add(attached: readonly AttachedDocuments[], issue: IssueSink): readonly Part[] {
    const parts = new Map<string, Part>();
    const put = (read: DocumentRead, attachment: Attachment): void => {
      const { bronidentificatie: id } = read;
      const known = this.#documents.get(id);
      if (known === undefined || isNewer(read, known)) this.#documents.set(id, read);
      parts.set(id, join(parts.get(id), id, attachment));
    };
    for (const { documents, item, register, attachment } of attached) {
      if (item !== undefined && documents.length === 0) {
        put(mapRegisterItem(item, register, this.#context, issue), attachment);
      }
      for (const document of documents) {
        if (isHidden(document)) this.#hidden.add(documentId(document.id));
        else put(mapInformatieObject(document, this.#context, issue), attachment);
      }
    }
    return [...parts.values()];
  }

  /** Adds documents that belong to something that is not public. */
  addUnderHidden(documents: readonly NotubizDocument[]): void {
    for (const document of documents) {
      (isHidden(document) ? this.#hidden : this.#underHidden).add(documentId(document.id));
    }
  }

  /** Adds a register item that is not public. */
  addHiddenRegisterItem(item: RegisterItem): void {
    const documents = documentsOf(item);
    this.addUnderHidden(documents);
    if (documents.length === 0) this.#hidden.add(registerItemId(item.id));
  }

  /** A document is hidden everywhere when one of its copies is. */
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
  const category = known?.wooinformatiecategorie ?? attachment.wooinformatiecategorie;
  return {
    resourceType: 'Informatieobject',
    bronidentificatie,
    vergaderingen: [...new Set([...(known?.vergaderingen ?? []), ...attachment.vergaderingen])],
    agendapunten: [...new Set([...(known?.agendapunten ?? []), ...attachment.agendapunten])],
    ...(category === undefined ? {} : { wooinformatiecategorie: category }),
    ...(vergaderdag === undefined ? {} : { vergaderdag }),
    ...(registerdag === undefined ? {} : { registerdag }),
  };
}

function earliest(...days: readonly (string | undefined)[]): string | undefined {
  return days.filter((day) => day !== undefined).toSorted()[0];
}
