/** Requests a delivery whole: every page checked and kept, written as one file, judged by the rules of the statistics office. */
import { readFile } from 'node:fs/promises';
import type { ItemList, Mapping } from '../../../gegevens/model/mapping.ts';
import type { Model } from '../../../gegevens/model/model.ts';
import type { GegevensRequest } from '../../../gegevens/model/selection.ts';
import { loadOwnKey, ownKeySigner } from '../../../gegevens/own-signer.ts';
import { plainStyles } from '../../../lib/jades/signature.ts';
import { createVerifier, type Verifier } from '../../../lib/jades/verify.ts';
import type { JsonObject } from '../../../lib/json/json-value.ts';
import { valueAt, withValueAt } from '../../../lib/json/json-value.ts';
import { createGuardedFetch } from '../../../lib/outbound/guarded-fetch.ts';
import type { Config } from '../../../settings/read-config.ts';
import { type CheckReport, DeliveryCheck } from '../check/delivery-check.ts';
import { openKeptPages } from './kept-pages.ts';
import {
  type DeliveredPage,
  LeveringMerger,
  openMergedFile,
  requestDelivery,
  type TakeLevering,
} from './request-delivery.ts';
import { RequesterError } from './send-request.ts';

/** What requests are signed and answers verified with. */
export interface Requester {
  readonly verifier: Verifier;
  readonly signer: ReturnType<typeof ownKeySigner>;
  close(): Promise<void>;
}

/** @throws {RequesterError} without roots to trust; what is wrong with the own key */
export async function openRequester({ gegevens, server }: Config): Promise<Requester> {
  if (gegevens.trustAnchors === undefined) throw new RequesterError('GEGEVENS_TRUST_ANCHORS is missing');
  const now = (): Date => new Date();
  const revocation = createGuardedFetch({ allowPrivate: gegevens.revocationAllowPrivate, proxy: server });
  const verifier = createVerifier({
    fetch: revocation.fetch,
    anchors: await readFile(gegevens.trustAnchors, 'utf8'),
    requiredPolicies: gegevens.requiredPolicies,
    revocation: gegevens.revocation,
    now,
    limits: { ocspTimeoutMs: gegevens.ocspTimeoutMs, crlBytes: gegevens.crlMaxMb * 1024 * 1024 },
  });
  return {
    verifier,
    signer: ownKeySigner(loadOwnKey(gegevens, now()), { now }),
    async close() {
      await verifier.close();
      await revocation.close();
    },
  };
}

interface CollectOptions {
  readonly requester: Requester;
  readonly url: string;
  readonly model: Model;
  readonly body: GegevensRequest;
  readonly form: 'digest' | 'body';
  readonly headers: Readonly<Record<string, string>>;
  readonly freshHeaders: (() => Readonly<Record<string, string>>) | undefined;
  /** Directory of the answers as received. */
  readonly keep: string | undefined;
  /** Whether pages that an earlier run kept are not requested again. */
  readonly resume: boolean;
  /** File of the exchange model. */
  readonly out: string | undefined;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly tell: (text: string) => void;
  readonly onPage?: (page: DeliveredPage) => void;
}

export interface Collected {
  readonly pages: number;
  readonly leveringen: number;
  readonly records: number;
  readonly zaken: number;
  readonly report: CheckReport;
}

/** @throws {RequesterError} at the first fault */
export async function collectDelivery(options: CollectOptions): Promise<Collected> {
  const { requester, model, url, body, resume, keep, out, tell } = options;
  const identity = { url, variant: model.variant, model: model.mapping.versie, body: JSON.stringify(body) };
  const kept =
    keep === undefined ? undefined : await openKeptPages(keep, identity, resume ? (body.page ?? 1) : undefined);
  const file = out === undefined ? undefined : await openMergedFile(out, model.mapping);
  const judge = new Judge(model);
  const whole = new LeveringMerger(model.mapping, async (levering, envelop) => {
    await judge.take(levering, envelop);
    await file?.add(levering, envelop);
  });
  let first: JsonObject | undefined;
  let pages = 0;
  try {
    for await (const page of requestDelivery({
      ...options,
      findKept: kept?.find,
      signer: requester.signer,
      style: plainStyles[options.form],
      verifier: requester.verifier,
      waiting: tell,
    })) {
      first ??= page.gegevens;
      await whole.add(page.gegevens);
      if (!page.isKept) await kept?.keep(page);
      pages += 1;
      const of = page.paginering === undefined ? '' : ` of ${page.paginering.totalPages}`;
      tell(
        `page ${page.page}${of}: ${page.records} records, signed by ${page.verified.oin ?? 'nobody known'}${page.isKept ? ', kept by an earlier run' : ''}`,
      );
      options.onPage?.(page);
    }
    await whole.end();
    if (first !== undefined) {
      judge.end(first);
      await file?.end(first);
    }
  } finally {
    await file?.close();
  }
  return { pages, ...judge.counts, report: judge.report() };
}

/** Judges and counts whole leveringen. */
class Judge {
  readonly counts = { leveringen: 0, records: 0, zaken: 0 };
  readonly #check: DeliveryCheck;
  readonly #mapping: Mapping;

  constructor(model: Model) {
    this.#check = new DeliveryCheck({ model, now: new Date() });
    this.#check.start('');
    this.#mapping = model.mapping;
  }

  readonly take: TakeLevering = async (levering) => {
    const { records, zaken } = this.#mapping.levering;
    const nummer = this.counts.leveringen;
    this.counts.leveringen += 1;
    let head = levering;
    const lists: [ItemList, readonly string[]][] = [['records', records]];
    if (zaken !== undefined) lists.push(['zaken', zaken.lijst]);
    for (const [list, path] of lists) {
      const items = valueAt(levering, path);
      if (!Array.isArray(items)) continue;
      this.counts[list] += items.length;
      for (const [index, item] of items.entries()) this.#check.item(nummer, list, index, item, true);
      head = withValueAt(head, path, []);
    }
    this.#check.levering(nummer, head);
  };

  end(envelop: JsonObject): void {
    this.#check.envelop(withValueAt(envelop, this.#mapping.envelop.leveringen, []));
  }

  report(): CheckReport {
    return this.#check.report();
  }
}
