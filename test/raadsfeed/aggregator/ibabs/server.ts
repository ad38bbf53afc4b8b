/** A supplier in the form of the public service of iBabs, on loopback, that misbehaves as a test requires. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { readXml, type XmlElement } from '../../../../src/raadsfeed/aggregator/ibabs/read-xml.ts';

/** A value in an answer: text, an object, a list with the name of its elements, or `nil`. */
export type Value = string | number | boolean | null | Fields | readonly Value[];
export interface Fields {
  /** An absent one has no element. */
  readonly [member: string]: Value | undefined;
}

interface Register {
  readonly id: string;
  readonly name: string;
  readonly entries: readonly Fields[];
}

/** The contents of a site. Register entries combine the members of the list and those of `GetListEntry`. */
export interface Site {
  types: Fields[];
  meetings: Fields[];
  registers: Register[];
}

export interface IbabsCall {
  readonly operation: string;
  readonly site: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** Milliseconds, of `performance.now()`. */
  readonly at: number;
  readonly headers: IncomingMessage['headers'];
}

/** Misbehaviour instead of an answer: a status with a body, `Status` ERR with a message, OK without contents, or an invalid response. */
export type Misbehaviour =
  | { readonly status: number; readonly body: string; readonly headers?: Readonly<Record<string, string>> }
  | { readonly err: string }
  | 'bare'
  | 'hang'
  | 'reset'
  | 'half';

export interface IbabsServer {
  readonly base: string;
  readonly sites: Map<string, Site>;
  readonly calls: IbabsCall[];
  rule: ((call: IbabsCall, times: number) => Misbehaviour | undefined) | undefined;
  delay: number;
  readonly mostAtOnce: () => number;
  readonly count: (operation: string) => number;
  readonly close: () => Promise<void>;
}

const NAMESPACES = [
  'xmlns="http://tempuri.org/"',
  'xmlns:a="http://schemas.datacontract.org/2004/07/iBabsWCFObjects.Base"',
  'xmlns:b="http://schemas.datacontract.org/2004/07/iBabsWCFObjects.Public"',
  'xmlns:c="http://schemas.datacontract.org/2004/07/iBabsWCFObjects.Public.Request"',
  'xmlns:i="http://www.w3.org/2001/XMLSchema-instance"',
].join(' ');

/** Names of the elements of lists. */
const ELEMENTS: Readonly<Record<string, string>> = {
  Meetings: 'iBabsMeeting',
  MeetingItems: 'iBabsMeetingItem',
  Documents: 'iBabsDocument',
  ListItems: 'iBabsListItem',
  Meetingtypes: 'iBabsMeetingtype',
  ListEntries: 'iBabsListEntryBasic',
  Values: 'iBabsKeyValue',
};

function xml(name: string, value: Value | undefined): string {
  if (value === undefined) return '';
  if (value === null) return `<b:${name} i:nil="true"/>`;
  if (Array.isArray(value)) {
    return `<b:${name}>${value.map((one: Value) => xml(ELEMENTS[name] ?? 'item', one)).join('')}</b:${name}>`;
  }
  if (typeof value === 'object') {
    const members = Object.entries(value).map(([member, inner]) => xml(member, inner));
    return `<b:${name}>${members.join('')}</b:${name}>`;
  }
  const text = String(value).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('\n', '&#xA;');
  return `<b:${name}>${text}</b:${name}>`;
}

export async function startIbabs(): Promise<IbabsServer> {
  const sites = new Map<string, Site>();
  const calls: IbabsCall[] = [];
  const counts = new Map<string, number>();
  let running = 0;
  let most = 0;
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const at = performance.now();
    running += 1;
    most = Math.max(most, running);
    response.once('close', () => {
      running -= 1;
    });
    const call = { ...(await readCall((await buffer(request)).toString('utf8'), request)), at };
    calls.push(call);
    const times = (counts.get(call.operation) ?? 0) + 1;
    counts.set(call.operation, times);
    await new Promise((resolve) => setTimeout(resolve, supplier.delay));
    reply(call, times, response);
  };
  const reply = (call: IbabsCall, times: number, response: ServerResponse): void => {
    const odd = supplier.rule?.(call, times);
    if (odd === 'hang') return;
    if (odd === 'reset') {
      response.destroy();
      return;
    }
    if (typeof odd === 'object' && 'status' in odd) {
      response.writeHead(odd.status, { 'content-type': 'text/html', ...odd.headers }).end(odd.body);
      return;
    }
    const site = sites.get(call.site);
    const failed = typeof odd === 'object' ? odd.err : site === undefined ? 'Invalid site!' : undefined;
    const good = odd === 'bare' || site === undefined ? STATUS : answer(call, site);
    const result = failed === undefined ? good : err(failed);
    const { operation } = call;
    const text =
      `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><${operation}Response ${NAMESPACES}>` +
      `<${operation}Result>${result}</${operation}Result></${operation}Response></s:Body></s:Envelope>`;
    response.writeHead(200, { 'content-type': 'text/xml; charset=utf-8' });
    if (odd === 'half') response.write(text.slice(0, text.length / 2), () => response.destroy());
    else response.end(text);
  };
  const server = createServer((request, response) => void handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const supplier: IbabsServer = {
    base: `http://127.0.0.1:${address.port}/api/Public.svc`,
    sites,
    calls,
    rule: undefined,
    delay: 0,
    mostAtOnce: () => most,
    count: (operation) => calls.filter((call) => call.operation === operation).length,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return supplier;
}

async function readCall(body: string, { headers }: IncomingMessage): Promise<Omit<IbabsCall, 'at'>> {
  const root = await readXml(body);
  const [operation] = root.children[0]?.children ?? [];
  if (operation === undefined) throw new Error('a call without an operation');
  if (headers.soapaction !== `"http://tempuri.org/IPublic/${operation.name}"`) throw new Error('a wrong SOAPAction');
  const parameters: Record<string, string> = {};
  const collect = ({ children, name, text }: XmlElement): void => {
    if (children.length === 0) parameters[name] = text;
    for (const child of children) collect(child);
  };
  collect(operation);
  return { operation: operation.name, site: parameters.Sitename ?? '', parameters, headers };
}

const STATUS = '<b:Message i:nil="true"/><b:Status>OK</b:Status>';
const err = (message: string): string => `<b:Message>${message}</b:Message><b:Status>ERR</b:Status>`;

const LISTED = ['EntryId', 'EntryMasterId', 'EntryTitle', 'ListId', 'ListName', 'MutationDate'];

function pick(fields: Fields, isPicked: (name: string) => boolean): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => isPicked(name)));
}

function answer({ operation, parameters }: IbabsCall, site: Site): string {
  if (operation === 'GetMeetingtypes') return STATUS + xml('Meetingtypes', site.types);
  if (operation === 'GetMeetingsByDateRange') {
    const { StartDate = '', EndDate = '' } = parameters;
    const meetings = site.meetings.filter(({ MeetingDate }) => {
      const day = String(MeetingDate).slice(0, 10);
      return day >= StartDate.slice(0, 10) && day <= EndDate.slice(0, 10);
    });
    return meetings.length === 0 ? err('No public meetings for this date range!') : STATUS + xml('Meetings', meetings);
  }
  if (operation === 'GetLists') {
    return site.registers.map(({ id, name }) => xml('iBabsKeyValue', { Key: id, Value: name })).join('');
  }
  const register = site.registers.find(({ id }) => id === parameters.ListId);
  if (register === undefined) return err('Invalid list!');
  if (operation === 'GetListsEntriesByFilterRequest') {
    const since = parameters.SinceDate ?? '';
    const entries = register.entries.filter(({ MutationDate }) => String(MutationDate) >= since);
    return (
      STATUS +
      xml(
        'ListEntries',
        entries.map((entry) => pick(entry, (name) => LISTED.includes(name))),
      )
    );
  }
  const entry = register.entries.find(({ EntryId }) => EntryId === parameters.EntryId);
  if (operation !== 'GetListEntry' || entry === undefined) return err('Invalid entry!');
  const inner = pick(entry, (name) => !LISTED.includes(name));
  return (
    STATUS +
    Object.entries(inner)
      .map(([name, value]) => xml(name, value))
      .join('')
  );
}

/** The largest number of calls that began within this many milliseconds of each other. */
export function mostCallsIn(calls: readonly IbabsCall[], ms: number): number {
  const times = calls.map(({ at }) => at).toSorted((a, b) => a - b);
  let first = 0;
  return times.reduce((most, at, last) => {
    while (at - (times[first] ?? at) >= ms) first += 1;
    return Math.max(most, last - first + 1);
  }, 0);
}

/** The page with which the supplier blocks an address. */
export const BLOCKED: Misbehaviour = { status: 403, body: '<html><h2>The request is blocked.</h2></html>' };

export const guid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

/** A document with this number. */
export function documentOf(n: number, more: Fields = {}): Fields {
  return {
    Confidential: false,
    DisplayName: `Stuk ${n}`,
    FileName: `stuk-${n}.pdf`,
    FileSize: 1000 + n,
    Id: guid(n),
    PublicDownloadURL: `https://api1.ibabs.example/publicdownload.aspx?site=voorbeeldstad&id=${guid(n)}`,
    ...more,
  };
}

export function itemOf(n: number, features: string, more: Fields = {}): Fields {
  return {
    Confidential: false,
    Documents: [],
    Features: features,
    Id: guid(n),
    Title: `Punt ${n}`,
    Explanation: null,
    ...more,
  };
}

export function meetingOf(n: number, day: string, more: Fields = {}): Fields {
  return {
    Documents: [],
    EndTime: '22:30',
    Explanation: null,
    Id: guid(n),
    ListItems: [],
    Location: 'Raadzaal',
    MeetingDate: `${day}T00:00:00`,
    MeetingItems: [],
    MeetingtypeId: guid(9001),
    PublishDate: '2026-01-01T12:00:00',
    StartTime: '20:00',
    ...more,
  };
}

export function siteOf(more: Partial<Site> = {}): Site {
  const types = [
    { Abbreviation: 'RAAD', Description: 'Gemeenteraad', Id: guid(9001), Meetingtype: 'Raad' },
    { Abbreviation: 'CIE', Description: 'Commissie Ruimte Hillegom', Id: guid(9002), Meetingtype: 'Commissie' },
  ];
  return { types, meetings: [], registers: [], ...more };
}

export function entryOf(n: number, values: Readonly<Record<string, string>>, more: Fields = {}): Fields {
  return {
    EntryId: guid(n),
    EntryMasterId: guid(n),
    EntryTitle: `Stuk ${n}`,
    ListId: guid(8001),
    ListName: 'Moties',
    MutationDate: '2026-02-01T09:00:00',
    Documents: [],
    DocumentsLabel: null,
    Values: Object.entries(values).map(([Key, Value]) => ({ Key, Value })),
    ...more,
  };
}
