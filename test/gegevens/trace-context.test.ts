import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readJournal } from '../../src/gegevens/store/journal.ts';
import { messageFile, shvMessage } from './support/messages.ts';
import { openSupplier, type Supplier } from './support/supplier.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACE_UUID = '4bf92f35-77b3-4da6-a3ce-929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const FSC = '0198c0de-7c1e-7aa0-9b1c-3d5e7f900000';
const VERWERKING = '6b1d7d6e-2f0b-4b5e-8f35-1c6f0f0a7c11';

let supplier: Supplier;
beforeAll(async () => {
  supplier = await openSupplier();
  await supplier.import('shv', messageFile(shvMessage({ leveringen: [{ naam: 'Noord', records: 3 }] })));
});
afterAll(() => supplier.close());

/** The traces of one delivery: the access log line, the journal, and the entry in the processing log. */
async function delivered(headers: Record<string, string>) {
  const before = supplier.server.logged.length;
  await supplier.get({ page: 1 }, { headers: { VerwerkingId: VERWERKING, ...headers } });
  const find = () => supplier.server.logged.slice(before).find(({ msg }) => msg === 'answered');
  await expect.poll(find).toBeDefined();
  const [journal] = await readJournal(supplier.pool, { limit: 1 });
  const [entry] = await supplier.asOwner(
    `select trace_id, span_id, parent_span_id, fsc_transaction_id, verwerking_id, verwerking_id_afnemer
     from verwerkingenlog.versies order by tijdstip_registratie desc, actie_id desc limit 1`,
  );
  return { line: find() ?? {}, journal, entry: entry ?? {} };
}

describe('a delivery', () => {
  it("continues the requester's trace: in the access log, the journal and the processing log", async () => {
    const { line, journal, entry } = await delivered({
      traceparent: `00-${TRACE}-${SPAN}-01`,
      tracestate: 'a=b',
      'fsc-transaction-id': FSC,
    });
    const spanId = String(line.spanId);
    expect(line).toMatchObject({ traceId: TRACE, parentSpanId: SPAN, fscTransactionId: FSC });
    expect(journal).toMatchObject({ traceId: TRACE, spanId, parentSpanId: SPAN, fscTransactieId: FSC });
    expect(entry).toMatchObject({
      trace_id: TRACE_UUID,
      span_id: spanId,
      parent_span_id: SPAN,
      fsc_transaction_id: FSC,
      verwerking_id_afnemer: VERWERKING,
    });
    expect([TRACE_UUID, VERWERKING]).not.toContain(entry.verwerking_id);
  });

  it.each([
    ['no trace', {}],
    ['an all-zero trace', { traceparent: `00-${'0'.repeat(32)}-${SPAN}-01` }],
    ['a malformed trace', { traceparent: `00-${TRACE}-${SPAN}-01-more` }],
  ])('begins a trace if the requester has none: %s', async (_what, headers) => {
    const { line, journal, entry } = await delivered(headers);
    expect(line.traceId).toMatch(/^(?!0+$)[0-9a-f]{32}$/);
    expect(line.traceId).not.toBe(TRACE);
    expect(journal).toMatchObject({ traceId: line.traceId, spanId: line.spanId, parentSpanId: null });
    expect(entry).toMatchObject({ span_id: line.spanId, parent_span_id: null, fsc_transaction_id: null });
    expect(String(entry.trace_id).replaceAll('-', '')).toBe(line.traceId);
  });
});

it('sends issuers no trace, even if their address is listed', async () => {
  const heard: string[] = [];
  const listen = (target: string) => {
    const relay = createServer((request, response) => {
      heard.push(...Object.keys(request.headers).filter((name) => name.startsWith('trace')), `${request.method}`);
      void fetch(`${target}${request.url}`).then(async (answer) =>
        response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text()),
      );
    });
    return new Promise<{ url: string; close: () => void }>((resolve) => {
      relay.listen(0, '127.0.0.1', () => {
        const address = relay.address();
        const port = typeof address === 'object' && address !== null ? address.port : 0;
        resolve({ url: `http://127.0.0.1:${port}`, close: () => relay.close() });
      });
    });
  };
  const issuer = await listen(new URL(supplier.tokens.env.OAUTH_JWKS_URL).origin);
  try {
    const server = await supplier.another({ OAUTH_JWKS_URL: `${issuer.url}/jwks`, TRACE_CONTEXT_TO: issuer.url });
    await supplier.get({}, { server, headers: { traceparent: `00-${TRACE}-${SPAN}-01` } });
    expect(heard).toEqual(['GET']);
  } finally {
    issuer.close();
  }
});
