import { builtInVersions, checkWhole, loadModel, type Model, type PartCheck } from '../../../gegevens/model/model.ts';
import type { GegevensRequest } from '../../../gegevens/model/selection.ts';
import { JadesError } from '../../../lib/jades/certificate.ts';
import type { Signer } from '../../../lib/jades/signature.ts';
import type { SignatureStyle, Verified, Verifier } from '../../../lib/jades/verify.ts';
import { isRecord, type JsonObject, valueAt } from '../../../lib/json/json-value.ts';
import type { KeptPages, SentRequest } from './kept-pages.ts';
import { isTemporaryStatus, parseJson, RequesterError, type SupplierResponse, sendRequest } from './send-request.ts';

export interface RequestDeliveryOptions {
  readonly url: string;
  readonly body: GegevensRequest;
  /** Headers beside those of digest and signature. */
  readonly headers: Readonly<Record<string, string>>;
  /** Headers that are new for each request. */
  readonly freshHeaders: (() => Readonly<Record<string, string>>) | undefined;
  readonly model: Model;
  readonly signal: AbortSignal;
}

/** What requests are signed and answers verified with. */
export interface Exchange {
  readonly signer: Signer;
  readonly style: SignatureStyle;
  readonly verifier: Verifier;
  /** Pages that an earlier run received: they are checked like any other, and not requested again. */
  readonly kept: KeptPages | undefined;
  /** Receives what is waited for. */
  readonly waiting: (why: string) => void;
}

export interface DeliveredPage extends CheckedPage {
  readonly page: number;
  readonly records: number;
  readonly answered: SupplierResponse;
  /** Absent for a page that an earlier run received. */
  readonly request: SentRequest | undefined;
}

/** Without a byte. */
const TIMEOUT_MS = 60_000;
const MAX_BYTES = 256 * 1024 * 1024;

/**
 * Requests a delivery and follows its pages, checking each: digest, signature, certificate, model, and that the pages belong together.
 * @throws {RequesterError} at the first fault
 */
export async function* requestDelivery(
  options: RequestDeliveryOptions,
  exchange: Exchange,
): AsyncGenerator<DeliveredPage> {
  const expected = { model: options.model, check: checkWhole(options.model) };
  let first: CheckedPage | undefined;
  let last: DeliveredPage | undefined;
  let records = 0;
  for (let page = 1; ; page += 1) {
    // Pages of another size than the supplier chose would overlap.
    const next = first?.paginering && { page, pageSize: first.paginering.pageSize };
    const body = JSON.stringify({ ...options.body, ...next });
    // After the first page that is missing nothing kept counts: it would be of another state.
    const isAfterNew = last?.request !== undefined;
    const received =
      (isAfterNew ? undefined : await findKept(exchange, page, body, expected)) ??
      (await ask(options, exchange, body, expected));
    const count = countRecords(received, options.model);
    records += count;
    if (first !== undefined || received.paginering !== undefined) compare(first ?? received, received, page);
    first ??= received;
    const isFirstNew = !isAfterNew && received.request !== undefined;
    if (last !== undefined && isFirstNew && envelopeOf(last, options.model) !== envelopeOf(received, options.model)) {
      const advice = 'start again without --resume';
      throw new RequesterError(`page ${page} belongs to a newer delivery than the pages kept: ${advice}`);
    }
    last = { ...received, page, records: count };
    yield last;
    const { totalPages = page, totalRecords = records } = received.paginering ?? {};
    if (page < totalPages) continue;
    if (totalRecords === records) return;
    throw new RequesterError(`the pages hold ${records} records, while \`totalRecords\` says ${totalRecords}`);
  }
}

type Received = CheckedPage & Pick<DeliveredPage, 'answered' | 'request'>;

async function ask(
  options: RequestDeliveryOptions,
  { signer, style, verifier, waiting }: Exchange,
  body: string,
  expected: ExpectedModel,
): Promise<Received> {
  const signed = await signedHeaders(signer, style, body);
  const limits = { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES };
  const headers = { ...options.headers, ...signed };
  const answered = await sendRequest({ ...options, ...limits, body, headers, waiting });
  const checked = await checkAnswer(answered, verifier, expected);
  return {
    ...checked,
    answered,
    request: { body, digest: signed.digest, signature: signed['nlgov-adr-payload-sig'] },
  };
}

/** A kept page, if it is the answer to this request and still holds; one that was damaged on disk is requested again. */
async function findKept(
  { kept, verifier, waiting }: Exchange,
  page: number,
  body: string,
  expected: ExpectedModel,
): Promise<Received | undefined> {
  const answered = await kept?.find(page, body);
  if (answered === undefined) return undefined;
  try {
    return { ...(await checkAnswer(answered, verifier, expected)), answered, request: undefined };
  } catch (error) {
    if (!(error instanceof RequesterError)) throw error;
    waiting(`page ${page} was kept but does not hold (${error.message}): asking for it again`);
    return undefined;
  }
}

/** What is the same on every page of one state: the period and the time of delivery. */
function envelopeOf({ gegevens }: CheckedPage, { mapping: { envelop } }: Model): string {
  const { startdatum, einddatum, aanleverdatumEnTijd } = envelop;
  return JSON.stringify([startdatum, einddatum, aanleverdatumEnTijd].map((path) => valueAt(gegevens, path)));
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

/** The headers of a signed request. */
export async function signedHeaders(signer: Signer, style: SignatureStyle, body: string) {
  const { digest, signature } = await signer.sign(Buffer.from(body), style);
  return {
    'content-type': 'application/json',
    accept: 'application/json, application/problem+json',
    digest,
    'nlgov-adr-payload-sig': signature,
  };
}

/** A page with a valid digest, signature, form and model. */
export interface CheckedPage {
  readonly gegevens: JsonObject;
  readonly paginering: Paginering | undefined;
  readonly verified: Verified;
}

const PAGINERING = ['pageSize', 'currentPage', 'totalPages', 'totalRecords'] as const;
type Paginering = Readonly<Record<(typeof PAGINERING)[number], number>>;

const SHOWN_FAULTS = 10;

/** The model that answers must fit, as a whole. */
interface ExpectedModel {
  readonly model: Model;
  readonly check: PartCheck;
}

/** Checks one answer. @throws {RequesterError} that says what is wrong */
export async function checkAnswer(
  { status, headers, body }: SupplierResponse,
  verifier: Verifier,
  { model, check }: ExpectedModel,
): Promise<CheckedPage> {
  if (status !== 200) {
    // An Outway or Inway that refuses says why in a header too, with or without a body.
    const problem = describeProblem(body, headers['fsc-error-code']?.[0]);
    throw new RequesterError(`status ${status}: ${problem}`, { isTemporary: isTemporaryStatus(status) });
  }
  const verified = await verifier
    .verify({ digestHeader: headers.digest, signatureHeader: headers['nlgov-adr-payload-sig'], body })
    .catch((cause: unknown) => {
      if (!(cause instanceof JadesError)) throw cause;
      throw new RequesterError(`the answer is not signed as it should be: ${cause.message}`, { cause });
    });
  const value = parseJson(body);
  if (value === undefined) throw new RequesterError('the answer is not JSON');
  if (!isRecord(value) || !isRecord(value.gegevens)) throw new RequesterError('the answer has no `gegevens`');
  const unknown = Object.keys(value).filter((name) => name !== 'gegevens' && name !== 'paginering');
  if (unknown.length > 0) throw new RequesterError(`the answer has unknown members: ${unknown.join(', ')}`);
  const { gegevens } = value;
  if (!check.ok(gegevens)) {
    const shown = check
      .faults(gegevens)
      .slice(0, SHOWN_FAULTS)
      .map(({ instancePath, message }) => `  ${instancePath || '/'} ${message}`);
    const { versie } = model.mapping;
    const other = builtInVersions(model.variant)
      .toReversed()
      .find((version) => version !== versie && checkWhole(loadModel(model.variant, version)).ok(gegevens));
    const advice =
      other === undefined ? [] : [`it is a delivery of model ${other}: --model ${other} requests it as such`];
    throw new RequesterError([`\`gegevens\` does not fit the model ${versie}:`, ...shown, ...advice].join('\n'));
  }
  if (value.paginering !== undefined && !isPaginering(value.paginering)) {
    throw new RequesterError('`paginering` is not what the contract says');
  }
  return { gegevens, paginering: value.paginering, verified };
}

function isPaginering(value: unknown): value is Paginering {
  if (!isRecord(value)) return false;
  return PAGINERING.every((name) => {
    const number = value[name];
    return typeof number === 'number' && Number.isInteger(number) && number >= (name === 'totalRecords' ? 0 : 1);
  });
}

/** What a problem document or FSC error says. */
export function describeProblem(body: Buffer, code?: string): string {
  const value = parseJson(body);
  if (!isRecord(value)) return code ?? 'no explanation';
  const { title, detail, domain } = value;
  return [value.code ?? code ?? value.type, domain, title, detail]
    .filter((text) => typeof text === 'string')
    .join(' - ');
}
