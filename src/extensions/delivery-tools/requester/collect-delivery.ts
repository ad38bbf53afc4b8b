/** Requests a delivery whole: every page checked and kept, written as one file, judged by the rules of the statistics office. */

import { randomUUID } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ItemList, Mapping } from '../../../gegevens/model/mapping.ts';
import { loadOwnKey, ownKeySigner } from '../../../gegevens/own-signer.ts';
import { plainStyles, type Signer } from '../../../lib/jades/signature.ts';
import { createVerifier, type Verifier, type VerifierOptions } from '../../../lib/jades/verify.ts';
import { isRecord, type JsonObject, valueAt, withValueAt } from '../../../lib/json/json-value.ts';
import { createGuardedFetch } from '../../../lib/outbound/guarded-fetch.ts';
import type { Config } from '../../../settings/read-config.ts';
import { type CheckReport, DeliveryCheck } from '../check/delivery-check.ts';
import { writeWhole } from '../delivery-files.ts';
import { textAround } from '../message-store.ts';
import { type DeliveredPage, type RequestDeliveryOptions, requestDelivery } from './request-delivery.ts';
import { parseJson, RequesterError, type SupplierResponse } from './send-request.ts';

/** What requests are signed and answers verified with. */
export interface Requester {
  readonly verifier: Verifier;
  readonly signer: Signer;
  close(): Promise<void>;
}

/** @throws {RequesterError} without roots to trust; what is wrong with the own key */
export async function openRequester(
  { gegevens, server }: Config,
  now: () => Date = () => new Date(),
  limits: VerifierOptions['limits'] = { ocspTimeoutMs: gegevens.ocspTimeoutMs },
): Promise<Requester> {
  if (gegevens.trustAnchors === undefined) throw new RequesterError('GEGEVENS_TRUST_ANCHORS is missing');
  const signer = ownKeySigner(loadOwnKey(gegevens, now()), { now });
  const anchors = await readFile(gegevens.trustAnchors, 'utf8');
  const { fetch, close } = createGuardedFetch({ allowPrivate: gegevens.revocationAllowPrivate, proxy: server });
  const { requiredPolicies, revocation, crlMaxMb } = gegevens;
  const verifier = createVerifier({
    ...{ fetch, anchors, requiredPolicies, revocation, now },
    limits: { ...limits, crlBytes: crlMaxMb * 1024 * 1024 },
  });
  return {
    verifier,
    signer,
    async close() {
      await verifier.close();
      await close();
    },
  };
}

interface CollectOptions extends RequestDeliveryOptions {
  readonly requester: Requester;
  readonly form: 'digest' | 'body';
  /** Directory of the answers as received. */
  readonly keep: string | undefined;
  /** Whether pages that an earlier run kept are not requested again. */
  readonly resume: boolean;
  /** File of the exchange model. */
  readonly out: string | undefined;
  readonly tell: (text: string) => void;
  readonly onPage?: (page: DeliveredPage) => void;
}

export interface Collected {
  readonly leveringen: number;
  readonly records: number;
  readonly zaken: number;
  readonly report: CheckReport;
}

/** @throws {RequesterError} at the first fault; {UnwritableFile} */
export async function collectDelivery(options: CollectOptions): Promise<Collected> {
  const { model, out } = options;
  const check = new DeliveryCheck({ model, now: new Date() });
  check.start('');
  const counts = { leveringen: 0, records: 0, zaken: 0 };
  const text = deliveryText(pagesOf(options), model.mapping, check, counts);
  try {
    if (out !== undefined) await writeWhole(out, text);
    else for await (const _ of text);
    return { ...counts, report: check.report() };
  } finally {
    check.close();
  }
}

async function* pagesOf(options: CollectOptions): AsyncGenerator<DeliveredPage> {
  const { requester, model, url, body, resume, keep, form, tell, onPage } = options;
  const identity = { url, variant: model.variant, model: model.mapping.versie, body: JSON.stringify(body) };
  const kept =
    keep === undefined ? undefined : await openKeptPages(keep, identity, resume ? (body.page ?? 1) : undefined);
  for await (const page of requestDelivery(options, { ...requester, style: plainStyles[form], kept, waiting: tell })) {
    if (!page.isKept) await kept?.keep(page.page, page);
    const of = page.paginering === undefined ? '' : ` of ${page.paginering.totalPages}`;
    const signer = page.verified.oin ?? 'nobody known';
    const ofEarlier = page.isKept ? ', kept by an earlier run' : '';
    tell(`page ${page.page}${of}: ${page.records} records, signed by ${signer}${ofEarlier}`);
    onPage?.(page);
    yield page;
  }
}

/** The pages as one message that can be imported again, levering by levering, each judged and counted on its way. */
async function* deliveryText(
  pages: AsyncIterable<DeliveredPage>,
  mapping: Mapping,
  check: DeliveryCheck,
  counts: Record<'leveringen' | ItemList, number>,
): AsyncGenerator<string> {
  let envelop: JsonObject = {};
  const leveringen = mergeLeveringen(pages, mapping, (first) => {
    envelop = first;
  });
  const around = (): (string | number)[] => textAround(envelop, [mapping.envelop.leveringen]);
  for await (const levering of leveringen) {
    yield counts.leveringen === 0 ? around().slice(0, 2).join('') : ',\n';
    judgeLevering(levering, mapping, check, counts);
    // Each page counts from 1.
    yield JSON.stringify(withValueAt(levering, mapping.levering.teller, counts.leveringen));
  }
  yield `${around()
    .slice(counts.leveringen === 0 ? 0 : 3)
    .filter((piece) => typeof piece === 'string')
    .join('')}\n`;
  check.envelop(withValueAt(envelop, mapping.envelop.leveringen, []));
}

/** A levering that continues on the next page is one levering. @param begin receives the message of the first page */
async function* mergeLeveringen(
  pages: AsyncIterable<DeliveredPage>,
  { envelop, levering: { records, zaken, teller } }: Mapping,
  begin: (first: JsonObject) => void,
): AsyncGenerator<JsonObject> {
  const lists = [records, ...(zaken === undefined ? [] : [zaken.lijst])];
  const headOf = (levering: JsonObject): string =>
    JSON.stringify([...lists, teller].reduce((head, path) => withValueAt(head, path, null), levering));
  const joined = (open: JsonObject, next: JsonObject): JsonObject =>
    lists.reduce((whole, path) => {
      const parts = [valueAt(open, path), valueAt(next, path)].filter((part) => Array.isArray(part));
      return parts.length === 0 ? whole : withValueAt(whole, path, parts.flat());
    }, open);
  let open: JsonObject | undefined;
  let isFirst = true;
  for await (const { gegevens } of pages) {
    if (isFirst) begin(gegevens);
    isFirst = false;
    const list = valueAt(gegevens, envelop.leveringen);
    for (const [index, levering] of (Array.isArray(list) ? list.filter(isRecord) : []).entries()) {
      if (index === 0 && open !== undefined && headOf(open) === headOf(levering)) open = joined(open, levering);
      else {
        if (open !== undefined) yield open;
        open = levering;
      }
    }
  }
  if (open !== undefined) yield open;
}

function judgeLevering(
  levering: JsonObject,
  { levering: { records, zaken } }: Mapping,
  check: DeliveryCheck,
  counts: Record<'leveringen' | ItemList, number>,
): void {
  let head = levering;
  for (const list of ['records', 'zaken'] as const) {
    const path = list === 'records' ? records : zaken?.lijst;
    const items = path === undefined ? undefined : valueAt(levering, path);
    if (path === undefined || !Array.isArray(items)) continue;
    counts[list] += items.length;
    for (const [index, item] of items.entries()) check.item(counts.leveringen, list, index, item, true);
    head = withValueAt(head, path, []);
  }
  check.levering(counts.leveringen, head);
  counts.leveringen += 1;
}

/** What a request is for; a directory is continued only with the same. */
interface RequestIdentity {
  readonly url: string;
  readonly variant: string;
  readonly model: string;
  /** JSON text of the first request. */
  readonly body: string;
}

/** An exchange as it was kept. */
export interface KeptExchange {
  readonly answered: SupplierResponse;
  readonly request: { readonly body: string; readonly digest: string; readonly signature: string };
}

export interface KeptPages {
  /** The page as an earlier run received it; `undefined` when it did not, or did not keep all of it. */
  find(page: number): Promise<KeptExchange | undefined>;
  keep(page: number, exchange: KeptExchange): Promise<void>;
}

/**
 * Opens a directory, which is made when it is not there. Each page is two files: the answer to the byte, and what was sent and received
 * around it, written last.
 * @param resume the number of the first page of the run to continue, if there is one; absent: a new run begins, whose pages replace those
 *   of the same number
 * @throws {RequesterError} when that run is of another request
 */
export async function openKeptPages(directory: string, identity: RequestIdentity, resume?: number): Promise<KeptPages> {
  await mkdir(directory, { recursive: true });
  const files = (page: number) => ({
    body: join(directory, `page-${page}.json`),
    about: join(directory, `page-${page}.exchange.json`),
  });
  const earlier = resume === undefined ? undefined : await readJson(files(resume).about);
  const other = isRecord(earlier?.identity) ? earlier.identity : undefined;
  const differs = Object.entries(identity).filter(([name, value]) => other !== undefined && other[name] !== value);
  if (differs.length > 0) {
    const what = differs.map(([name]) => name).join(', ');
    throw new RequesterError(`${directory} holds pages of another request (${what} differs): name another directory`);
  }
  const run = typeof earlier?.run === 'string' ? earlier.run : randomUUID();
  return {
    async find(page) {
      const about = await readJson(files(page).about);
      if (about?.run !== run || resume === undefined) return undefined;
      const body = await readFile(files(page).body).catch(() => undefined);
      return body === undefined ? undefined : readExchange(about, body);
    },
    async keep(page, { request, answered: { body, ...answered } }) {
      await writeWhole(files(page).body, [body]);
      const about = JSON.stringify({ run, identity, request, ...answered }, undefined, 2);
      await writeWhole(files(page).about, [`${about}\n`]);
    },
  };
}

/** @returns `undefined` for a file that is not there, or of a run that ended before it was complete */
async function readJson(path: string): Promise<Record<string, unknown> | undefined> {
  const text = await readFile(path).catch(() => undefined);
  const value = text && parseJson(text);
  return isRecord(value) ? value : undefined;
}

function readExchange(about: Record<string, unknown>, received: Buffer): KeptExchange | undefined {
  const { request, status, headers, transactionId } = about;
  if (!isRecord(request) || !isRecord(headers) || typeof status !== 'number') return undefined;
  const { body, digest, signature } = request;
  if (typeof body !== 'string' || typeof digest !== 'string' || typeof signature !== 'string') return undefined;
  const lists = Object.entries(headers).map(([name, values]) => [
    name,
    Array.isArray(values) ? values.map(String) : [],
  ]);
  return {
    request: { body, digest, signature },
    answered: {
      status,
      headers: Object.fromEntries(lists),
      body: received,
      transactionId: typeof transactionId === 'string' ? transactionId : undefined,
    },
  };
}
