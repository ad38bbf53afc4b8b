/** Requests a delivery whole: every page checked and kept, written as one file, judged by the rules of the statistics office. */
import { readFile } from 'node:fs/promises';
import { loadOwnKey } from '../../../gegevens/own-signer.ts';
import { createSigner, plainStyles, type Signer } from '../../../lib/jades/signature.ts';
import { createVerifier, type Verifier, type VerifierOptions } from '../../../lib/jades/verify.ts';
import { isRecord, type JsonObject, valueAt, withValueAt } from '../../../lib/json/json-value.ts';
import { createGuardedFetch } from '../../../lib/outbound/guarded-fetch.ts';
import type { Config } from '../../../settings/read-config.ts';
import { type CheckReport, DeliveryCheck } from '../check/delivery-check.ts';
import { writeWhole } from '../delivery-files.ts';
import { listsOf, MessageStore } from '../message-store.ts';
import { openKeptPages } from './kept-pages.ts';
import { type DeliveredPage, type RequestDeliveryOptions, requestDelivery } from './request-delivery.ts';
import { RequesterError } from './send-request.ts';

/** What requests are signed and answers verified with. */
export interface Requester {
  readonly verifier: Verifier;
  readonly signer: Signer;
  close(): Promise<void>;
}

/** @throws {RequesterError} without roots to trust; or when its own key is unusable */
export async function openRequester(
  { gegevens, server }: Config,
  now: () => Date = () => new Date(),
  limits: VerifierOptions['limits'] = { ocspTimeoutMs: gegevens.ocspTimeoutMs },
): Promise<Requester> {
  if (gegevens.trustAnchors === undefined) throw new RequesterError('GEGEVENS_TRUST_ANCHORS is missing');
  const signer = createSigner({ ...loadOwnKey(gegevens, now()), now });
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

/** @throws {RequesterError} at the first fault; errors of the file system */
export async function collectDelivery(options: CollectOptions): Promise<Collected> {
  const { model, out } = options;
  const {
    envelop: paths,
    levering: { teller },
  } = model.mapping;
  const lists = listsOf(model.mapping);
  const message = new MessageStore(model.mapping);
  const check = new DeliveryCheck({ model, now: new Date() });
  const total = { records: 0, zaken: 0 };
  let ofLevering = { records: 0, zaken: 0 };
  let envelop: JsonObject = {};
  const { leveringen } = message;
  const endLevering = (): void => {
    if (leveringen.length > 0) check.levering(leveringen.length - 1, leveringen.at(-1));
  };
  try {
    for await (const { gegevens } of pagesOf(options)) {
      if (leveringen.length === 0) envelop = withValueAt(gegevens, paths.leveringen, []);
      const ofPage = valueAt(gegevens, paths.leveringen);
      for (const [place, levering] of (Array.isArray(ofPage) ? ofPage.filter(isRecord) : []).entries()) {
        // With empty lists; numbering restarts at 1 on each page.
        const headAs = (number: number): JsonObject =>
          [...lists.values()].reduce(
            (head, path) => withValueAt(head, path, []),
            withValueAt(levering, teller, number),
          );
        // A levering that continues on the next page is one levering.
        const isContinued =
          place === 0 && JSON.stringify(headAs(leveringen.length)) === JSON.stringify(leveringen.at(-1));
        if (!isContinued) {
          endLevering();
          ofLevering = { records: 0, zaken: 0 };
          leveringen.push(headAs(leveringen.length + 1));
        }
        for (const [list, path] of lists) {
          const items = valueAt(levering, path);
          for (const item of Array.isArray(items) ? items : []) {
            check.item({ levering: leveringen.length - 1, list, nummer: ofLevering[list], value: item, fits: true });
            if (out !== undefined) message.add(leveringen.length - 1, list, JSON.stringify(item));
            ofLevering[list] += 1;
            total[list] += 1;
          }
        }
      }
    }
    endLevering();
    check.envelop(envelop);
    if (out !== undefined) await writeWhole(out, message.text(envelop));
    return { leveringen: leveringen.length, ...total, report: check.report() };
  } finally {
    message.close();
    check.close();
  }
}

async function* pagesOf(options: CollectOptions): AsyncGenerator<DeliveredPage> {
  const { requester, model, url, body, resume, keep, form, tell, onPage } = options;
  const identity = { url, variant: model.variant, model: model.mapping.versie, body: JSON.stringify(body) };
  const kept = keep === undefined ? undefined : await openKeptPages(keep, identity, resume);
  for await (const page of requestDelivery(options, { ...requester, style: plainStyles[form], kept, waiting: tell })) {
    const { page: number, paginering, records, request, answered, verified } = page;
    if (request !== undefined) await kept?.keep(number, request, answered);
    const of = paginering === undefined ? '' : ` of ${paginering.totalPages}`;
    const ofEarlier = request === undefined ? ', kept by an earlier run' : '';
    tell(`page ${number}${of}: ${records} records, signed by ${verified.oin ?? 'nobody known'}${ofEarlier}`);
    onPage?.(page);
    yield page;
  }
}
