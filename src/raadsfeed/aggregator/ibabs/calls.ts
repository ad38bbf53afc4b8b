/** The calls to iBabs: SOAP 1.1, one address for all organisations. */
import type { OutboundError } from '../../../lib/outbound/outbound-error.ts';
import type { DateWindow } from '../supplier/source-adapter.ts';
import {
  type Refusal,
  SupplierClient,
  type SupplierClientOptions,
  SupplierError,
  SupplierFault,
} from '../supplier/supplier-client.ts';
import { readXml, type XmlElement } from './read-xml.ts';

const PUBLIC_BASE = 'https://wcf.ibabs.eu/api/Public.svc';

const SERVICE = 'http://tempuri.org/';
const CONTRACTS = 'http://schemas.datacontract.org/2004/07/iBabsWCFObjects';

/** Alone among the operations, its answers have no `Status`. */
const LISTS = 'GetLists';

/** Pause after 429 or 403 without `Retry-After`: a block would last for days. */
const PAUSE_MS = 60_000;
/** A quarter of the largest organisation is a tenth of it. */
const MAX_BYTES = 33_554_432;

export type IbabsClientOptions = Partial<Omit<SupplierClientOptions, 'query' | 'base'>> & {
  readonly base?: string | undefined;
  readonly pauseMs?: number;
};

export class IbabsClient extends SupplierClient {
  constructor({ base = PUBLIC_BASE, pauseMs = PAUSE_MS, ...options }: IbabsClientOptions = {}) {
    super({
      base,
      allowPrivate: false,
      concurrency: 2,
      // The service knows its callers by an IPv4 address.
      ipv4Only: true,
      maxBytes: MAX_BYTES,
      refusalOf: (error) => refusalOf(error, pauseMs),
      ...options,
    });
  }

  async meetingTypes(site: string, signal: AbortSignal): Promise<readonly XmlElement[]> {
    return listOf(await this.#ask('GetMeetingtypes', site, elements({ Sitename: site }), signal), 'Id');
  }

  async meetings(
    site: string,
    { from, to }: DateWindow,
    signal: AbortSignal,
    attempts?: number,
  ): Promise<readonly XmlElement[]> {
    const days = { StartDate: `${from}T00:00:00`, EndDate: `${to}T23:59:59` };
    const parameters = elements({ Sitename: site, ...days, MetaDataOnly: 'false' });
    const answer = await this.#ask('GetMeetingsByDateRange', site, parameters, signal, attempts);
    // A meeting without an id is one too: its parts must not be taken for meetings.
    return listOf(answer, 'Id', 'MeetingDate', 'MeetingtypeId', 'MeetingItems');
  }

  async registers(site: string, signal: AbortSignal): Promise<readonly XmlElement[]> {
    return recordsOf(await this.#ask(LISTS, site, elements({ Sitename: site }), signal), 'Key');
  }

  /** The entries of a register that changed at or after `since` (Dutch local time). */
  async entries(site: string, list: string, since: string, signal: AbortSignal): Promise<readonly XmlElement[]> {
    const filter = elements({ 'b:Sitename': site, 'r:ListId': list, 'r:SinceDate': since });
    const namespaces = `xmlns:b="${CONTRACTS}.Base" xmlns:r="${CONTRACTS}.Public.Request"`;
    const parameters = `<filterRequest ${namespaces}>${filter}</filterRequest>`;
    return listOf(await this.#ask('GetListsEntriesByFilterRequest', site, parameters, signal), 'EntryId');
  }

  async entry(site: string, list: string, id: string, signal: AbortSignal): Promise<XmlElement> {
    return await this.#ask('GetListEntry', site, elements({ Sitename: site, ListId: list, EntryId: id }), signal);
  }

  async #ask(
    operation: string,
    site: string,
    parameters: string,
    signal: AbortSignal,
    attempts?: number,
  ): Promise<XmlElement> {
    const post = {
      headers: {
        'content-type': 'text/xml; charset=utf-8',
        accept: 'text/xml',
        soapaction: `"${SERVICE}IPublic/${operation}"`,
      },
      body:
        '<?xml version="1.0" encoding="utf-8"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>' +
        `<${operation} xmlns="${SERVICE}">${parameters}</${operation}></s:Body></s:Envelope>`,
      accepts: /^(text|application)\/xml\s*(;|$)/i,
      read: (text: string) => resultOf(operation, text, site),
    };
    return await this.post(post, signal, attempts);
  }
}

/** In the order of the service's contract. */
function elements(values: Readonly<Record<string, string>>): string {
  const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return Object.entries(values)
    .map(([name, value]) => `<${name}>${escaped(value)}</${name}>`)
    .join('');
}

/** A block page says so in its text; any other refusal is a request to slow down. */
function refusalOf({ status, problem }: OutboundError, pauseMs: number): Refusal | undefined {
  if (status === 403 && typeof problem === 'string' && /the request is blocked/i.test(problem)) {
    return {
      block:
        'iBabs blocks the address of this service (403, "The request is blocked"). Waiting does not lift it: have iBabs lift it, ' +
        'and then call `koppelvlak bron resume ibabs`',
    };
  }
  return status === 403 || status === 429 ? { pauseMs } : undefined;
}

async function resultOf(operation: string, text: string, site: string): Promise<XmlElement> {
  const result = descend(await readXml(text), ['Body', `${operation}Response`, `${operation}Result`]);
  if (result === undefined || result.isNil)
    throw new SupplierError('unreadable', `the answer has no ${operation}Result`);
  const [status, message = ''] = [textIn(result, 'Status'), textIn(result, 'Message')];
  if (status === (operation === LISTS ? undefined : 'OK')) return result;
  if (status !== 'ERR') throw new SupplierError('unreadable', `Status is ${status?.slice(0, 40) ?? 'absent'}`);
  return judgeMessage(message.trim(), site);
}

const NOTHING: XmlElement = { name: 'nothing', children: [], text: '', isNil: false };

/** @throws {SupplierError} {SupplierFault} */
function judgeMessage(message: string, site: string): XmlElement {
  // A dissolved organisation's site may still show meetings, without their types.
  if (/^No public (meetings for this (date range|meetingtype)|meetingtypes)!?/i.test(message)) return NOTHING;
  if (/has no access to site/i.test(message)) {
    const refused = `iBabs does not serve the address of this service for ${site} (${message.slice(0, 150)})`;
    throw new SupplierFault('no-access', `${refused}: have iBabs put it on its list`);
  }
  if (/Invalid site/i.test(message)) {
    const advice = 'look up its name in the address of its portal';
    throw new SupplierFault('unknown-organisation', `iBabs knows no site ${site}: ${advice}`);
  }
  if (/No public account/i.test(message)) {
    const advice = 'the organisation itself has iBabs open one';
    throw new SupplierFault('not-public', `${site} has no public account at iBabs: ${advice}`);
  }
  const isTooLarge = /Execution Timeout Expired/i.test(message);
  throw new SupplierError(isTooLarge ? 'unavailable' : 'unreadable', `ERR: ${message.slice(0, 200)}`);
}

function descend(element: XmlElement, names: readonly string[]): XmlElement | undefined {
  return names.reduce<XmlElement | undefined>((at, name) => at?.children.find((child) => child.name === name), element);
}

function textIn({ children }: XmlElement, name: string): string | undefined {
  const found = children.find((child) => child.name === name);
  return found === undefined || found.isNil ? undefined : found.text.trim();
}

/** @throws {SupplierError} without a list, be it empty */
function listOf(answer: XmlElement, ...members: readonly string[]): readonly XmlElement[] {
  const hasList = answer === NOTHING || answer.children.some(({ name }) => name !== 'Status' && name !== 'Message');
  if (!hasList) throw new SupplierError('unreadable', 'the answer has no list');
  return recordsOf(answer, ...members);
}

/** The outermost elements with one of these members, whatever the list around them is called. */
function recordsOf(element: XmlElement, ...members: readonly string[]): readonly XmlElement[] {
  return element.children.flatMap((child) =>
    child.children.some(({ name }) => members.includes(name)) ? [child] : recordsOf(child, ...members),
  );
}
