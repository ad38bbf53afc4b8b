/** The real output of OpenTelemetry exporters: Node's against the running service, others' from recordings. */
import { globSync, readFileSync } from 'node:fs';
import { DiagLogLevel, diag, SpanStatusCode } from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, SimpleSpanProcessor, type SpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createIdentityKeys, reveal } from '../../../src/verwerkingenlog/domain/encryption.ts';
import { DPL, type Span } from '../../../src/verwerkingenlog/ldv/span.ts';
import { readLdvOf } from '../../../src/verwerkingenlog/ldv/stored-line.ts';
import { readHistory } from '../../../src/verwerkingenlog/store/versions.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { KEY } from '../support.ts';
import { ACTIVITY_URL, type LdvServer, startLdv } from './support.ts';

const FIXTURES = new URL('../../fixtures/ldv/', import.meta.url);
let log: LdvServer;
let database: TestDatabase;
let client: pg.Client;
let warnings: string[] = [];

beforeAll(async () => {
  database = await createDatabase();
  client = new pg.Client(database.url);
  await client.connect();
  log = await startLdv({ databaseUrl: database.url, env: { LDV_KEEP_ATTRIBUTES: 'app.*' } });
});
beforeEach(() => {
  warnings = [];
  const note = (message: string, ...rest: unknown[]): void =>
    void warnings.push([message, ...rest].map(String).join(' '));
  const nothing = (): void => undefined;
  diag.setLogger(
    { error: note, warn: note, info: nothing, debug: nothing, verbose: nothing },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
});
afterEach(() => {
  delete process.env.OTEL_EXPORTER_OTLP_COMPRESSION;
  diag.disable();
});
afterAll(async () => {
  await log.stop();
  await client.end();
  await database.drop();
});

/** The stored lines of a trace, in the order of storing. */
async function stored(traceId: string): Promise<Span[]> {
  const { rows } = await client.query(
    'select actie_id as id from verwerkingenlog.versies where verwerking_id = $1::uuid order by 1',
    [traceId],
  );
  const keys = createIdentityKeys(KEY);
  const spans: Span[] = [];
  for (const { id } of rows) {
    for (const versie of await readHistory(client, id)) {
      const kept = readLdvOf(await reveal(versie, keys));
      if (kept !== undefined) spans.push(kept.span);
    }
  }
  return spans;
}

/** Number of requests with this status. */
const answered = (status: number): number =>
  log.server.logged.filter((line) => line.msg === 'answered' && line.status === status).length;

async function headers(scopes = ['create:normal']): Promise<{ authorization: string }> {
  return await log.tokens.bearer(scopes);
}

/** Logs one processing about some persons, each below the first span. */
async function logWith(processor: SpanProcessor, persons: number): Promise<string> {
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'Balie', 'service.version': '2.1', 'host.name': 'geheim' }),
    spanProcessors: [processor],
  });
  const tracer = provider.getTracer('balie');
  const attributes = {
    [DPL.activity]: ACTIVITY_URL,
    'app.number': 7,
    'app.ratio': 0.5,
    'app.list': ['a', 'b'],
    'http.url': 'https://geheim.example',
  };
  let traceId = '';
  for (let i = 0; i < persons; i += 1) {
    const span = tracer.startSpan('Zoeken persoon', {
      root: i === 0,
      attributes: { ...attributes, [DPL.subject]: `pseudoniem-${i}`, [DPL.subjectType]: 'pseudoniem' },
    });
    span.addEvent('event', { geheim: true });
    span.setStatus({ code: SpanStatusCode.OK });
    span.end();
    traceId = span.spanContext().traceId;
  }
  await provider.forceFlush();
  await provider.shutdown();
  return traceId;
}

describe.each([
  ['protobuf', (options: object) => new ProtobufExporter(options)],
  ['json', (options: object) => new JsonExporter(options)],
] as const)('the exporter of Node in %s', (_form, exporterOf) => {
  it.each([
    ['simple', false],
    ['simple', true],
    ['batch', false],
    ['batch', true],
  ] as const)('logs through a %s processor, gzip: %s', async (kind, gzip) => {
    if (gzip) process.env.OTEL_EXPORTER_OTLP_COMPRESSION = 'gzip';
    const exporter = exporterOf({ url: log.traces, headers: await headers() });
    const traceId = await logWith(
      kind === 'simple' ? new SimpleSpanProcessor({ exporter }) : new BatchSpanProcessor({ exporter }),
      1,
    );
    expect(warnings).toEqual([]);
    const [span, ...others] = await stored(traceId);
    expect(others).toEqual([]);
    expect(span).toMatchObject({ traceId, name: 'Zoeken persoon', status: 'Ok' });
    expect(span?.end).toBeGreaterThanOrEqual(span?.start ?? 0n);
    expect(Object.fromEntries(span?.attributes ?? [])).toEqual({
      [DPL.activity]: ACTIVITY_URL,
      [DPL.subject]: 'pseudoniem-0',
      [DPL.subjectType]: 'pseudoniem',
      'app.number': 7n,
      'app.ratio': 0.5,
      'app.list': ['a', 'b'],
    });
    expect(Object.fromEntries(span?.resource ?? [])).toEqual({ 'service.name': 'Balie', 'service.version': '2.1' });
  });

  it('reads the number of refused lines from the answer', async () => {
    const exporter = exporterOf({ url: log.traces, headers: await headers() });
    const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
    provider.getTracer('balie').startSpan('Zonder activiteit').end();
    await provider.forceFlush();
    await provider.shutdown();
    expect(warnings.join('\n')).toMatch(/processing_activity_id ontbreekt/);
  });

  it('does not retry a request that is refused as a whole', async () => {
    const exporter = exporterOf({ url: log.traces, headers: await headers(['read:normal']), timeoutMillis: 20_000 });
    const before = answered(403);
    const traceId = await logWith(new SimpleSpanProcessor({ exporter }), 1).catch(() => '');
    await expect.poll(() => answered(403) - before).toBe(1);
    if (traceId !== '') expect(await stored(traceId)).toEqual([]);
  });

  it('retries after 503 at the given time, and the line is stored once', async () => {
    const exporter = exporterOf({ url: log.traces, headers: await headers(), timeoutMillis: 90_000 });
    const before = answered(503);
    await client.query('alter table verwerkingenlog.ldv_keys rename to elders');
    const logging = logWith(new BatchSpanProcessor({ exporter }), 1);
    await expect.poll(() => answered(503) - before).toBeGreaterThan(0);
    await client.query('alter table verwerkingenlog.elders rename to ldv_keys');
    expect(await stored(await logging)).toHaveLength(1);
  });
});

interface Recorded {
  readonly client: string;
  readonly contentType: string;
  readonly contentEncoding?: string;
  readonly body: string;
}

function isRecorded(value: unknown): value is Recorded {
  return typeof value === 'object' && value !== null && 'client' in value && 'contentType' in value && 'body' in value;
}

describe('a recorded request', () => {
  const names = globSync('*.json', { cwd: FIXTURES }).toSorted();
  it('exists for several languages', () => expect(names.length).toBeGreaterThanOrEqual(4));

  it.each(names)('%s is accepted', async (name) => {
    const recorded: unknown = JSON.parse(readFileSync(new URL(name, FIXTURES), 'utf8'));
    if (!isRecorded(recorded)) throw new Error('no recorded request');
    const { contentType, contentEncoding, body } = recorded;
    const bytes = Uint8Array.from(Buffer.from(body, 'base64'));
    const before = await client.query('select count(*)::int as n from verwerkingenlog.versies where ldv is not null');
    const { status, answer } = await log.send([], {
      body: bytes,
      subject: name,
      headers: {
        'content-type': contentType,
        ...(contentEncoding === undefined ? {} : { 'content-encoding': contentEncoding }),
      },
    });
    expect([status, answer?.rejectedSpans]).toEqual([200, 0]);
    const { rows } = await client.query(
      `select actie_naam, systeem, verwerking_id as trace from verwerkingenlog.versies where ldv is not null and door = $1`,
      [name],
    );
    expect(rows).toMatchObject([{ actie_naam: 'Zoeken persoon', systeem: 'Balie 2.1' }]);
    expect(before.rows[0].n).toBeGreaterThan(0);
    const [span] = await stored(rows[0].trace);
    expect(span?.status).toBe('Ok');
    expect(span?.attributes.get(DPL.subject)).toBe('999990019');
    expect(span?.attributes.get('app.number')).toBe(7n);
    expect(span?.attributes.get('app.yes')).toBe(true);
  });
});
