/** A minimal requester that does everything right, and can be told to do one thing wrong. */

import { createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { loadModel, type Model } from '../../../src/lib/exchange-model/model.ts';
import { JadesError, type JadesErrorCode, parsePemCertificates } from '../../../src/lib/jades/certificate.ts';
import { createVerifier, type Verifier } from '../../../src/lib/jades/verify.ts';
import { isRecord, type JsonObject, valueAt } from '../../../src/lib/json/json-value.ts';
import { createGuardedFetch } from '../../../src/lib/outbound/guarded-fetch.ts';
import { type Identity, signedHeaders } from '../../gegevens/signed-request.ts';

/** A request about to be sent. */
export interface Outgoing {
  method: string;
  url: string;
  headers: [string, string][];
  body: Buffer;
}

export interface Faults {
  /**
   * Accepts an answer despite this reason for refusal.
   * @param header protected, of the answer
   */
  readonly ignores?: (code: JadesErrorCode, header: JsonObject, page: number) => boolean;
  /** Also refuses valid answers. */
  readonly refuses?: (text: string, headers: Headers) => boolean;
  readonly ignoresModel?: true;
  readonly ignoresStatus?: number;
  readonly ignoresPaging?: true;
  readonly ignoresTotal?: true;
  readonly ignoresState?: true;
  /** Requests these pages beyond the existing ones. */
  readonly extraPages?: readonly number[];
  /** Milliseconds that it waits after 429. */
  readonly waits?: number;
  readonly attempts?: number;
  readonly keepsAnswers?: true;
  /** Miscounts. */
  readonly miscounts?: (records: number) => number;
  readonly order?: (order: JsonObject, page: number) => JsonObject;
  readonly send?: (outgoing: Outgoing, identity: Identity) => Outgoing;
}

interface Told {
  readonly url: string;
  readonly variant: 'shv' | 'vs';
  readonly body: JsonObject;
  readonly token: string;
  readonly key: string;
  readonly chain: string;
  readonly trust: string;
}

class Refused extends Error {}

export interface PlainRequester {
  ask(told: JsonObject): Promise<JsonObject>;
  close(): Promise<void>;
}

/** @param faults what it does wrong; the object may be changed between requests */
export function plainRequester(faultsNow: () => Faults): PlainRequester {
  const network = createGuardedFetch({ allowPrivate: true, proxy: { outboundProxy: undefined, outboundNoProxy: [] } });
  const verifiers = new Map<string, Promise<Verifier>>();
  const verifierOf = (trust: string): Promise<Verifier> => {
    const known = verifiers.get(trust) ?? openVerifier(trust);
    verifiers.set(trust, known);
    return known;
  };
  const openVerifier = async (trust: string): Promise<Verifier> =>
    createVerifier({
      anchors: await readFile(trust, 'utf8'),
      revocation: 'hard',
      fetch: network.fetch,
      now: () => new Date(),
      // For a machine that is busy with other tests.
      limits: { ocspTimeoutMs: 20_000, revocationDeadlineMs: 40_000 },
    });
  const identities = new Map<string, Promise<Identity>>();
  const identityOf = ({ key, chain }: Told): Promise<Identity> => {
    const known = identities.get(key) ?? readIdentity(key, chain);
    identities.set(key, known);
    return known;
  };
  const kept = new Map<string, JsonObject>();
  return {
    async ask(told) {
      const faults = faultsNow();
      if (!isTold(told)) throw new TypeError('this is not a request');
      const known = faults.keepsAnswers && kept.get(told.url);
      if (known) return known;
      try {
        const records = await collect(told, {
          faults,
          identity: await identityOf(told),
          verifier: await verifierOf(told.trust),
        });
        const answer = { accepted: true, records: faults.miscounts?.(records) ?? records };
        kept.set(told.url, answer);
        return answer;
      } catch (error) {
        if (error instanceof Refused) return { refused: error.message };
        throw error;
      }
    },
    async close() {
      for (const verifier of verifiers.values()) await (await verifier).close();
      await network.close();
    },
  };
}

function isTold(told: JsonObject): told is JsonObject & Told {
  return isRecord(told.body) && typeof told.url === 'string' && (told.variant === 'shv' || told.variant === 'vs');
}

async function readIdentity(key: string, chain: string): Promise<Identity> {
  return {
    key: createPrivateKey(await readFile(key)),
    x5c: parsePemCertificates(await readFile(chain, 'utf8')).map(({ der }) => der.toString('base64')),
  };
}

async function collect(
  told: JsonObject & Told,
  { faults, identity, verifier }: Pick<TakeOptions, 'faults' | 'identity' | 'verifier'>,
): Promise<number> {
  const model = loadModel(told.variant);
  let [total, pageSize, pages] = [0, 0, 1];
  let state: string | undefined;
  for (let page = 1; page <= pages; page += 1) {
    const order = { ...told.body, ...(page === 1 ? {} : { page, pageSize }) };
    const value = await take(told, {
      body: faults.order?.(order, page) ?? order,
      page,
      faults,
      identity,
      verifier,
      model,
    });
    const paginering: JsonObject = isRecord(value.paginering) ? value.paginering : {};
    total += countRecords(value, model);
    if (value.paginering === undefined) break;
    const { totalPages, currentPage } = paginering;
    if (typeof totalPages !== 'number' && !faults.ignoresPaging) throw new Refused('no totalPages');
    if (currentPage !== page && !faults.ignoresPaging) throw new Refused(`page ${page} has another number`);
    if (page > 1 && state !== stateOf(value, model) && !faults.ignoresState) throw new Refused('another state');
    state = stateOf(value, model);
    [pageSize, pages] = [Number(paginering.pageSize), typeof totalPages === 'number' ? totalPages : 3];
    if (page === pages && total !== paginering.totalRecords && !faults.ignoresTotal && !faults.ignoresPaging)
      throw new Refused('fewer records than announced');
  }
  for (const page of faults.extraPages ?? [])
    await take(told, {
      body: { ...told.body, page, pageSize },
      page,
      faults: { ignores: () => true },
      identity,
      verifier,
      model,
    });
  return total;
}

/** The persons' municipality and the number in the addresses: a state has one. */
function stateOf(value: JsonObject, model: Model): string {
  const { paginering } = value;
  return JSON.stringify([
    isRecord(paginering) && paginering.totalRecords,
    valueAt(Object(value.gegevens), model.mapping.envelop.aanleverdatumEnTijd),
  ]);
}

interface TakeOptions {
  readonly body: JsonObject;
  readonly page: number;
  readonly faults: Faults;
  readonly identity: Identity;
  readonly verifier: Verifier;
  readonly model: Model;
}

async function take(told: Told, { body, page, faults, identity, verifier, model }: TakeOptions): Promise<JsonObject> {
  const bytes = Buffer.from(JSON.stringify(body));
  const outgoing: Outgoing = {
    method: 'POST',
    url: told.url,
    headers: Object.entries({
      ...signedHeaders(bytes, identity),
      'content-type': 'application/json',
      authorization: `Bearer ${told.token}`,
    }),
    body: bytes,
  };
  const sent = faults.send?.(outgoing, identity) ?? outgoing;
  for (let attempt = 1; ; attempt += 1) {
    const answer = await fetch(sent.url, {
      method: sent.method,
      headers: sent.headers,
      ...(sent.method === 'GET' ? {} : { body: new Uint8Array(sent.body) }),
    });
    const text = Buffer.from(await answer.arrayBuffer());
    const isBusy = answer.status === 429 && Number(answer.headers.get('retry-after')) < 5;
    if ((isBusy && attempt < 3) || (answer.status !== 200 && attempt < (faults.attempts ?? 1))) {
      await wait(isBusy ? (faults.waits ?? 1000) : 0);
      continue;
    }
    if (answer.status !== 200 && answer.status !== faults.ignoresStatus) throw new Refused(`status ${answer.status}`);
    const signature = answer.headers.get('nlgov-adr-payload-sig') ?? undefined;
    const message = { digestHeader: answer.headers.get('digest') ?? undefined, signatureHeader: signature, body: text };
    await verifier.verify(message).catch((error: unknown) => {
      if (!(error instanceof JadesError)) throw error;
      if (!faults.ignores?.(error.code, headerOf(signature), page) && answer.status === 200)
        throw new Refused(error.message);
    });
    if (faults.refuses?.(text.toString(), answer.headers)) throw new Refused('it looks odd');
    const value: unknown = JSON.parse(text.toString());
    if (!isRecord(value)) throw new Refused('no object');
    if (!faults.ignoresModel && answer.status === 200 && !model.whole.ok(value.gegevens))
      throw new Refused('another model');
    return value;
  }
}

function headerOf(signature = ''): JsonObject {
  const value: unknown = JSON.parse(Buffer.from(signature.split('.')[0] ?? '', 'base64url').toString() || '{}');
  return isRecord(value) ? value : {};
}

function countRecords(value: JsonObject, { mapping: { envelop, levering } }: Model): number {
  const leveringen = isRecord(value.gegevens) ? valueAt(value.gegevens, envelop.leveringen) : [];
  return (Array.isArray(leveringen) ? leveringen : []).reduce((sum: number, each: unknown) => {
    const records = valueAt(each, levering.records);
    return sum + (Array.isArray(records) ? records.length : 0);
  }, 0);
}
