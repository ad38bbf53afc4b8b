import { open, rename, rm, stat } from 'node:fs/promises';
import type { Mapping } from '../../../gegevens/model/mapping.ts';
import { checkWhole, type Model } from '../../../gegevens/model/model.ts';
import type { GegevensRequest } from '../../../gegevens/model/selection.ts';
import type { SignatureStyle } from '../../../lib/jades/protected-header.ts';
import type { Signer } from '../../../lib/jades/signature.ts';
import type { Verifier } from '../../../lib/jades/verify.ts';
import { isRecord, type JsonObject, valueAt, withValueAt } from '../../../lib/json/json-value.ts';
import { type CheckedPage, checkAnswer, type ExpectedModel } from './check-answer.ts';
import type { KeptExchange } from './kept-pages.ts';
import { RequesterError, type SupplierResponse, sendRequest } from './send-request.ts';

interface RequestDeliveryOptions {
  readonly url: string;
  readonly body: GegevensRequest;
  /** Headers beside those of digest and signature. */
  readonly headers: Readonly<Record<string, string>>;
  /** Headers that are new for each request. */
  readonly freshHeaders?: (() => Readonly<Record<string, string>>) | undefined;
  /** Finds a page that an earlier run received: it is checked like any other, and not asked for again. */
  readonly findKept?: ((page: number) => Promise<KeptExchange | undefined>) | undefined;
  readonly signer: Signer;
  readonly style: SignatureStyle;
  readonly verifier: Verifier;
  readonly model: Model;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly waiting: (why: string) => void;
}

export interface DeliveredPage extends CheckedPage {
  readonly page: number;
  readonly records: number;
  readonly answered: SupplierResponse;
  readonly request: KeptExchange['request'];
  /** An earlier run received it. */
  readonly isKept: boolean;
}

/**
 * Asks a supplier for a delivery and follows its pages, checking each: digest, signature, certificate, model, and that the pages
 * belong together.
 * @throws {RequesterError} at the first fault
 */
export async function* requestDelivery(options: RequestDeliveryOptions): AsyncGenerator<DeliveredPage> {
  const expected = { model: options.model, check: checkWhole(options.model) };
  let first: CheckedPage | undefined;
  let last: { readonly isKept: boolean; readonly envelope: string } | undefined;
  let records = 0;
  for (let page = options.body.page ?? 1; ; page += 1) {
    const body = JSON.stringify(first === undefined ? options.body : { ...options.body, ...nextPage(first, page) });
    // After the first page that is missing nothing kept counts: it would be of another state.
    const kept = last?.isKept === false ? undefined : await findKept(options, page, body, expected);
    const { answered, request, checked } = kept ?? (await ask(options, body, expected));
    const isKept = kept !== undefined;
    const received = checked.paginering?.currentPage ?? page;
    if (first === undefined && received !== page) {
      throw new RequesterError(`there is no page ${page}: the answer is page ${received}`);
    }
    const count = countRecords(checked, options.model);
    records += count;
    if (first !== undefined) compare(first, checked, page);
    first ??= checked;
    const envelope = envelopeOf(checked, options.model);
    if (last?.isKept === true && !isKept && last.envelope !== envelope) {
      throw new RequesterError(
        `page ${page} belongs to a newer delivery than the pages kept: start again without --resume`,
      );
    }
    last = { isKept, envelope };
    yield { ...checked, page, records: count, answered, request, isKept };
    const { paginering } = checked;
    if (paginering === undefined || page >= paginering.totalPages) {
      const all = (options.body.page ?? 1) === 1 ? paginering?.totalRecords : undefined;
      if (all !== undefined && all !== records) {
        throw new RequesterError(`the pages hold ${records} records, while \`totalRecords\` says ${all}`);
      }
      return;
    }
  }
}

type CheckedExchange = KeptExchange & { readonly checked: CheckedPage };

async function ask(options: RequestDeliveryOptions, body: string, expected: ExpectedModel): Promise<CheckedExchange> {
  const { digest, signature } = await options.signer.sign(Buffer.from(body), options.style);
  const answered = await sendRequest({
    ...options,
    body,
    headers: {
      ...options.headers,
      'content-type': 'application/json',
      accept: 'application/json, application/problem+json',
      digest,
      'nlgov-adr-payload-sig': signature,
    },
  });
  const checked = await checkAnswer(answered, options.verifier, expected);
  return { answered, request: { body, digest, signature }, checked };
}

/** A kept page, if it is the answer to this request and still holds; what was damaged on disk is asked for again. */
async function findKept(
  { findKept: find, verifier, waiting }: RequestDeliveryOptions,
  page: number,
  body: string,
  expected: ExpectedModel,
): Promise<CheckedExchange | undefined> {
  const kept = await find?.(page);
  if (kept?.request.body !== body) return undefined;
  try {
    return { ...kept, checked: await checkAnswer(kept.answered, verifier, expected) };
  } catch (error) {
    if (!(error instanceof RequesterError)) throw error;
    waiting(`page ${page} was kept but does not hold (${error.message}): asking for it again`);
    return undefined;
  }
}

/** What is the same on every page of one state: the period and the moment of delivery. */
function envelopeOf({ gegevens }: CheckedPage, { mapping: { envelop } }: Model): string {
  const { startdatum, einddatum, aanleverdatumEnTijd } = envelop;
  return JSON.stringify([startdatum, einddatum, aanleverdatumEnTijd].map((path) => valueAt(gegevens, path)));
}

/** Asks for the page size that the supplier chose: pages of another size would overlap. */
function nextPage({ paginering }: CheckedPage, page: number): Pick<GegevensRequest, 'page' | 'pageSize'> {
  return paginering === undefined ? { page } : { page, pageSize: paginering.pageSize };
}

function compare({ paginering: a }: CheckedPage, { paginering: b }: CheckedPage, page: number): void {
  if (a === undefined || b === undefined) throw new RequesterError(`page ${page} has no \`paginering\``);
  if (b.currentPage !== page) throw new RequesterError(`page ${page} says that it is page ${b.currentPage}`);
  const same = a.pageSize === b.pageSize && a.totalPages === b.totalPages && a.totalRecords === b.totalRecords;
  if (!same) throw new RequesterError(`page ${page} belongs to another delivery: its totals differ from those before`);
}

function countRecords({ gegevens }: CheckedPage, { mapping: { envelop, levering } }: Model): number {
  const leveringen = valueAt(gegevens, envelop.leveringen);
  return (Array.isArray(leveringen) ? leveringen : []).reduce((sum: number, each: unknown) => {
    const records = valueAt(each, levering.records);
    return sum + (Array.isArray(records) ? records.length : 0);
  }, 0);
}

/** Called with each whole levering of a delivery. @param envelop the message of its first page */
export type TakeLevering = (levering: JsonObject, envelop: JsonObject) => Promise<void>;

/** Puts the leveringen of pages together: one that goes on on the next page is one levering. */
export class LeveringMerger {
  readonly #mapping: Mapping;
  readonly #take: TakeLevering;
  #envelop: JsonObject | undefined;
  #open: JsonObject | undefined;

  constructor(mapping: Mapping, take: TakeLevering) {
    this.#mapping = mapping;
    this.#take = take;
  }

  async add(gegevens: JsonObject): Promise<void> {
    const list = valueAt(gegevens, this.#mapping.envelop.leveringen);
    this.#envelop ??= gegevens;
    for (const [index, levering] of (Array.isArray(list) ? list : []).entries()) {
      if (!isRecord(levering)) continue;
      const open = this.#open;
      if (index === 0 && open !== undefined && this.#headOf(open) === this.#headOf(levering)) {
        this.#open = this.#joined(open, levering);
      } else {
        await this.end();
        this.#open = levering;
      }
    }
  }

  async end(): Promise<void> {
    if (this.#open !== undefined && this.#envelop !== undefined) await this.#take(this.#open, this.#envelop);
    this.#open = undefined;
  }

  #headOf(levering: JsonObject): string {
    const { records, zaken, teller } = this.#mapping.levering;
    const lists = [records, ...(zaken === undefined ? [] : [zaken.lijst])];
    return JSON.stringify([...lists, teller].reduce((head, path) => withValueAt(head, path, null), levering));
  }

  #joined(open: JsonObject, next: JsonObject): JsonObject {
    const { records, zaken } = this.#mapping.levering;
    const lists = [records, ...(zaken === undefined ? [] : [zaken.lijst])];
    return lists.reduce((whole, path) => {
      const parts = [valueAt(open, path), valueAt(next, path)].filter((part) => Array.isArray(part));
      return parts.length === 0 ? whole : withValueAt(whole, path, parts.flat());
    }, open);
  }
}

/** A file of the exchange model that grows levering by levering, and can be imported again. */
interface MergedFile {
  readonly add: TakeLevering;
  /** Completes the file: only then it is there. @param envelop the message of the first page */
  end(envelop: JsonObject): Promise<void>;
  /** Releases it; what was not completed is removed. */
  close(): Promise<void>;
}

const PLACEHOLDER = '\u0000leveringen\u0000';

/** @throws {RequesterError} when the file cannot be written */
export async function openMergedFile(
  path: string,
  { envelop: paths, levering: { teller } }: Mapping,
): Promise<MergedFile> {
  // A pipe or device is written as it is.
  const isPlain = (await stat(path).catch(() => undefined))?.isFile() ?? true;
  const part = isPlain ? `${path}.part` : path;
  const file = await open(part, 'w', 0o600).catch((cause: unknown) => {
    throw new RequesterError(`${path} cannot be written`, { cause });
  });
  const around = (envelop: JsonObject): string[] =>
    JSON.stringify(withValueAt(envelop, paths.leveringen, PLACEHOLDER)).split(JSON.stringify(PLACEHOLDER));
  let count = 0;
  return {
    async add(levering, envelop) {
      count += 1;
      const before = count === 1 ? `${around(envelop)[0] ?? ''}[` : ',';
      // Each page counts from 1.
      await file.write(`${before}${JSON.stringify(withValueAt(levering, teller, count))}`);
    },
    end: async (envelop) => {
      const [before = '', after = ''] = around(envelop);
      await file.write(`${count === 0 ? `${before}[` : ''}]${after}\n`);
      if (isPlain) await rename(part, path);
    },
    close: async () => {
      await file.close();
      if (isPlain) await rm(part, { force: true });
    },
  };
}
