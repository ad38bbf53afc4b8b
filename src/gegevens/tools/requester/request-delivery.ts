/** Requests a delivery page by page, and checks each. */

import { builtInVersions, loadModel, type Model } from '../../../lib/exchange-model/model.ts';
import { JadesError } from '../../../lib/jades/certificate.ts';
import { createSigner, PLAIN_STYLES, type Signer } from '../../../lib/jades/signature.ts';
import { createVerifier, type Verified, type Verifier, type VerifierOptions } from '../../../lib/jades/verify.ts';
import { isRecord, type JsonObject, valueAt } from '../../../lib/json/json-value.ts';
import { createGuardedFetch } from '../../../lib/outbound/guarded-fetch.ts';
import { readTextFile } from '../../../lib/text-file.ts';
import type { Config } from '../../../settings/read-config.ts';
import { loadOwnKey } from '../../own-signer.ts';
import { type KeptPages, openKeptPages, type SentRequest } from './kept-pages.ts';
import { isTemporaryStatus, parseJson, RequesterError, type SupplierResponse, sendRequest } from './send-request.ts';

export type Requester = Awaited<ReturnType<typeof openRequester>>;

/** The keys that sign requests and the roots that verify answers. @throws {RequesterError} without roots to trust; or when its own key is unusable */
export async function openRequester(
  { gegevens, server }: Config,
  now: () => Date = () => new Date(),
  limits: VerifierOptions['limits'] = { ocspTimeoutMs: gegevens.ocspTimeoutMs },
) {
  if (gegevens.trustAnchors === undefined) throw new RequesterError('GEGEVENS_TRUST_ANCHORS is missing');
  const signer = createSigner({ ...loadOwnKey(gegevens, now()), now });
  const anchors = await readTextFile(gegevens.trustAnchors);
  const { fetch, close } = createGuardedFetch({ allowPrivate: gegevens.revocationAllowPrivate, proxy: server });
  const { requiredPolicies, revocation, crlMaxMb } = gegevens;
  const verifier = createVerifier({
    fetch,
    anchors,
    requiredPolicies,
    revocation,
    now,
    limits: { ...limits, crlBytes: crlMaxMb * 1024 * 1024 },
  });
  return {
    verifier,
    signer,
    async close(): Promise<void> {
      await verifier.close();
      await close();
    },
  };
}

export interface RequestDeliveryOptions {
  readonly url: string;
  readonly body: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
  /** Headers that are new for each request. */
  readonly freshHeaders: (() => Readonly<Record<string, string>>) | undefined;
  readonly model: Model;
  readonly requester: Requester;
  readonly form: 'digest' | 'body';
  readonly keep: string | undefined;
  /** Whether pages that an earlier run kept are checked like any other, and not requested again. */
  readonly resume: boolean;
  readonly signal: AbortSignal;
  readonly tell: (text: string) => void;
}

/** A page with a valid digest, signature, form and model. */
interface CheckedPage {
  readonly gegevens: JsonObject;
  readonly paginering: Paginering | undefined;
  readonly verified: Verified;
  readonly answered: SupplierResponse;
}

interface ReceivedPage extends CheckedPage {
  /** Absent for a page that an earlier run received. */
  readonly request: SentRequest | undefined;
}

export interface DeliveredPage extends ReceivedPage {
  readonly page: number;
  readonly records: number;
}

/** Milliseconds without a byte. */
const TIMEOUT_MS = 60_000;
const MAX_BYTES = 256 * 1024 * 1024;

/** Requests a delivery and follows its pages, checking each, and that they belong together. @throws {RequesterError} at the first fault */
export async function* requestDelivery(options: RequestDeliveryOptions): AsyncGenerator<DeliveredPage> {
  const { url, model, keep, resume, tell } = options;
  const identity = { url, variant: model.variant, model: model.mapping.versie, body: JSON.stringify(options.body) };
  const kept = keep === undefined ? undefined : await openKeptPages(keep, identity, resume);
  let first: CheckedPage | undefined;
  let last: DeliveredPage | undefined;
  let total = 0;
  for (let page = 1; ; page += 1) {
    // Pages of another size than the supplier chose would overlap.
    const next = first?.paginering && { page, pageSize: first.paginering.pageSize };
    const body = JSON.stringify({ ...options.body, ...next });
    // Kept pages after the first missing one do not count: they would be of another state.
    const isAfterNew = last?.request !== undefined;
    const received = (isAfterNew ? undefined : await findKept(options, kept, page, body)) ?? (await ask(options, body));
    const { paginering, request, verified } = received;
    const records = countRecords(received, model);
    total += records;
    if (first !== undefined || paginering !== undefined) compare(first ?? received, received, page);
    first ??= received;
    const isFirstNew = !isAfterNew && request !== undefined;
    if (last !== undefined && isFirstNew && envelopeOf(last, model) !== envelopeOf(received, model)) {
      const advice = 'start again without --resume';
      throw new RequesterError(`page ${page} belongs to a newer delivery than the pages kept: ${advice}`);
    }
    if (request !== undefined) await kept?.keep(page, request, received.answered);
    const of = paginering === undefined ? '' : ` of ${paginering.totalPages}`;
    const ofEarlier = request === undefined ? ', kept by an earlier run' : '';
    tell(`page ${page}${of}: ${records} records, signed by ${verified.oin ?? 'nobody known'}${ofEarlier}`);
    last = { ...received, page, records };
    yield last;
    const { totalPages = page, totalRecords = total } = paginering ?? {};
    if (page < totalPages) continue;
    if (totalRecords === total) return;
    throw new RequesterError(`the pages hold ${total} records, while \`totalRecords\` says ${totalRecords}`);
  }
}

async function ask({ requester, form, tell, ...options }: RequestDeliveryOptions, body: string): Promise<ReceivedPage> {
  const signed = await signedHeaders(requester.signer, form, body);
  const limits = { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES };
  const headers = { ...options.headers, ...signed };
  const answered = await sendRequest({ ...options, ...limits, body, headers, waiting: tell });
  const request = { body, digest: signed.digest, signature: signed['nlgov-adr-payload-sig'] };
  return { ...(await checkAnswer(answered, requester.verifier, options.model)), request };
}

/** A kept page, if it is the answer to this request and still valid; one that was damaged on disk is requested again. */
async function findKept(
  { requester, model, tell }: RequestDeliveryOptions,
  kept: KeptPages | undefined,
  page: number,
  body: string,
): Promise<ReceivedPage | undefined> {
  const answered = await kept?.find(page, body);
  if (answered === undefined) return undefined;
  try {
    return { ...(await checkAnswer(answered, requester.verifier, model)), request: undefined };
  } catch (error) {
    if (!(error instanceof RequesterError)) throw error;
    tell(`page ${page} was kept but is not valid (${error.message}): requesting it again`);
    return undefined;
  }
}

/** The values that all pages of one state share: the period and the time of delivery. */
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

export async function signedHeaders(signer: Signer, form: 'digest' | 'body', body: string) {
  const { digest, signature } = await signer.sign(Buffer.from(body), PLAIN_STYLES[form]);
  return {
    'content-type': 'application/json',
    accept: 'application/json, application/problem+json',
    digest,
    'nlgov-adr-payload-sig': signature,
  };
}

const PAGINERING = ['pageSize', 'currentPage', 'totalPages', 'totalRecords'] as const;
type Paginering = Readonly<Record<(typeof PAGINERING)[number], number>>;

const SHOWN_FAULTS = 10;

/** Checks one answer. @throws {RequesterError} that says what is wrong */
export async function checkAnswer(answered: SupplierResponse, verifier: Verifier, model: Model): Promise<CheckedPage> {
  const { status, headers, body } = answered;
  if (status !== 200) {
    // An Outway or Inway also gives the reason of a refusal in a header, with or without a body.
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
  if (!isRecord(value)) throw new RequesterError('the answer has no `gegevens`');
  const { gegevens, paginering, ...unknown } = value;
  if (!isRecord(gegevens)) throw new RequesterError('the answer has no `gegevens`');
  const names = Object.keys(unknown);
  if (names.length > 0) throw new RequesterError(`the answer has unknown members: ${names.join(', ')}`);
  if (!model.whole.ok(gegevens)) throw misfit(gegevens, model);
  if (paginering !== undefined && !isPaginering(paginering))
    throw new RequesterError('`paginering` is not what the contract says');
  return { gegevens, paginering, verified, answered };
}

/** Names the faults, and the other model that it does fit. */
function misfit(gegevens: JsonObject, { variant, mapping, whole }: Model): RequesterError {
  const shown = whole
    .faults(gegevens)
    .slice(0, SHOWN_FAULTS)
    .map(({ instancePath, message }) => `  ${instancePath || '/'} ${message}`);
  const other = builtInVersions(variant)
    .toReversed()
    .find((version) => version !== mapping.versie && loadModel(variant, version).whole.ok(gegevens));
  const advice =
    other === undefined ? [] : [`it is a delivery of model ${other}: --model ${other} requests it as such`];
  return new RequesterError([`\`gegevens\` does not fit the model ${mapping.versie}:`, ...shown, ...advice].join('\n'));
}

function isPaginering(value: unknown): value is Paginering {
  if (!isRecord(value)) return false;
  return PAGINERING.every((name) => {
    const number = value[name];
    return typeof number === 'number' && Number.isInteger(number) && number >= (name === 'totalRecords' ? 0 : 1);
  });
}

/** The text of a problem document or FSC error. */
export function describeProblem(body: Buffer, code?: string): string {
  const value = parseJson(body);
  if (!isRecord(value)) return code ?? 'no explanation';
  const { title, detail, domain } = value;
  return [value.code ?? code ?? value.type, domain, title, detail]
    .filter((text) => typeof text === 'string')
    .join(' - ');
}
