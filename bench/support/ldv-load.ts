/** A process that sends batches of spans, each with new ids. */
import { randomFillSync } from 'node:crypto';
import { Agent, request } from 'node:http';
import { encodeRequest } from '../../src/verwerkingenlog/ldv/otlp.ts';
import { DPL, type Span } from '../../src/verwerkingenlog/ldv/span.ts';
import { serveParent } from './children.ts';

export interface LdvLoad {
  readonly url: string;
  readonly authorization: string;
  readonly connections: number;
  readonly batch: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
}

export interface LdvLoadResult {
  readonly spansPerSecond: number;
  readonly medianMs: number;
}

const TRACE_MARK = 'a5'.repeat(12);
const SPAN_MARK = '5a'.repeat(4);

/** A batch encoded once: only its ids are rewritten per request, so that the client costs next to nothing. */
function template(batch: number): { readonly body: Buffer; readonly traces: number[]; readonly spans: number[] } {
  const start = BigInt(Date.now()) * 1_000_000n;
  const spans = Array.from({ length: batch }, (_, i): Span => {
    const number = i.toString(16).padStart(8, '0');
    return {
      traceId: TRACE_MARK + number,
      spanId: SPAN_MARK + number,
      name: 'Zoeken persoon',
      start,
      end: start + 1_000_000n,
      status: 'Ok',
      resource: new Map([
        ['service.name', 'Balie'],
        ['service.version', '2'],
      ]),
      attributes: new Map([
        [DPL.activity, 'https://register.example/5f0bef4c-f66f-4311-84a5-19e8bf359eaf'],
        [DPL.subject, String(100_000_000 + i * 7919)],
        [DPL.subjectType, 'BSN'],
      ]),
    };
  });
  const body = Buffer.from(encodeRequest(spans));
  return { body, traces: placesOf(body, TRACE_MARK), spans: placesOf(body, SPAN_MARK) };
}

function placesOf(body: Buffer, mark: string): number[] {
  const bytes = Buffer.from(mark, 'hex');
  const places: number[] = [];
  for (let at = body.indexOf(bytes); at >= 0; at = body.indexOf(bytes, at + bytes.length)) places.push(at);
  return places;
}

async function run(load: LdvLoad): Promise<LdvLoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: load.connections });
  const { body, traces, spans } = template(load.batch);
  const times: number[] = [];
  let state: 'warming' | 'counting' | 'stopped' = 'warming';
  const client = async (): Promise<void> => {
    while (state !== 'stopped') {
      for (const at of traces) randomFillSync(body, at, TRACE_MARK.length / 2);
      for (const at of spans) randomFillSync(body, at, SPAN_MARK.length / 2);
      const began = performance.now();
      await post(load, agent, Buffer.from(body));
      if (state === 'counting') times.push(performance.now() - began);
    }
  };
  const clients = Array.from({ length: load.connections }, client);
  await Promise.race([new Promise((resolve) => setTimeout(resolve, load.warmUpMs)), ...clients]);
  state = 'counting';
  const from = performance.now();
  await Promise.race([new Promise((resolve) => setTimeout(resolve, load.measureMs)), ...clients]);
  const seconds = (performance.now() - from) / 1000;
  const done = times.length;
  state = 'stopped';
  await Promise.all(clients);
  agent.destroy();
  const sorted = times.slice(0, done).sort((a, b) => a - b);
  return {
    spansPerSecond: (done * load.batch) / seconds,
    medianMs: sorted[Math.floor(sorted.length / 2)] ?? Number.NaN,
  };
}

function post({ url, authorization }: LdvLoad, agent: Agent, body: Buffer): Promise<void> {
  const headers = {
    authorization,
    'content-type': 'application/x-protobuf',
    'content-length': body.length,
  };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on('end', () => {
        if (response.statusCode === 200 && bytes === 0) resolve();
        else reject(new Error(`answered ${response.statusCode} with ${bytes} bytes`));
      });
    });
    sent.on('error', reject).end(body);
  });
}

function isLoad(message: unknown): message is LdvLoad {
  return typeof message === 'object' && message !== null && 'batch' in message && 'url' in message;
}

await serveParent(
  (message) => {
    if (!isLoad(message)) throw new TypeError('not a load description');
    return run(message);
  },
  async () => undefined,
);
