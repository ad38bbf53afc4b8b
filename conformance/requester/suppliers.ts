/** The suppliers of a run: one server on this machine, with an address for each, which keeps every request. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listsOf } from '../../src/lib/exchange-model/mapping.ts';
import type { Model } from '../../src/lib/exchange-model/model.ts';
import { syntheticDelivery } from '../../src/lib/exchange-model/synthetic/delivery.ts';
import { isRecord, type JsonObject, valueAt, withValueAt } from '../../src/lib/json/json-value.ts';
import { listenOnLoopback } from '../../src/lib/loopback-server.ts';
import { readBody } from '../../src/lib/outbound/guarded-fetch.ts';
import { DATE } from '../../src/lib/time.ts';
import { bytesOf, jsonIn } from '../client.ts';
import type { ShownExchange } from '../exchange.ts';
import { signedHeaders } from '../gegevens/signed-request.ts';
import { objectsIn } from '../json-members.ts';
import { type SignedMessage, signedMessage } from '../signature/message.ts';
import type { RunKeys } from './keys.ts';
import { type Answer, isScenario, QUARTER, SCENARIOS, type ScenarioName } from './scenarios.ts';

export interface ReceivedRequest {
  readonly scenario: ScenarioName;
  readonly message: SignedMessage;
  /** Parsed by `jsonIn`. */
  readonly json: unknown;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Records it with the status of its answer; the contents of the answer are known. */
  readonly shown: ShownExchange;
}

export type Suppliers = Awaited<ReturnType<typeof startSuppliers>>;

interface SuppliersOptions {
  readonly keys: Pick<RunKeys, 'suppliers'>;
  readonly model: Model;
  /** 0 takes a free port. */
  readonly port: number;
  readonly token: string;
  /** Requests that a scenario answers; further ones get 429. */
  readonly mostRequests?: number;
}

const RECORDS = 5;
const PAGE_SIZE = 2;
/** More than any requester needs that stops at the end. */
const MOST_REQUESTS = 30;
const MOST_BYTES = 1024 * 1024;
/** Total number of requests kept; later ones are refused unread. */
const MOST_KEPT = 5000;
const SHOWN_BODY = 1000;

/** @throws when the port is taken */
export async function startSuppliers({ keys, model, port, token, mostRequests = MOST_REQUESTS }: SuppliersOptions) {
  const received: ReceivedRequest[] = [];

  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const [, name = ''] = /^\/([\w-]+)\/v1\/gegevens(?:\?|$)/.exec(incoming.url ?? '') ?? [];
    if (!isScenario(name)) {
      outgoing.writeHead(404).end();
      return;
    }
    if (received.length >= MOST_KEPT) {
      outgoing.writeHead(429, { connection: 'close' }).end();
      return;
    }
    const body = await readBody(incoming, undefined, MOST_BYTES);
    const json = jsonIn(body);
    const count = received.filter(({ scenario }) => scenario === name).length + 1;
    const made = answerTo(name, isRecord(json) ? json : {}, { count, now: Date.now() });
    const denied = denial(incoming, token, count > mostRequests);
    const { status, headers, bytes } = denied ?? signedBy(made, keys);
    const pairs = incoming.rawHeaders.flatMap((header, i, all) => (i % 2 ? [] : [[header, all[i + 1] ?? ''] as const]));
    const { method = '', url = '' } = incoming;
    const message = signedMessage(`request ${received.length + 1} (${name})`, pairs, body);
    const sent = Object.fromEntries(pairs);
    const shown = { method, url, sent, sentText: body.toString().slice(0, SHOWN_BODY), status, headers: {}, text: '' };
    received.push({ scenario: name, message, json, at: Date.now(), shown });
    outgoing.writeHead(status, headers).end(bytes);
  };

  const answerTo = (name: ScenarioName, asked: JsonObject, { count, now }: { count: number; now: number }): Answer => {
    const { isLater, change, paged = true, records: usual = RECORDS } = SCENARIOS[name];
    const page = Math.max(1, wholeNumber(asked.page) ?? 1);
    const pageSize = Math.max(1, wholeNumber(asked.pageSize) ?? PAGE_SIZE);
    const isPaged = paged || asked.page !== undefined || asked.pageSize !== undefined;
    const later = isLater?.({ page, count, now }) === true;
    const records = later ? usual + 1 : usual;
    const gegevens = deliveryOf(model, asked, { seed: name, records, hour: later ? '10' : '09' });
    const totalPages = Math.max(1, Math.ceil(records / pageSize));
    // A page past the end gets the first one as its answer.
    const currentPage = page > totalPages ? 1 : page;
    const value = isPaged
      ? {
          gegevens: pageOf(gegevens, model, (currentPage - 1) * pageSize, currentPage * pageSize),
          paginering: { pageSize, currentPage, totalPages, totalRecords: records },
        }
      : { gegevens };
    const good: Answer = { status: 200, value, signer: 'supplier', wishes: {}, headers: {} };
    return { ...good, ...change?.(good, { page, count, now }) };
  };

  const { server, address, close } = await listenOnLoopback(port);
  server.on('request', (incoming, outgoing) => {
    answer(incoming, outgoing).catch(() => outgoing.destroy());
  });
  return {
    received,
    close,
    /** Address of `gegevens` at a scenario's supplier. */
    addressOf: (name: ScenarioName): string => `${address}/${name}/v1/gegevens`,
    /** Records of a scenario's state. */
    recordsOf: (name: ScenarioName): number => SCENARIOS[name].records ?? RECORDS,
  };
}

function denial({ headers, method }: IncomingMessage, token: string, isTooMuch: boolean) {
  const problem = (status: number, code: string, more: Readonly<Record<string, string>>) => ({
    status,
    headers: { 'content-type': 'application/problem+json', 'fsc-error-code': code, ...more },
    bytes: bytesOf({ code, domain: 'ERROR_DOMAIN_INWAY', status }),
  });
  if (method !== 'POST') return problem(405, 'ERROR_CODE_METHOD_UNSUPPORTED', { allow: 'POST' });
  const tokens = [headers.authorization, headers['fsc-authorization']];
  // The scheme is case-insensitive (RFC 9110, section 11.1).
  if (!tokens.some((sent) => String(sent).replace(/^bearer /i, '') === token))
    return problem(401, 'ERROR_CODE_ACCESS_TOKEN_MISSING', { 'www-authenticate': 'Bearer' });
  return isTooMuch ? problem(429, 'ERROR_CODE_TOO_MANY_REQUESTS', { 'retry-after': '600' }) : undefined;
}

function signedBy(answer: Answer, { suppliers }: Pick<RunKeys, 'suppliers'>) {
  const { status, value, signer, wishes, after = (headers) => ({ ...headers }) } = answer;
  const bytes = bytesOf(wishes.body ?? value);
  const signed = after(signedHeaders(bytes, suppliers[signer], wishes));
  const type = status === 200 ? 'application/json' : 'application/problem+json';
  const headers = { 'content-type': type, 'cache-control': 'no-store', ...answer.headers, ...signed };
  return { status, headers, bytes: wishes.sent ?? bytes };
}

function wholeNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}

/** The whole delivery for a period, at some hour of its last day. */
function deliveryOf(
  model: Model,
  asked: JsonObject,
  { seed, records, hour }: { readonly seed: string; readonly records: number; readonly hour: string },
): JsonObject {
  const day = (value: unknown, fallback: string): string =>
    typeof value === 'string' && DATE.test(value) ? value : fallback;
  const period = {
    start: day(asked.aanleverperiodeStartdatum, QUARTER.aanleverperiodeStartdatum),
    end: day(asked.aanleverperiodeEinddatum, QUARTER.aanleverperiodeEinddatum),
  };
  const { aanleverdatumEnTijd: time } = model.mapping.envelop;
  return withValueAt(syntheticDelivery({ model, records, seed, period }), time, `${period.end}T${hour}:00:00Z`);
}

/** The records between two positions, within their leveringen; the first levering if there are none. */
function pageOf(gegevens: JsonObject, { mapping }: Model, from: number, to: number): JsonObject {
  const { records: list, zaken, teller } = mapping.levering;
  let before = 0;
  const kept = objectsIn(gegevens, ...mapping.envelop.leveringen).flatMap((levering) => {
    const records = objectsIn(levering, ...list);
    const own = records.slice(Math.max(0, from - before), Math.max(0, to - before));
    before += records.length;
    if (own.length === 0 && records.length > 0) return [];
    const page = [...listsOf(mapping).values()].reduce((head, path) => withValueAt(head, path, []), levering);
    const withRecords = withValueAt(page, list, own);
    if (zaken === undefined || own.length < records.length) return [withRecords];
    // A case belongs to the first of its signals; the signals on a page here include all of its signals.
    return [withValueAt(withRecords, zaken.lijst, valueAt(levering, zaken.lijst))];
  });
  return withValueAt(
    gegevens,
    mapping.envelop.leveringen,
    kept.map((levering, i) => withValueAt(levering, teller, i + 1)),
  );
}
