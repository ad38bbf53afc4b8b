import { type Attachment, DocumentCollector } from '../supplier/document-collector.ts';
import type { IssueSink } from '../supplier/issue-log.ts';
import type { DocumentRead, Part } from '../supplier/source-adapter.ts';
import { documentId, type MappingContext, mapInformatieObject, mapRegisterItem, registerItemId } from './map.ts';
import { isHidden, type NotubizDocument, type RegisterItem } from './schema.ts';

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

/** Collects the documents of a reading of NotuBiz. */
export class NotubizDocuments extends DocumentCollector {
  readonly #context: MappingContext;

  constructor(context: MappingContext) {
    super();
    this.#context = context;
  }

  /** Adds the documents of one item, and returns its parts. */
  addAll(attached: readonly AttachedDocuments[], issue: IssueSink): readonly Part[] {
    return this.add(
      attached.flatMap(({ documents, item, register, attachment }) => {
        if (item !== undefined && documents.length === 0) {
          return [{ read: mapRegisterItem(item, register, this.#context, issue), attachment }];
        }
        for (const { id } of documents.filter(isHidden)) this.hide(documentId(id));
        return documents
          .filter((document) => !isHidden(document))
          .map((document) => ({ read: this.#read(document, register, issue), attachment }));
      }),
    );
  }

  /** A file without a type is of the kind that its register is called. */
  #read(document: NotubizDocument, register: string | undefined, issue: IssueSink): DocumentRead {
    const read = mapInformatieObject(document, this.#context, issue);
    if (register === undefined || register === '' || read.data.informatieobjecttype !== undefined) return read;
    return { ...read, data: { ...read.data, informatieobjecttype: register } };
  }

  /** Adds documents that belong to something that is not public. */
  addUnderHidden(documents: readonly NotubizDocument[]): void {
    for (const document of documents) {
      if (isHidden(document)) this.hide(documentId(document.id));
      else this.hideUnder(documentId(document.id));
    }
  }

  /** Adds a register item that is not public. */
  addHiddenRegisterItem(item: RegisterItem): void {
    const documents = documentsOf(item);
    this.addUnderHidden(documents);
    if (documents.length === 0) this.hide(registerItemId(item.id));
  }
}
