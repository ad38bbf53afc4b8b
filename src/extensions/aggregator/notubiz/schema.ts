/** The answers of NotuBiz as far as they are used, as JSON Schemas; see `docs/notubiz.md`. */
import type { IssueSink } from '../supplier/issue-log.ts';
import {
  ANY,
  type AnswerSchema,
  COUNT,
  createReader,
  ID,
  IDENTITY,
  listOf,
  objectOf,
  TEXT,
} from '../supplier/read-answer.ts';

/** `0`/`1`, as a number, text or boolean. */
type Flag = 0 | 1 | '0' | '1' | boolean;

/** What may make something unfit to publish. */
interface Marks {
  readonly confidential?: Flag;
  readonly template?: Flag;
  readonly permission_group?: string;
}

export interface NotubizDocument extends Marks {
  readonly id: string;
  readonly url?: string;
  readonly title?: string;
  readonly date?: unknown;
  readonly last_modified?: unknown;
  /** The current one. */
  readonly version?: number;
  readonly types: readonly { readonly value?: string }[];
  readonly versions: readonly {
    readonly id?: number;
    readonly file_name?: string;
    readonly mime_type?: string;
    readonly file_size?: number;
  }[];
}

/** A register item that something refers to. */
export interface ModuleReference {
  readonly id: string;
  readonly self?: string;
}

interface Attribute {
  readonly id?: string;
  readonly value?: unknown;
}

/** What documents, register items and agenda items are attached to. */
interface Holder extends Marks {
  readonly id: string;
  readonly last_modified?: string;
  readonly documents: readonly NotubizDocument[];
  readonly module_items: readonly ModuleReference[];
  readonly agenda_items: readonly AgendaItem[];
}

export interface AgendaItem extends Holder {
  readonly type: string;
  readonly parent?: { readonly id?: string };
  readonly order?: string;
  readonly start_date?: unknown;
  readonly end_date?: unknown;
  readonly type_data: {
    readonly title_prefix?: string;
    readonly heading?: unknown;
    readonly attributes: readonly Attribute[];
  };
}

interface Planning {
  readonly start_date?: unknown;
  readonly end_date?: unknown;
}

export interface Meeting extends Holder {
  readonly organisation?: { readonly id?: string };
  readonly parent?: { readonly id?: string };
  readonly gremium?: { readonly id: string };
  readonly canceled: Flag;
  readonly body?: string;
  readonly url?: string;
  readonly plannings: readonly Planning[];
  readonly attributes: readonly Attribute[];
}

/** A meeting as the list of events shows it. */
export interface EventSummary extends Marks {
  readonly id: string;
  readonly type: string;
  readonly last_modified?: string;
  readonly plannings: readonly Planning[];
  /** What the supplier says there is: a check on what was read. */
  readonly event_type_data: {
    readonly agenda_item_count?: number;
    readonly document_count?: number;
    readonly meetings_count?: number;
  };
}

export interface Assembly extends Marks {
  readonly id: string;
  readonly meetings: readonly { readonly id: string; readonly order?: number }[];
  readonly documents?: readonly NotubizDocument[];
  readonly module_items?: readonly ModuleReference[];
}

export interface RegisterItem extends Marks {
  readonly id: string;
  readonly self?: string;
  readonly last_modified?: string;
  readonly attributes: readonly {
    readonly id?: string;
    readonly datatype?: string;
    readonly values: readonly {
      readonly content?: unknown;
      readonly meta_data?: { readonly reference_model?: string };
      readonly document?: NotubizDocument;
    }[];
  }[];
  readonly attachments?: { readonly document?: readonly NotubizDocument[] };
}

export interface Pagination {
  readonly page?: number;
  readonly total_pages?: number;
  readonly total_items?: number;
  readonly has_more_pages?: boolean;
  readonly list_end?: number;
  readonly total_results?: number;
}

/** An unknown mark hides; a missing one does not, but for `permission_group`. */
const FLAG: AnswerSchema = {
  enum: [0, 1, '0', '1', false, true],
  absent: { what: 'unusable-value', value: 0 },
  wrong: { value: 1 },
};
const CONFIDENTIAL = { confidential: FLAG };
const GROUP = { permission_group: { type: 'string', absent: { value: 'unknown' }, wrong: { value: 'unknown' } } };
const TEMPLATE = { template: FLAG };
const MARKS = ['confidential', 'template', 'permission_group'];

const VERSION = objectOf({}, { id: COUNT, file_name: TEXT, mime_type: TEXT, file_size: COUNT });
const DOCUMENT = objectOf(
  { id: IDENTITY, ...CONFIDENTIAL, types: listOf(objectOf({}, { value: TEXT })), versions: listOf(VERSION) },
  { url: TEXT, title: TEXT, date: ANY, last_modified: ANY, version: COUNT, ...GROUP, ...TEMPLATE },
);
const REFERENCE = objectOf({ id: IDENTITY }, { self: TEXT });
const UNNAMED = { absent: { what: 'unusable-value' }, wrong: { what: 'unusable-value' } } as const;
const ATTRIBUTES = listOf(objectOf({ id: { ...IDENTITY, ...UNNAMED } }, { value: ANY }));
const PLANNINGS = listOf(objectOf({}, { start_date: ANY, end_date: ANY }));
const ATTACHED = {
  documents: listOf(DOCUMENT),
  module_items: listOf(REFERENCE),
  agenda_items: listOf({ $ref: '#/$defs/agendaItem' }),
};
const AGENDA_ITEM = objectOf(
  {
    id: IDENTITY,
    ...CONFIDENTIAL,
    ...GROUP,
    type: { type: 'string', absent: { value: '' }, wrong: { value: '' } },
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
    canceled: { ...FLAG, wrong: { what: 'unusable-value', value: 0 } },
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
    type: { enum: ['meeting', 'assembly'], absent: { value: '' }, wrong: { value: '' } },
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
    meetings: { ...listOf(objectOf({ id: IDENTITY }, { order: COUNT })), absent: { value: [] } },
  },
  { ...GROUP, ...TEMPLATE, documents: listOf(DOCUMENT), module_items: listOf(REFERENCE) },
);
const VALUE = objectOf({}, { content: ANY, meta_data: objectOf({}, { reference_model: TEXT }), document: DOCUMENT });
const REGISTER_ITEM = objectOf(
  {
    id: IDENTITY,
    ...CONFIDENTIAL,
    ...GROUP,
    attributes: listOf(objectOf({ values: listOf(VALUE) }, { id: ID, datatype: TEXT })),
  },
  { self: TEXT, last_modified: TEXT, ...TEMPLATE, attachments: objectOf({}, { document: listOf(DOCUMENT) }) },
);
const PAGE_COUNTS = { page: COUNT, total_pages: COUNT, total_items: COUNT, list_end: COUNT, total_results: COUNT };

/** A document without an id has one in its address. */
function completeId(object: Record<string, unknown>): void {
  if (object.id !== undefined) return;
  const id = /\/document\/([1-9]\d{0,17})(?=[/ ]|$)/.exec(`${object.self} ${object.url}`)?.[1];
  if (id !== undefined) object.id = id;
}

export const readMeeting = createReader<Meeting>({ ...MEETING, $defs: { agendaItem: AGENDA_ITEM } }, completeId, MARKS);
export const readEvent = createReader<EventSummary>(EVENT, undefined, MARKS);
export const readAssembly = createReader<Assembly>(ASSEMBLY, completeId, MARKS);
const parseRegisterItem = createReader<RegisterItem>(REGISTER_ITEM, completeId, MARKS);
export const readReference = createReader<ModuleReference>(REFERENCE);
export const readPagination = createReader<Pagination>(
  objectOf({}, { ...PAGE_COUNTS, has_more_pages: { type: 'boolean' } }),
);

/** Reads a register entry, the `item` of a call or one of `items[]`. */
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

/** Ids of the agenda items that a register item refers to. */
export function agendaItemsOf({ attributes }: RegisterItem): string[] {
  return attributes
    .flatMap(({ values }) => values)
    .filter(({ meta_data: meta }) => meta?.reference_model === 'agenda_item')
    .map(({ content }) => String(content))
    .filter((id) => IS_ID.test(id));
}

export function isSet(flag: Flag | undefined): boolean {
  return Number(flag) === 1;
}

/** Whether something may not be published: confidential, a template, or not public. */
export function isHidden({ confidential, template, permission_group: group = 'public' }: Marks): boolean {
  return isSet(confidential) || isSet(template) || group !== 'public';
}

/** The first value of an attribute that says something. */
export function attributeOf(attributes: readonly Attribute[], id: string): unknown {
  return attributes.find((attribute) => attribute.id === id && attribute.value !== undefined)?.value;
}

/** The content of an attribute of a register item; 1 is its title. */
export function registerValue({ attributes }: RegisterItem, id: string): unknown {
  return attributes.find((attribute) => attribute.id === id)?.values[0]?.content;
}

export function registerDate(item: RegisterItem): unknown {
  return registerValue(item, '15');
}
