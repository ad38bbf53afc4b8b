import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { contentHash } from '../../../src/lib/feed/record.ts';

export interface FakeRecord {
  sequenceNumber: number;
  op: string;
  resourceType: string;
  resource: { organisatiecode: string; bronidentificatie: string };
  storedAt: string;
  [member: string]: unknown;
}

export interface FakeCall {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Sends JSON as a correct server does. */
  readonly json: (body: unknown, status?: number, headers?: Record<string, string>) => void;
  /** A correct server's answer. */
  readonly page: () => Record<string, unknown>;
}

/** Returns true when it has answered, or never will. */
export type Rule = (call: FakeCall) => boolean;

/** A source with overridable answers. */
export class FakeSource {
  readonly organisatiecode: string;
  records: FakeRecord[] = [];
  rule: Rule | undefined;
  calls: { path: string; limit: string | null; at: number; etag: string | undefined }[] = [];
  organisaties: object[];
  rol = 'bronhouder';
  /** Cursors belong to this history; a new one refuses the old. */
  history = 1;
  #server: Server;
  #port = 0;

  constructor(organisatiecode: string) {
    this.organisatiecode = organisatiecode;
    this.organisaties = [
      { organisatiecode, naam: `Gemeente ${organisatiecode}`, laatstBijgewerkt: null, herkomstSoort: 'eigen' },
    ];
    this.#server = this.#make();
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/bron`;
  }

  async listen(): Promise<this> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the source has no port');
    this.#port = address.port;
    return this;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** The same address again, after `close`. */
  async reopen(): Promise<void> {
    this.#server = this.#make();
    await this.listen();
  }

  document(id: string, titel = `Document ${id}`): FakeRecord {
    const { organisatiecode } = this;
    const data = {
      bronidentificatie: id,
      dossiertype: 'informatieobject',
      organisatie: { gemeente: organisatiecode, naam: `Gemeente ${organisatiecode}` },
      webpaginalink: `https://raad.example/${id}`,
      titel,
      wooinformatiecategorie: 'c_db4862c3',
      datumingediend: '2026-01-08',
    };
    return this.add({ op: 'upsert', contentHash: contentHash(data), data }, id);
  }

  remove(op: 'delete' | 'redact', id: string, more: object = {}): FakeRecord {
    return this.add({ op, verwijderreden: op === 'delete' ? 'ingetrokken' : 'persoonsgegevens', ...more }, id);
  }

  add(more: Record<string, unknown> & { op: string }, id: string, resourceType = 'Informatieobject'): FakeRecord {
    const { organisatiecode } = this;
    const record = {
      sequenceNumber: (this.records.at(-1)?.sequenceNumber ?? 0) + 1,
      resourceType,
      resource: { organisatiecode, bronidentificatie: id },
      storedAt: new Date().toISOString(),
      ...more,
    };
    this.records.push(record);
    return record;
  }

  /** The current records. */
  state(): FakeRecord[] {
    const state = new Map<string, FakeRecord>();
    for (const record of this.records) {
      const key = `${record.resourceType}/${record.resource.bronidentificatie}`;
      state.delete(key);
      if (record.op === 'upsert') state.set(key, record);
    }
    return [...state.values()];
  }

  #make(): Server {
    return createServer((request, response) => {
      const url = new URL(request.url ?? '/', this.url);
      const path = url.pathname.replace(/^\/bron/, '') || '/';
      this.calls.push({
        path,
        limit: url.searchParams.get('limit'),
        at: performance.now(),
        etag: request.headers['if-none-match'],
      });
      const json = (body: unknown, status = 200, headers: Record<string, string> = {}): void => {
        response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
      };
      const page = (): Record<string, unknown> => this.#answer(path, url.searchParams);
      if (this.rule?.({ path, query: url.searchParams, request, response, json, page }) === true) return;
      const body = page();
      json(body, typeof body.status === 'number' ? body.status : 200);
    });
  }

  #answer(path: string, query: URLSearchParams): Record<string, unknown> {
    const limit = Number(query.get('limit') ?? 500);
    if (path === '/') return this.#document();
    const cursor = query.get('cursor');
    const [history, place = '0', feed] = cursor?.split('.') ?? [];
    if (cursor !== null && Number(history) !== this.history) {
      return { type: 'https://x.example/problems/ongeldige-cursor', status: 400, title: 'Ongeldige cursor' };
    }
    const head = this.records.at(-1)?.sequenceNumber ?? 0;
    if (path === '/feed') {
      const after = this.records.filter(({ sequenceNumber }) => sequenceNumber > Number(place));
      const records = after.slice(0, limit);
      const last = records.at(-1)?.sequenceNumber ?? Number(place);
      const hasMore = after.length > records.length;
      return { records, cursor: `${this.history}.${last}`, head, hasMore, next: null };
    }
    const upTo = Number(feed ?? head);
    const rows = this.state().filter(({ sequenceNumber: n }) => n > Number(place) && n <= upTo);
    const records = rows.slice(0, limit);
    const hasMore = rows.length > records.length;
    const next = hasMore ? `${this.history}.${records.at(-1)?.sequenceNumber}.${upTo}` : null;
    return { records, feedCursor: `${this.history}.${upTo}`, cursor: next, hasMore, next: null };
  }

  #document(): Record<string, unknown> {
    return {
      rol: this.rol,
      organisaties: this.organisaties,
      resourceTypes: ['Vergadering', 'Agendapunt', 'Informatieobject'],
      feedUrl: `${this.url}/feed`,
      snapshotUrl: `${this.url}/snapshot`,
      streamUrl: `${this.url}/feed/stream`,
      historieVanaf: '2026-01-01',
      retentie: 'permanent',
    };
  }
}
