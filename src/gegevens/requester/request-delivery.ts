import { open } from 'node:fs/promises';
import { type JsonObject, valueAt, withValueAt } from '../../kernel/json-value.ts';
import type { SignatureStyle } from '../jades/protected-header.ts';
import type { Signer } from '../jades/signature.ts';
import type { Verifier } from '../jades/verify.ts';
import type { Mapping } from '../model/mapping.ts';
import { checkWhole, type Model } from '../model/model.ts';
import type { GegevensRequest } from '../model/selection.ts';
import { type CheckedPage, checkAnswer } from './check-answer.ts';
import { RequesterError, type SupplierResponse, sendRequest } from './send-request.ts';

interface RequestDeliveryOptions {
  readonly url: string;
  readonly body: GegevensRequest;
  /** Headers beside those of digest and signature. */
  readonly headers: Readonly<Record<string, string>>;
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
  readonly request: { readonly body: string; readonly digest: string; readonly signature: string };
}

/**
 * Asks a supplier for a delivery and follows its pages, checking each: digest, signature, certificate, model, and that the pages
 * belong together.
 * @throws {RequesterError} at the first fault
 */
export async function* requestDelivery(options: RequestDeliveryOptions): AsyncGenerator<DeliveredPage> {
  const check = checkWhole(options.model);
  let first: CheckedPage | undefined;
  let records = 0;
  for (let page = options.body.page ?? 1; ; page += 1) {
    const body = JSON.stringify(first === undefined ? options.body : { ...options.body, ...nextPage(first, page) });
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
    const checked = await checkAnswer(answered, options.verifier, check);
    const received = checked.paginering?.currentPage ?? page;
    if (first === undefined && received !== page) {
      throw new RequesterError(`there is no page ${page}: the answer is page ${received}`);
    }
    const count = countRecords(checked, options.model);
    records += count;
    if (first !== undefined) compare(first, checked, page);
    first ??= checked;
    yield { ...checked, page, records: count, answered, request: { body, digest, signature } };
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

/** A file of the exchange model that grows page by page, and can be imported again. */
interface MergedFile {
  add(gegevens: JsonObject): Promise<void>;
  /** Completes the file. */
  end(): Promise<void>;
  close(): Promise<void>;
}

const PLACEHOLDER = '\u0000leveringen\u0000';

/** @throws {RequesterError} when the file cannot be written */
export async function openMergedFile(path: string, { envelop, levering: { teller } }: Mapping): Promise<MergedFile> {
  const file = await open(path, 'w').catch((cause: unknown) => {
    throw new RequesterError(`${path} cannot be written`, { cause });
  });
  let after: string | undefined;
  let count = 0;
  return {
    async add(gegevens) {
      const list = valueAt(gegevens, envelop.leveringen);
      if (after === undefined) {
        const [before = '', rest = ''] = JSON.stringify(withValueAt(gegevens, envelop.leveringen, PLACEHOLDER)).split(
          JSON.stringify(PLACEHOLDER),
        );
        after = rest;
        await file.write(`${before}[`);
      }
      for (const levering of Array.isArray(list) ? list : []) {
        count += 1;
        // Each page counts from 1.
        await file.write(`${count === 1 ? '' : ','}${JSON.stringify(withValueAt(levering, teller, count))}`);
      }
    },
    end: async () => {
      await file.write(`]${after ?? ''}\n`);
    },
    close: () => file.close(),
  };
}
