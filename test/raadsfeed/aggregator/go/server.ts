/** An organisation's interface in the form of GemeenteOplossingen, of one version or both. */
import { type Imitation, type ImitationCall, startImitation } from '../imitation.ts';

export type Raw = Record<string, unknown>;

export interface GoServer extends Imitation {
  /** The address that an operator enters. */
  readonly address: string;
  /** Whole meetings as the first version lists them, by `id`. */
  readonly meetings: Map<number, Raw>;
  /** Members that `meetings/{id}` adds. */
  readonly details: Map<number, Raw>;
  /** Documents of the second version that belong to no meeting. */
  readonly documents: Raw[];
  /** Meetings of the second version that cannot be requested by themselves. */
  readonly unfound: Set<number>;
  totalAsText: boolean;
  /** Maximum records per page of the second version. */
  perPage: number;
  /** Ignores the requested days: returns every meeting. */
  ignoresDays: boolean;
  isOpen: boolean;
  /** Replaces the second version's envelope. */
  form: ((records: unknown) => unknown) | undefined;
}

const MISSING = { status: 404, body: { status: 'ERROR', code: 404, messages: [] } };

export async function startGo(...versions: readonly ('v1' | 'v2')[]): Promise<GoServer> {
  const imitation = await startImitation((call) => {
    const version = versions.find((one) => call.path.startsWith(`/api/${one}/`));
    if (version === undefined) return MISSING;
    if (!supplier.isOpen) return { status: 200, body: { code: 'authorization_required' } };
    const path = call.path.slice(`/api/${version}/`.length);
    return version === 'v1' ? first(supplier, path, call) : second(supplier, path, call);
  });
  const supplier: GoServer = Object.assign(imitation, {
    address: `${imitation.base}/api`,
    meetings: new Map<number, Raw>(),
    details: new Map<number, Raw>(),
    documents: [],
    unfound: new Set<number>(),
    totalAsText: false,
    perPage: 3,
    ignoresDays: false,
    isOpen: true,
    form: undefined,
  });
  return supplier;
}

function inDays({ meetings, ignoresDays }: GoServer, { query }: ImitationCall): Raw[] {
  const [from, to] = [query.date_from, query.date_to].map((time) => {
    if (!/^\d{9,10}$/.test(time ?? '')) throw new Error(`not a time of the supplier: ${time}`);
    return new Date(Number(time) * 1000 + 7_200_000).toISOString().slice(0, 10);
  });
  const inside = ({ date }: Raw): boolean => {
    const day = String(date).slice(0, 10);
    return day >= String(from) && day <= String(to);
  };
  return [...meetings.values()].filter((meeting) => ignoresDays || inside(meeting));
}

function first(supplier: GoServer, path: string, call: ImitationCall) {
  if (path === 'meetings') return { status: 200, body: inDays(supplier, call) };
  const id = Number(/^meetings\/(\d+)$/.exec(path)?.[1]);
  const meeting = supplier.meetings.get(id);
  return meeting === undefined ? MISSING : { status: 200, body: { ...meeting, ...supplier.details.get(id) } };
}

function second(supplier: GoServer, path: string, call: ImitationCall) {
  const [kind, id = '', part] = path.split('/');
  const meeting = supplier.meetings.get(Number(id));
  const { items: _items, documents: _documents, ...own } = { ...meeting, ...supplier.details.get(Number(id)) };
  if (path === 'meetings') {
    const bare = inDays(supplier, call).map(({ items: _i, documents: _d, ...record }) => record);
    return page('meetings', bare, call, supplier);
  }
  if (path === 'documents') return page('documents', supplier.documents, call, supplier);
  if (kind === 'meetings' && meeting !== undefined) {
    if (part === 'meetingitems') {
      const items = list(meeting.items).map(({ documents: _d, ...item }) => item);
      return page('meetingitems', items, call, supplier);
    }
    if (part === 'documents') return page('documents', list(meeting.documents), call, supplier);
    if (part === undefined && !supplier.unfound.has(Number(id))) {
      const body = supplier.form?.(own) ?? { status: 'OK', code: 200, messages: [], result: { meeting: own } };
      return { status: 200, body };
    }
  }
  const item = [...supplier.meetings.values()].flatMap(({ items }) => list(items)).find((one) => String(one.id) === id);
  if (kind === 'meetingitems' && part === 'documents' && item !== undefined) {
    return page('documents', list(item.documents), call, supplier);
  }
  return MISSING;
}

function list(value: unknown): Raw[] {
  return Array.isArray(value) ? value : [];
}

function page(member: string, all: readonly Raw[], { query }: ImitationCall, { totalAsText, perPage, form }: GoServer) {
  const [offset, limit] = [Number(query.offset), Math.min(Number(query.limit), perPage)];
  const records = all.slice(offset, offset + limit);
  const totalCount = totalAsText ? String(all.length) : all.length;
  const result = { offset, limit, count: records.length, totalCount, [member]: records };
  return { status: 200, body: form?.(records) ?? { status: 'OK', code: 200, messages: [], result } };
}

export function documentOf(id: number, more: Raw = {}): Raw {
  return { id, filename: `stuk-${id}.pdf`, ...more };
}

/** A document in the form of the second version. */
export function fullDocumentOf(id: number, more: Raw = {}): Raw {
  return {
    id,
    fileName: `stuk ${id}.docx`,
    documentTypeLabel: 'Raadsvragen',
    description: `Stuk ${id}`,
    fileSize: 62_118,
    publicationDate: { date: '2025-02-11 10:15:30.000000', timezone_type: 3, timezone: 'Europe/Amsterdam' },
    confidential: false,
    ...more,
  };
}

export function itemOf(id: number, more: Raw = {}): Raw {
  return { id, number: `${id}`, title: `Punt ${id}`, description: '', sortorder: 1, documents: [], ...more };
}

export function meetingOf(id: number, more: Raw = {}): Raw {
  return {
    id,
    date: '2025-01-14',
    startTime: '19:30',
    description: `Raad ${id}`,
    location: 'Raadzaal',
    canceled: false,
    inactive: false,
    dmu: { id: 14, name: 'Gemeenteraad' },
    items: [],
    documents: [],
    ...more,
  };
}
