/** Reads a supplier before judging its cases: a small answer, everything at once if that is little, and its pages. */
import type { Model } from '../../src/lib/exchange-model/model.ts';
import { isRecord, type JsonObject } from '../../src/lib/json/json-value.ts';
import { answerIfAny, askingChapters, type CaseRun, Inconclusive, Skipped, type SuiteSubject } from '../case.ts';
import { bytesOf } from '../client.ts';
import type { Ask, Client, Exchange } from '../exchange.ts';
import { objectsIn } from '../json-members.ts';
import type { Trust } from '../signature/message.ts';
import { faultOf } from './fsc-error.ts';
import { type Identity, type SignatureForm, SMALL, signedHeaders, type Wishes } from './signed-request.ts';
import type { makeStrangers } from './strangers.ts';

/** Maximum number of records read at once; a larger delivery is read in pages, and only its beginning. */
const MOST_AT_ONCE = 2000;
const MOST_PAGES = 6;
const PAGE_SIZE = 500;

export interface GegevensNeeds {
  /** Address of `gegevens`. */
  readonly url: string;
  readonly model: Model;
  /** Versions of the model that the interface description allows. */
  readonly otherModels: readonly Model[];
  readonly identity: Identity;
  /** Signers whose certificates were revoked or have expired. */
  readonly revoked?: Identity | undefined;
  readonly expired?: Identity | undefined;
  /** Signers that nobody may trust. */
  readonly strangers: ReturnType<typeof makeStrangers>;
  readonly trust: Trust;
  /** Through an Outway, which adds the token: headers made anew for each request. */
  readonly freshHeaders?: (() => Readonly<Record<string, string>>) | undefined;
  /** The access token itself, for cases that modify it; undefined through an Outway. */
  readonly token: (() => Promise<string>) | undefined;
  readonly tokenHeader: string;
}

export interface GegevensSubject extends SuiteSubject, Omit<GegevensNeeds, 'url'> {
  /** The answer to a valid request for a small page. */
  readonly small: Exchange | undefined;
  /** The answer to a request for everything; undefined when that is too much. */
  readonly whole: Exchange | undefined;
  /** Pages from the first, all of the same size. */
  readonly pages: readonly Exchange[];
  readonly pageSize: number;
  /** True when `pages` includes the last. */
  readonly complete: boolean;
  /** The signature form in use: the first one that was accepted. */
  readonly form: SignatureForm;
  readonly signed: (wishes?: Wishes) => Ask;
}

/** Without a valid request no other case means anything. */
export const gegevensChapter = askingChapters<GegevensSubject>('A-REQ-01');

export async function readSubject(needs: GegevensNeeds, client: Client): Promise<GegevensSubject> {
  const { url, identity, model, freshHeaders } = needs;
  const through = freshHeaders !== undefined;
  const signedAs =
    (usual: SignatureForm) =>
    (wishes: Wishes = {}): Ask => {
      const { body = SMALL, form = usual, after = (headers) => headers, headers = {}, to = '{gegevens}' } = wishes;
      const bytes = bytesOf(body);
      const signed = signedHeaders(bytes, wishes.identity ?? identity, { ...wishes, form });
      return {
        to,
        method: 'POST',
        body: wishes.sent ?? bytes,
        headers: { ...freshHeaders?.(), ...after(signed), ...headers },
        ...(through ? {} : { as: 'read' }),
      };
    };
  const send = (ask: Ask): Promise<Exchange | undefined> => answerIfAny(client, { ...ask, to: url });
  const asDigest = await send(signedAs('digest')());
  const asBody = asDigest?.status === 200 ? undefined : await send(signedAs('body')());
  const form = asBody?.status === 200 ? 'body' : 'digest';
  const small = form === 'body' ? asBody : asDigest;
  const signed = signedAs(form);
  const total = Number(pagingOf(small)?.totalRecords ?? 0);
  const whole = small?.status === 200 && !isMuch(small) ? await send(signed({ body: {} })) : undefined;
  const pages: Exchange[] = [];
  const pageSize = Math.min(PAGE_SIZE, Math.max(1, Math.ceil(total / 3)));
  let complete = false;
  for (let page = 1; small?.status === 200 && page <= MOST_PAGES && !complete; page += 1) {
    const answer = await send(signed({ body: { page, pageSize } }));
    if (answer?.status !== 200) break;
    pages.push(answer);
    complete = page >= Number(pagingOf(answer)?.totalPages ?? 1);
  }
  return {
    ...needs,
    client,
    form,
    small,
    whole,
    pages,
    pageSize,
    complete,
    signed,
    fault: faultOf,
    values: {
      gegevens: url,
      direct: through ? undefined : url,
      elsewhere: new URL('./bestaat-niet-conformance', url).href,
      model: model.mapping.versie,
    },
  };
}

/** A case's request, made when its turn comes. */
export const signed =
  (wishes?: Wishes) =>
  (subject: GegevensSubject): Ask =>
    subject.signed(wishes);

/** A successfully read answer. */
export function good(exchange: Exchange | undefined): Exchange {
  if (exchange?.status !== 200) throw new Skipped('there is no such answer: it is too large to read, or was refused');
  return exchange;
}

/** Sends a request and expects 200. */
export async function get(subject: GegevensSubject, { ask }: CaseRun, body: unknown): Promise<Exchange> {
  const answer = await ask(subject.signed({ body }));
  if (answer.status !== 200) throw new Inconclusive(`status ${answer.status}`);
  return answer;
}

/** True when there is too much to request at once. */
export function isMuch(exchange: Exchange | undefined): boolean {
  return Number(pagingOf(exchange)?.totalRecords ?? 0) > MOST_AT_ONCE;
}

export function pagingOf(exchange: Exchange | undefined): JsonObject | undefined {
  const paging = isRecord(exchange?.json) ? exchange.json.paginering : undefined;
  return isRecord(paging) ? paging : undefined;
}

export function gegevensOf({ json }: Exchange): JsonObject {
  const gegevens = isRecord(json) ? json.gegevens : undefined;
  return isRecord(gegevens) ? gegevens : {};
}

export function leveringenOf(exchange: Exchange, { mapping }: Model): readonly JsonObject[] {
  return objectsIn(gegevensOf(exchange), ...mapping.envelop.leveringen);
}

export function recordsOf(exchange: Exchange, model: Model): readonly JsonObject[] {
  return leveringenOf(exchange, model).flatMap((levering) => objectsIn(levering, ...model.mapping.levering.records));
}
