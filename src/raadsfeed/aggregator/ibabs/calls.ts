/** The calls to iBabs: SOAP 1.1, one address for all organisations. */
import type { OutboundError } from '../../../lib/outbound/outbound-error.ts';
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

/** Pause after 429 or 403 without `Retry-After`: a block would last for days. */
const PAUSE_MS = 60_000;
/** A quarter of the largest organisation is a tenth of it. */
const MAX_BYTES = 33_554_432;

export type IbabsClientOptions = Partial<Omit<SupplierClientOptions, 'query' | 'base'>> & {
  readonly base?: string | undefined;
  readonly pauseMs?: number;
};

/** Its parameters are in the order of the service's contract. */
interface Operation {
  readonly name: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** Instead of plain parameters. */
  readonly body?: string;
  /** Its answers have no `Status`. */
  readonly hasStatus?: false;
}

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
    return listOf(await this.#ask({ name: 'GetMeetingtypes', parameters: { Sitename: site } }, signal), 'Id');
  }

  /** The meetings of these days, with everything in them. */
  async meetings(
    site: string,
    { from, to }: { readonly from: string; readonly to: string },
    signal: AbortSignal,
    attempts?: number,
  ): Promise<readonly XmlElement[]> {
    const parameters = {
      Sitename: site,
      StartDate: `${from}T00:00:00`,
      EndDate: `${to}T23:59:59`,
      MetaDataOnly: 'false',
    };
    const answer = await this.#ask({ name: 'GetMeetingsByDateRange', parameters }, signal, attempts);
    // A meeting without an id is one too: its parts must not be taken for meetings.
    return listOf(answer, 'Id', 'MeetingDate', 'MeetingtypeId', 'MeetingItems');
  }

  /** `Key` and `Value` of each register. */
  async registers(site: string, signal: AbortSignal): Promise<readonly XmlElement[]> {
    const parameters = { Sitename: site };
    return recordsOf(await this.#ask({ name: 'GetLists', parameters, hasStatus: false }, signal), 'Key');
  }

  /** The entries of a register that changed at or after `since` (Dutch local time). */
  async entries(site: string, list: string, since: string, signal: AbortSignal): Promise<readonly XmlElement[]> {
    const body =
      `<filterRequest xmlns:b="${CONTRACTS}.Base" xmlns:r="${CONTRACTS}.Public.Request">` +
      `<b:Sitename>${escapeXml(site)}</b:Sitename><r:ListId>${escapeXml(list)}</r:ListId>` +
      `<r:SinceDate>${escapeXml(since)}</r:SinceDate></filterRequest>`;
    const name = 'GetListsEntriesByFilterRequest';
    return listOf(await this.#ask({ name, parameters: {}, body }, signal), 'EntryId');
  }

  async entry(site: string, list: string, id: string, signal: AbortSignal): Promise<XmlElement> {
    return await this.#ask({ name: 'GetListEntry', parameters: { Sitename: site, ListId: list, EntryId: id } }, signal);
  }

  async #ask(operation: Operation, signal: AbortSignal, attempts?: number): Promise<XmlElement> {
    const { name, parameters, body } = operation;
    const fields = Object.entries(parameters).map(([key, value]) => `<${key}>${escapeXml(value)}</${key}>`);
    const post = {
      headers: {
        'content-type': 'text/xml; charset=utf-8',
        accept: 'text/xml',
        soapaction: `"${SERVICE}IPublic/${name}"`,
      },
      body:
        '<?xml version="1.0" encoding="utf-8"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>' +
        `<${name} xmlns="${SERVICE}">${body ?? fields.join('')}</${name}></s:Body></s:Envelope>`,
      accepts: /^(text|application)\/xml\s*(;|$)/i,
      read: (text: string) => resultOf(operation, text, parameters.Sitename ?? ''),
    };
    return await this.post(post, signal, attempts);
  }
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
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

/** @throws {SupplierError} {SupplierFault} */
async function resultOf({ name, hasStatus }: Operation, text: string, site: string): Promise<XmlElement> {
  const result = descend(await readXml(text), ['Body', `${name}Response`, `${name}Result`]);
  if (result === undefined || result.isNil) throw new SupplierError('unreadable', `the answer has no ${name}Result`);
  const [status, message = ''] = [textIn(result, 'Status'), textIn(result, 'Message')];
  if (hasStatus === false ? status === undefined : status === 'OK') return result;
  if (status !== 'ERR') throw new SupplierError('unreadable', `Status is ${status?.slice(0, 40) ?? 'absent'}`);
  return judgeMessage(message.trim(), site);
}

const NOTHING: XmlElement = { name: 'nothing', children: [], text: '', isNil: false };

function judgeMessage(message: string, site: string): XmlElement {
  // A dissolved organisation's site may still show meetings, without their types.
  if (/^No public (meetings for this (date range|meetingtype)|meetingtypes)!?/i.test(message)) return NOTHING;
  if (/has no access to site/i.test(message)) {
    throw new SupplierFault(
      'no-access',
      `iBabs does not serve the address of this service for ${site} (${message.slice(0, 150)}): have iBabs put it on its list`,
    );
  }
  if (/Invalid site/i.test(message)) {
    throw new SupplierFault(
      'unknown-organisation',
      `iBabs knows no site ${site}: look up its name in the address of its portal`,
    );
  }
  if (/No public account/i.test(message)) {
    throw new SupplierFault(
      'not-public',
      `${site} has no public account at iBabs: the organisation itself has iBabs open one`,
    );
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
