/** A feed to test a consumer with: it answers according to the draft until a case overrides it. */
import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { contentHash } from '../../src/lib/feed/record.ts';
import { RESOURCE_TYPES, type ResourceType } from '../../src/lib/feed/resource.ts';
import type { JsonObject } from '../../src/lib/json/json-value.ts';
import { listenOnLoopback } from '../../src/lib/loopback-server.ts';
import type { ShownExchange } from '../exchange.ts';
import { keyOf } from '../raadsfeed/subject.ts';
import { contentOf, organisationOf } from '../raadsfeed/written-content.ts';

export interface PlayedRecord {
  readonly sequenceNumber: number;
  readonly op: string;
  readonly resourceType: string;
  readonly resource: { readonly organisatiecode: string; readonly bronidentificatie: string };
  readonly [member: string]: unknown;
}

export interface PlayedCall {
  /** `/`, `/feed` or `/snapshot`; anything else is not found. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** A correct feed's answer. */
  page(): JsonObject;
  answer(body: unknown, status?: number, headers?: Readonly<Record<string, string>>): void;
}

interface SeenCall extends Pick<PlayedCall, 'query' | 'request'> {
  readonly shown: () => ShownExchange;
}

export class PlayedFeed {
  readonly organisatiecode: string;
  /** Address of the service document. */
  readonly url: string;
  /** Organisations that the service document names. */
  readonly organisations: string[];
  readonly calls: SeenCall[] = [];
  records: PlayedRecord[] = [];
  pageSize = 1000;
  /** The form of a cursor: any text must do. */
  dress: (cursor: string) => string = (cursor) => Buffer.from(cursor).toString('base64url');
  /** How an unknown cursor is refused. */
  refusal: 400 | 410 = 400;
  /** Overrides answers: a call that it does not begin to answer gets the usual answer. */
  rule: ((call: PlayedCall) => void) | undefined;
  #cursors = new Map<string, readonly [path: string, place: number, upTo: number]>();
  #generation = 1;

  constructor(organisatiecode: string, url: string) {
    this.organisatiecode = organisatiecode;
    this.url = url;
    this.organisations = [organisatiecode];
  }

  get head(): number {
    return this.records.length;
  }

  /** Sets a rule for one path. */
  answerOn(path: string, answer: (call: PlayedCall) => void): void {
    this.rule = (call) => {
      if (call.path === path) answer(call);
    };
  }

  /** True when the feed names the organisation, or has one of its resources. */
  isOf(code: string): boolean {
    return this.organisations.includes(code) || this.records.some(({ resource }) => resource.organisatiecode === code);
  }

  /** Publishes a document, or a new version of it. */
  upsert(
    id: string,
    more: JsonObject = {},
    named: { readonly kind?: ResourceType; readonly code?: string } = {},
  ): void {
    const { kind = 'Informatieobject', code = this.organisatiecode } = named;
    const data = { ...playedContent(id, code, kind), ...more };
    const resource = { organisatiecode: code, bronidentificatie: id };
    this.add({ op: 'upsert', resourceType: kind, resource, contentHash: contentHash(data), data }, id);
  }

  delete(id: string): void {
    this.add({ op: 'delete', verwijderreden: 'ingetrokken' }, id);
  }

  /** Removes a document together with its earlier content. */
  redact(id: string): void {
    const resource = { organisatiecode: this.organisatiecode, bronidentificatie: id };
    const key = keyOf({ resourceType: 'Informatieobject', resource });
    const held = this.records.filter((record) => keyOf(record) === key && record.data !== undefined);
    const redaction = { op: 'redact', verwijderreden: 'persoonsgegevens' };
    this.records = this.records.map((record) => {
      if (!held.includes(record)) return record;
      const { contentHash: _, data: __, ...rest } = record;
      return { ...rest, ...redaction, geredigeerdeSequenceNumbers: [record.sequenceNumber] };
    });
    this.add({ ...redaction, geredigeerdeSequenceNumbers: held.map(({ sequenceNumber }) => sequenceNumber) }, id);
  }

  /** Adds a record verbatim, about a document unless it says otherwise. */
  add(record: JsonObject & { readonly op: string }, id: string): void {
    const sequenceNumber = this.head + 1;
    const resource = { organisatiecode: this.organisatiecode, bronidentificatie: id };
    const storedAt = new Date().toISOString();
    const usual = { sequenceNumber, resourceType: 'Informatieobject', resource, storedAt };
    this.records = [...this.records, { ...usual, ...record }];
  }

  /** From now on every earlier cursor is refused. */
  forgetCursors(): void {
    this.#cursors = new Map();
    this.#generation += 1;
  }

  /** The current records, by resource: the state that a consumer must hold. */
  state(): ReadonlyMap<string, PlayedRecord> {
    const state = new Map<string, PlayedRecord>();
    for (const record of this.records) {
      const key = keyOf(record);
      state.delete(key);
      if (record.op === 'upsert') state.set(key, record);
    }
    return state;
  }

  /** A cursor for a position; `name` gives a different one for the same position. */
  cursor(path: string, place: number, upTo = 0, name = ''): string {
    const cursor = this.dress(`${this.#generation}.${path}.${place}.${upTo}${name}`);
    this.#cursors.set(cursor, [path, place, upTo]);
    return cursor;
  }

  handle(path: string, query: URLSearchParams, request: IncomingMessage, response: ServerResponse): void {
    if (this.calls.length >= MOST_CALLS) {
      response.writeHead(429, { connection: 'close' }).end();
      return;
    }
    let text = '';
    this.calls.push({ query, request, shown: () => shownCall(request, response, text) });
    const answer: PlayedCall['answer'] = (body, status = 200, headers = {}) => {
      text = typeof body === 'string' ? body : JSON.stringify(body);
      const etag = `"${hash('sha256', text, 'base64url')}"`;
      if (status === 200 && request.headers['if-none-match'] === etag) {
        response.writeHead(304, { etag }).end();
        return;
      }
      const type = status < 400 ? 'application/json' : 'application/problem+json';
      const usual = { 'content-type': type, 'cache-control': 'public, max-age=0', etag };
      response.writeHead(status, { ...usual, ...headers }).end(text);
    };
    const page = (): JsonObject => this.#page(path, query);
    this.rule?.({ path, query, request, response, page, answer });
    if (response.headersSent || response.destroyed) return;
    const body = page();
    answer(body, typeof body.status === 'number' ? body.status : 200);
  }

  #page(path: string, query: URLSearchParams): JsonObject {
    if (path === '/') return this.#document();
    if (path !== '/feed' && path !== '/snapshot') return problem(404, 'about:blank', 'Niet gevonden');
    const limit = Math.min(1000, Number(query.get('limit') ?? 500));
    const given = query.get('cursor');
    const [kind, place, from] = given === null ? [path, 0, this.head] : (this.#cursors.get(given) ?? []);
    if (place === undefined || kind !== path) {
      // 410 speaks for itself.
      const type = this.refusal === 410 ? 'about:blank' : 'https://feed.example/problems/ongeldige-cursor';
      return problem(this.refusal, type, 'Ongeldige cursor');
    }
    const all = path === '/feed' ? this.records : [...this.state().values()];
    const isWanted = wantedBy(query);
    const rows = all.filter((record) => record.sequenceNumber > place && isWanted(record));
    const records = rows.slice(0, Math.min(limit, this.pageSize));
    const hasMore = rows.length > records.length;
    // After the last page, records that the filter excluded have been passed too.
    const last = Math.max(place, (hasMore ? records : all).at(-1)?.sequenceNumber ?? place);
    const upTo = path === '/feed' ? 0 : (from ?? this.head);
    const cursor = path === '/feed' || hasMore ? this.cursor(path, last, upTo) : null;
    const filters = [...query].filter(([name]) => name === 'organisatiecode' || name === 'resourceType');
    const next =
      hasMore && cursor !== null ? `${this.url}${path}?${new URLSearchParams([...filters, ['cursor', cursor]])}` : null;
    return path === '/feed'
      ? { records, cursor, head: this.head, hasMore, next }
      : { records, feedCursor: this.cursor('/feed', upTo), cursor, hasMore, next };
  }

  #document(): JsonObject {
    return {
      rol: 'bronhouder',
      organisaties: this.organisations.map((organisatiecode) => ({
        organisatiecode,
        naam: `Organisatie ${organisatiecode}`,
        herkomstSoort: 'eigen',
      })),
      resourceTypes: RESOURCE_TYPES,
      feedUrl: `${this.url}/feed`,
      snapshotUrl: `${this.url}/snapshot`,
      historieVanaf: '2026-01-01',
      retentie: 'permanent',
    };
  }
}

function wantedBy(query: URLSearchParams): (record: PlayedRecord) => boolean {
  const code = query.get('organisatiecode')?.toLowerCase();
  const kind = query.get('resourceType');
  return ({ resource, resourceType }) =>
    (code === undefined || resource.organisatiecode === code) && (kind === null || resourceType === kind);
}

/** The content of a resource of an organisation. */
export function playedContent(id: string, code: string, kind: ResourceType = 'Informatieobject'): JsonObject {
  const organisatie = organisationOf(code, `Organisatie ${code}`);
  return { ...contentOf(kind, id, `${kind} ${id}`, 'vergadering'), organisatie };
}

/**
 * A problem document.
 * @see RFC 9457
 */
export function problem(status: number, type = 'about:blank', title = 'Fout'): JsonObject {
  return { type, title, status, instance: 'urn:uuid:0198c0de-0000-7000-8000-000000000001' };
}

/** Maximum number of answered calls; a consumer that polls every second makes fewer. */
const MOST_CALLS = 10_000;

/** Characters of an answer that are shown. */
const SHOWN = 2000;

function shownCall(request: IncomingMessage, response: ServerResponse, text: string): ShownExchange {
  const flat = (headers: NodeJS.Dict<unknown>): Record<string, string> =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  return {
    method: request.method ?? 'GET',
    url: `http://${request.headers.host}${request.url}`,
    sent: flat(request.headers),
    sentText: '',
    status: response.statusCode,
    headers: flat(response.getHeaders()),
    text: text.slice(0, SHOWN).toWellFormed(),
  };
}

export type Stage = Awaited<ReturnType<typeof openStage>>;

const FIRST = 9001;

/** The server that plays the feeds: one local address, with a path per case. */
export async function openStage(port: number) {
  const feeds: PlayedFeed[] = [];
  const { server, address, close } = await listenOnLoopback(port);
  server.on('request', (request, response) => {
    // The rest of an answer is useless when the consumer disconnects.
    response.on('error', () => undefined);
    const [, code = '', path = ''] = /^\/(\w+)\/ori\/v1(\/[^?]*)?/.exec(request.url ?? '') ?? [];
    const feed = feeds.find(({ organisatiecode }) => organisatiecode === code);
    const query = new URLSearchParams(request.url?.split('?')[1] ?? '');
    if (feed === undefined) response.writeHead(404).end();
    else feed.handle(path === '' ? '/' : path, query, request, response);
  });
  return {
    feeds,
    close,
    /** A feed with its own organisation; the first one is gm9001. */
    open(): PlayedFeed {
      const code = `gm${FIRST + feeds.length}`;
      const feed = new PlayedFeed(code, `${address}/${code}/ori/v1`);
      feeds.push(feed);
      return feed;
    },
  };
}
