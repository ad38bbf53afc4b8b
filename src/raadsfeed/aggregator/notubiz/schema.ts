/** Readers of the parts of NotuBiz responses that are used; see `docs/aggregator.md`. */
import { isRecord, type JsonObject } from '../../../lib/json/json-value.ts';
import type { IssueSink } from '../supplier/issue-log.ts';
import {
  ANY,
  type AnswerSchema,
  CANCELLED,
  COUNT,
  clean,
  createReader,
  detailsOf,
  FLAG,
  ID,
  listOf,
  NAME,
  objectOf,
  STRING,
  TEXT,
  textLike,
  UNUSABLE,
  type ValueOf,
} from '../supplier/read-answer.ts';

const CONFIDENTIAL = { confidential: FLAG };
/** Hides unless it is `public`; where a group is required, a missing one hides too. */
const GROUP: { readonly permission_group: AnswerSchema<boolean> } = {
  permission_group: {
    read: (group) => (typeof group === 'object' ? { fault: 'must be string' } : { value: group !== 'public' }),
    hides: (group) => group !== 'public',
    absent: { value: true },
    wrong: { value: true },
  },
};
const KIND: AnswerSchema<string> = { ...STRING, absent: { value: '' }, wrong: { value: '' } };
const TEMPLATE = { template: FLAG };

/** As `formaat` in the contract. */
const MEDIA_TYPE = textLike(/^[A-Za-z0-9!#$&^_.+-]+\/[A-Za-z0-9!#$&^_.+-]+(?:\s*;.*)?$/);
const VERSION = objectOf(
  {},
  { id: COUNT, file_name: NAME, mime_type: { ...MEDIA_TYPE, wrong: UNUSABLE }, file_size: COUNT },
);
const COMPLETE_DOCUMENT = objectOf(
  { id: ID, ...CONFIDENTIAL, types: detailsOf(objectOf({}, { value: NAME })), versions: detailsOf(VERSION) },
  { url: TEXT, title: NAME, date: ANY, last_modified: ANY, version: COUNT, ...GROUP, ...TEMPLATE },
);
/** A document without an id has one in its address. */
const DOCUMENT: typeof COMPLETE_DOCUMENT = {
  read: (given, place) => COMPLETE_DOCUMENT.read(isRecord(given) ? { ...given, id: idOf(given) } : given, place),
};

function idOf({ id, self, url }: JsonObject): unknown {
  if (clean(id) !== undefined) return id;
  const addresses = [self, url].filter((address) => typeof address === 'string').join(' ');
  return /\/document\/([1-9]\d{0,17})(?=[/ ]|$)/.exec(addresses)?.[1];
}

const REFERENCE = objectOf({ id: ID }, { self: TEXT });
const UNNAMED = { absent: UNUSABLE, wrong: UNUSABLE };
const ATTRIBUTES = detailsOf(objectOf({ id: { ...ID, ...UNNAMED } }, { value: ANY }));
const PLANNINGS = detailsOf(objectOf({}, { start_date: ANY, end_date: ANY }));
const NESTED: AnswerSchema<AgendaItem> = { read: (given, place) => AGENDA_ITEM.read(given, place) };
const ATTACHED = {
  documents: listOf(DOCUMENT),
  module_items: listOf(REFERENCE),
  agenda_items: listOf(NESTED),
};
const AGENDA_ITEM = objectOf(
  {
    id: ID,
    ...CONFIDENTIAL,
    ...GROUP,
    type: KIND,
    type_data: {
      ...objectOf({ attributes: ATTRIBUTES }, { title_prefix: NAME, heading: ANY }),
      absent: { value: { attributes: [] } },
      wrong: { value: { attributes: [] } },
    },
    ...ATTACHED,
  },
  { parent: objectOf({}, { id: ID }), order: NAME, start_date: ANY, end_date: ANY, last_modified: TEXT, ...TEMPLATE },
);
const MEETING = objectOf(
  {
    id: ID,
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
    gremium: { ...objectOf({ id: { ...ID, ...UNNAMED } }), wrong: UNUSABLE },
    body: NAME,
    url: TEXT,
    last_modified: TEXT,
    ...TEMPLATE,
  },
);
const EVENT = objectOf(
  {
    id: ID,
    ...GROUP,
    type: { ...KIND, ...textLike(/^(?:meeting|assembly)$/) },
    plannings: PLANNINGS,
    event_type_data: {
      ...objectOf({}, { agenda_item_count: COUNT, document_count: COUNT, meetings_count: COUNT }),
      absent: { ...UNUSABLE, value: {} },
      wrong: { value: {} },
    },
  },
  { ...CONFIDENTIAL, ...TEMPLATE, last_modified: TEXT },
);
const ASSEMBLY = objectOf(
  {
    id: ID,
    ...CONFIDENTIAL,
    meetings: listOf(objectOf({ id: ID }, { order: COUNT })),
  },
  { ...GROUP, ...TEMPLATE, documents: listOf(DOCUMENT), module_items: listOf(REFERENCE) },
);
const VALUE = objectOf(
  {},
  { content: ANY, meta_data: objectOf({}, { reference_model: TEXT, label: TEXT }), document: DOCUMENT },
);
const REGISTER_ITEM = objectOf(
  {
    id: ID,
    ...CONFIDENTIAL,
    ...GROUP,
    attributes: listOf(objectOf({ values: listOf(VALUE) }, { id: ID, label: TEXT, datatype: TEXT })),
  },
  { self: TEXT, last_modified: TEXT, ...TEMPLATE, attachments: objectOf({}, { document: listOf(DOCUMENT) }) },
);
const PAGE_COUNTS = { page: COUNT, total_pages: COUNT, total_items: COUNT, list_end: COUNT, total_results: COUNT };

interface Marks {
  readonly confidential?: boolean;
  readonly template?: boolean;
  readonly permission_group?: boolean;
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

export const readMeeting = createReader(MEETING);
export const readEvent = createReader(EVENT);
export const readAssembly = createReader(ASSEMBLY);
const parseRegisterItem = createReader(REGISTER_ITEM);
export const readReference = createReader(REFERENCE);
export const readPagination = createReader(
  objectOf({}, { ...PAGE_COUNTS, has_more_pages: textLike(/^(?:true|false|[01])$/) }),
);

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

export function isHidden({ confidential, template, permission_group }: Marks): boolean {
  return [confidential, template, permission_group].includes(true);
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
