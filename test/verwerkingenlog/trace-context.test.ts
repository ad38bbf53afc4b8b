import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actie, actieIn, HEADERS, type LogServer, newPerson, ofPerson, startLog } from './support.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACE_UUID = '4bf92f35-77b3-4da6-a3ce-929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const traceparent = `00-${TRACE}-${SPAN}-01`;

let log: LogServer;
let client: pg.Client;
beforeAll(async () => {
  log = await startLog();
  client = new pg.Client(log.server.databaseUrl);
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await log?.stop();
});

async function rows(where = 'true'): Promise<Record<string, unknown>[]> {
  const { rows: found } = await client.query<Record<string, unknown>>(
    `select actie_id, versie, trace_id, span_id, parent_span_id, fsc_transaction_id, verwerking_id
     from verwerkingenlog.versies where ${where} order by tijdstip_registratie desc, actie_id desc, versie desc`,
  );
  return found;
}

async function readWith(headers: Record<string, string>): Promise<Record<string, unknown>> {
  const path = `/verwerkingsacties?${ofPerson(newPerson(), { vertrouwelijkheid: 'normaal' })}`;
  expect((await log.call(['read:normal'], 'GET', path, undefined, { ...HEADERS, ...headers })).status).toBe(200);
  const [entry] = await rows();
  return entry ?? {};
}

describe('the entry about a reading', () => {
  it("has the reader's trace beside it, and its own verwerkingId", async () => {
    const entry = await readWith({ traceparent, 'fsc-transaction-id': HEADERS.VerwerkingId });
    expect(entry).toMatchObject({
      trace_id: TRACE_UUID,
      parent_span_id: SPAN,
      span_id: expect.stringMatching(/^[0-9a-f]{16}$/),
      fsc_transaction_id: HEADERS.VerwerkingId,
    });
    expect(entry.verwerking_id).not.toBe(TRACE_UUID);
    const find = () => log.server.logged.find(({ spanId }) => spanId === entry.span_id);
    await expect.poll(find).toMatchObject({ msg: 'answered', traceId: TRACE, parentSpanId: SPAN });
  });

  it.each([
    ['no trace', {}],
    ['a malformed one', { traceparent: traceparent.toUpperCase() }],
    ['an all-zero one', { traceparent: `00-${TRACE}-${'0'.repeat(16)}-01` }],
  ])('has a new trace if the reader has %s', async (_what, headers) => {
    const entry = await readWith(headers);
    expect(entry.trace_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(entry.trace_id).not.toBe(TRACE_UUID);
    expect(entry.parent_span_id).toBeNull();
  });

  it("is not found by a caller's trace: PATCH reaches it by its own verwerkingId only, and it keeps its trace", async () => {
    const entry = await readWith({ traceparent });
    const change = { bewaartermijn: 'P11Y' };
    const patch = (id: unknown) =>
      log.call(['update:normal'], 'PATCH', `/verwerkingsacties?verwerkingId=${id}`, change);
    expect((await patch(TRACE_UUID)).status).toBe(400);
    expect((await patch(entry.verwerking_id)).status).toBe(204);
    const [latest] = await rows(`actie_id = '${entry.actie_id}'`);
    expect(latest).toMatchObject({ versie: 2, trace_id: TRACE_UUID, span_id: entry.span_id, parent_span_id: SPAN });
  });

  it('keeps its trace when it is replaced and deleted', async () => {
    const entry = await readWith({ traceparent });
    const path = `/verwerkingsacties/${entry.actie_id}`;
    const body = actie(newPerson());
    expect((await log.call(['update:normal'], 'PUT', path, body)).status).toBe(200);
    expect((await log.call(['delete:normal'], 'DELETE', path)).status).toBe(204);
    const versions = await rows(`actie_id = '${entry.actie_id}'`);
    expect(versions.map(({ versie }) => versie)).toEqual([3, 2, 1]);
    for (const version of versions) expect(version).toMatchObject({ trace_id: TRACE_UUID, span_id: entry.span_id });
  });
});

it("has no counterpart in other applications' entries, but does in the access log", async () => {
  const headers = { traceparent, tracestate: 'a=b'.repeat(100) };
  const answer = await log.call(['create:normal'], 'POST', '/verwerkingsacties', actie(newPerson()), headers);
  const [entry] = await rows(`actie_id = '${actieIn(answer).actieId}'`);
  expect(entry).toMatchObject({ trace_id: null, span_id: null, parent_span_id: null, fsc_transaction_id: null });
  const find = () => log.server.logged.find((line) => line.traceId === TRACE && line.method === 'POST');
  await expect.poll(find).toMatchObject({ parentSpanId: SPAN, status: 201 });
});
