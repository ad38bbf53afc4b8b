/** The parts of NotuBiz responses that are used, as JSON Schemas; see `docs/aggregator.md`. */
import type { IssueSink } from '../supplier/issue-log.ts';
import {
  ANY,
  type AnswerSchema,
  CANCELLED,
  COUNT,
  createReader,
  detailsOf,
  FLAG,
  type Flag,
  ID,
  IDENTITY,
  isSet,
  listOf,
  objectOf,
  TEXT,
  type ValueOf,
} from '../supplier/read-answer.ts';

const STRING: AnswerSchema<string> = { type: 'string' };
const CONFIDENTIAL = { confidential: FLAG };
const GROUP = {
  permission_group: {
    ...STRING,
    absent: { value: 'unknown' },
    wrong: { value: 'unknown' },
    mark: (group: unknown) => group !== 'public',
  },
} as const;
const TEMPLATE = { template: FLAG };

const VERSION = objectOf({}, { id: COUNT, file_name: TEXT, mime_type: TEXT, file_size: COUNT });
const DOCUMENT = objectOf(
  { id: IDENTITY, ...CONFIDENTIAL, types: detailsOf(objectOf({}, { value: TEXT })), versions: detailsOf(VERSION) },
  { url: TEXT, title: TEXT, date: ANY, last_modified: ANY, version: COUNT, ...GROUP, ...TEMPLATE },
);
const REFERENCE = objectOf({ id: IDENTITY }, { self: TEXT });
const UNNAMED = { absent: { what: 'unusable-value' }, wrong: { what: 'unusable-value' } } as const;
const ATTRIBUTES = detailsOf(objectOf({ id: { ...IDENTITY, ...UNNAMED } }, { value: ANY }));
const PLANNINGS = detailsOf(objectOf({}, { start_date: ANY, end_date: ANY }));
const NESTED: AnswerSchema<AgendaItem> = { $ref: '#/$defs/agendaItem' };
const ATTACHED = {
  documents: listOf(DOCUMENT),
  module_items: listOf(REFERENCE),
  agenda_items: listOf(NESTED),
};
const AGENDA_ITEM = objectOf(
  {
    id: IDENTITY,
    ...CONFIDENTIAL,
    ...GROUP,
    type: { ...STRING, absent: { value: '' }, wrong: { value: '' } },
    type_data: {
      ...objectOf({ attributes: ATTRIBUTES }, { title_prefix: TEXT, heading: ANY }),
      absent: { value: { attributes: [] } },
      wrong: { value: { attributes: [] } },
    },
    ...ATTACHED,
  },
  { parent: objectOf({}, { id: ID }), order: TEXT, start_date: ANY, end_date: ANY, last_modified: TEXT, ...TEMPLATE },
);
const MEETING = objectOf(
  {
    id: IDENTITY,
    ...CONFIDENTIAL,
    ...GROUP,
    canceled: CANCELLED,
    plannings: PLANNINGS,
    attributes: ATTRIBUTES,
    ...ATTACHED,
  },
  {
    organisation: objectOf({}, { id: ID }),
    parent: objectOf({}, { id: ID }),
    gremium: { ...objectOf({ id: { ...IDENTITY, ...UNNAMED } }), wrong: { what: 'unusable-value' } },
    body: TEXT,
    url: TEXT,
    last_modified: TEXT,
    ...TEMPLATE,
  },
);
const EVENT = objectOf(
  {
    id: IDENTITY,
    ...GROUP,
    type: { ...STRING, enum: ['meeting', 'assembly'], absent: { value: '' }, wrong: { value: '' } },
    plannings: PLANNINGS,
    event_type_data: {
      ...objectOf({}, { agenda_item_count: COUNT, document_count: COUNT, meetings_count: COUNT }),
      absent: { what: 'unusable-value', value: {} },
      wrong: { value: {} },
    },
  },
  { ...CONFIDENTIAL, ...TEMPLATE, last_modified: TEXT },
);
const ASSEMBLY = objectOf(
  {
    id: IDENTITY,
    ...CONFIDENTIAL,
    meetings: listOf(objectOf({ id: IDENTITY }, { order: COUNT })),
  },
  { ...GROUP, ...TEMPLATE, documents: listOf(DOCUMENT), module_items: listOf(REFERENCE) },
);
const VALUE = objectOf(
  {},
  { content: ANY, meta_data: objectOf({}, { reference_model: TEXT, label: TEXT }), document: DOCUMENT },
);
const REGISTER_ITEM = objectOf(
  {
    id: IDENTITY,
    ...CONFIDENTIAL,
    ...GROUP,
    attributes: listOf(objectOf({ values: listOf(VALUE) }, { id: ID, label: TEXT, datatype: TEXT })),
  },
  { self: TEXT, last_modified: TEXT, ...TEMPLATE, attachments: objectOf({}, { document: listOf(DOCUMENT) }) },
);
const PAGE_COUNTS = { page: COUNT, total_pages: COUNT, total_items: COUNT, list_end: COUNT, total_results: COUNT };

interface Marks {
  readonly confidential?: Flag;
  readonly template?: Flag;
  readonly permission_group?: string;
}
export type NotubizDocument = ValueOf<typeof DOCUMENT>;
export type ModuleReference = ValueOf<typeof REFERENCE>;
export interface AgendaItem extends ValueOf<typeof AGENDA_ITEM> {}
export type Meeting = ValueOf<typeof MEETING>;
export type Attached = Pick<Meeting, 'documents' | 'module_items'>;
/** Its `event_type_data` announces what a meeting holds. */
export type EventSummary = ValueOf<typeof EVENT>;
export type Assembly = ValueOf<typeof ASSEMBLY>;
export type RegisterItem = ValueOf<typeof REGISTER_ITEM>;

/** A document without an id has one in its address. */
function completeId(object: Record<string, unknown>): void {
  if (object.id !== undefined) return;
  const id = /\/document\/([1-9]\d{0,17})(?=[/ ]|$)/.exec(`${object.self} ${object.url}`)?.[1];
  if (id !== undefined) object.id = id;
}

export const readMeeting = createReader({ ...MEETING, $defs: { agendaItem: AGENDA_ITEM } }, completeId);
export const readEvent = createReader(EVENT);
export const readAssembly = createReader(ASSEMBLY, completeId);
const parseRegisterItem = createReader(REGISTER_ITEM, completeId);
export const readReference = createReader(REFERENCE);
export const readPagination = createReader(objectOf({}, { ...PAGE_COUNTS, has_more_pages: { type: 'boolean' } }));

export function readRegisterItem(raw: unknown, issue: IssueSink): RegisterItem | undefined {
  const item = parseRegisterItem(raw, issue, 'register item');
  for (const { datatype, values } of item?.attributes ?? []) {
    for (const { content, document, meta_data: meta } of values) {
      const lacksDocument = datatype === 'document' && document === undefined && content !== undefined;
      if (lacksDocument) issue('unexpected-answer', `register item ${item?.id}: a value has no document`);
      if (meta?.reference_model === 'agenda_item' && !IS_ID.test(String(content))) {
        issue('unusable-value', `register item ${item?.id}: refers to an agenda item without an id`);
      }
    }
  }
  return item;
}

const IS_ID = /^[1-9]\d{0,17}$/;

export function agendaItemsOf({ attributes }: RegisterItem): string[] {
  return attributes
    .flatMap(({ values }) => values)
    .filter(({ meta_data: meta }) => meta?.reference_model === 'agenda_item')
    .map(({ content }) => String(content))
    .filter((id) => IS_ID.test(id));
}

/** Confidential, a template, or not public. */
export function isHidden({ confidential, template, permission_group: group = 'public' }: Marks): boolean {
  return isSet(confidential) || isSet(template) || group !== 'public';
}

export function attributeOf(attributes: Meeting['attributes'], id: string): unknown {
  return attributes.find((attribute) => attribute.id === id && attribute.value !== undefined)?.value;
}

/** Attribute 1 is the title. */
export function registerValue({ attributes }: RegisterItem, id: string): unknown {
  return attributes.find((attribute) => attribute.id === id)?.values[0]?.content;
}

export function registerDate(item: RegisterItem): unknown {
  return registerValue(item, '15');
}
