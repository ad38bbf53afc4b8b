/** Answers in the form of the NotuBiz API, adjustable by a test; every member can be replaced, even by nonsense. */
export type Raw = Record<string, unknown>;

export const ORGANISATION = 281;

export function documentOf(id: number, more: Raw = {}): Raw {
  const version = typeof more.version === 'number' ? more.version : 1;
  return {
    self: `api.notubiz.nl/document/${id}`,
    url: `https://api.notubiz.nl/document/${id}/${version}`,
    title: `Document ${id}`,
    description: '',
    date: '',
    id,
    confidential: 0,
    publication_date: '2025-01-10',
    last_modified: '2025-01-09 10:00:00',
    version,
    types: [{ id: 1, value: 'Document' }],
    versions: Array.from({ length: version }, (_, index) => ({
      type: 'file',
      mime_type: 'application/pdf',
      file_name: `document_${id}_${index + 1}.pdf`,
      file_size: 1000 + index,
      id: index + 1,
    })),
    ...more,
  };
}

export function agendaItemOf(id: number, more: Raw & { title?: unknown; typeData?: Raw } = {}): Raw {
  const { title = `Agendapunt ${id}`, typeData = {}, ...rest } = more;
  return {
    id,
    parent: null,
    type: 'agenda_point',
    order: 1,
    start_date: null,
    end_date: null,
    confidential: 0,
    permission_group: 'public',
    last_modified: '2025-01-09 10:00:00',
    type_data: {
      self: `api.notubiz.nl/agenda_items/agenda_points/${id}`,
      title_prefix: null,
      heading: false,
      attributes: [{ id: 1, reference_model: null, value: title }],
      ...typeData,
    },
    documents: [],
    module_items: [],
    agenda_items: [],
    ...rest,
  };
}

export function meetingOf(id: number, more: Raw & { title?: unknown; start?: unknown; end?: unknown } = {}): Raw {
  const { title = `Vergadering ${id}`, start = '2025-01-14 19:30:00', end = null, ...rest } = more;
  return {
    organisation: { id: ORGANISATION, self: `api.notubiz.nl/organisations/${ORGANISATION}` },
    gremium: { id: 4972, self: `api.notubiz.nl/organisations/${ORGANISATION}/gremia/4972` },
    id,
    self: `api.notubiz.nl/events/meetings/${id}`,
    type: 'meeting',
    parent: null,
    permission_group: 'public',
    body: 'council',
    confidential: 0,
    canceled: false,
    inactive: false,
    template: false,
    last_modified: '2025-01-09 10:00:00',
    attributes: [
      { id: 1, reference_model: null, value: title },
      { id: 50, reference_model: null, value: 'Raadzaal' },
      { id: 3, reference_model: null, value: '' },
    ],
    plannings: [{ start_date: start, end_date: end }],
    documents: [],
    module_items: [],
    agenda_items: [],
    ...rest,
  };
}

/** Additional members of an assembly; its own agenda and documents are at the meeting of the same id. */
export function assemblyOf(meeting: Raw, children: readonly Raw[]): Raw {
  const { agenda_items: _agenda, documents: _documents, ...rest } = meeting;
  return {
    ...rest,
    type: 'assembly',
    self: `/events/assemblies/${String(meeting.id)}`,
    meetings: children.map((child, index) => ({
      id: child.id,
      self: `api.notubiz.nl/events/meetings/${String(child.id)}`,
      order: index + 1,
      plannings: child.plannings,
    })),
  };
}

export function moduleItemReference(id: number): Raw {
  return { id, self: `api.notubiz.nl/modules/0/items/${id}`, field_id: 54 };
}

export interface RegisterItemParts extends Raw {
  readonly title?: string;
  readonly date?: unknown;
  /** Documents in an attribute of datatype `document`. */
  readonly main?: readonly Raw[];
  /** Documents in `attachments`. */
  readonly attached?: readonly Raw[];
  readonly agendaItems?: readonly number[];
}

export function registerItemOf(id: number, more: RegisterItemParts = {}): Raw {
  const { title = `Stuk ${id}`, date = '2025-01-20', main = [], attached = [], agendaItems = [], ...rest } = more;
  const value = (content: unknown): Raw => ({ content, meta_data: null });
  return {
    id,
    last_modified: '2025-01-09 10:00:00',
    permission_group: 'public',
    confidential: 0,
    attributes: [
      { id: 1, label: 'Titel', datatype: 'varchar', values: [value(title)] },
      { id: 15, label: 'Datum', datatype: 'datetime', values: [value(date)] },
      {
        id: 2,
        label: 'Hoofddocument',
        datatype: 'document',
        values: main.map((document) => ({ content: null, meta_data: null, document })),
      },
      {
        id: 54,
        label: 'Agendapunt',
        datatype: 'reference',
        values: agendaItems.map((item) => ({
          content: String(item),
          meta_data: { reference_model: 'agenda_item', label: `Agendapunt ${item}` },
        })),
      },
    ],
    attachments: attached.length === 0 ? [] : { document: attached },
    ...rest,
  };
}
