import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';
import { sendRaw } from './support/ask.ts';
import { createProbe, OPEN } from './support/probe-area.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ env: {}, register: createProbe().open });
});
afterAll(() => server.stop());

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const VALID = `00-${TRACE}-${SPAN}-01`;

/** The access log line of one request, which is always answered. */
async function logged(heads: readonly string[], path = '/databank', status = 200): Promise<Record<string, unknown>> {
  const before = server.logged.length;
  const head = [`GET ${OPEN}${path} HTTP/1.1`, 'host: a', 'connection: close', ...heads];
  const answer = await sendRaw(server.url, `${head.join('\r\n')}\r\n\r\n`);
  expect(Number(answer.slice(9, 12))).toBe(status);
  const find = () => server.logged.slice(before).find(({ msg }) => msg === 'answered');
  await expect.poll(find).toBeDefined();
  return find() ?? {};
}

describe('a request', () => {
  it.each([
    ['valid', [`traceparent: ${VALID}`]],
    ['with the name in another case', [`TraceParent: ${VALID}`]],
    ['with spaces around it', [`traceparent:  ${VALID} \t`]],
    ['not sampled', [`traceparent: 00-${TRACE}-${SPAN}-00`]],
    ['with unknown flags', [`traceparent: 00-${TRACE}-${SPAN}-ff`]],
    ['of a future version', [`traceparent: cc-${TRACE}-${SPAN}-01`]],
    ['of a future version, with more fields', [`traceparent: cc-${TRACE}-${SPAN}-01-what-the-future-will-bring`]],
    ['with an invalid tracestate', [`traceparent: ${VALID}`, 'tracestate: =,A=b']],
    ['with a tracestate that is very long', [`traceparent: ${VALID}`, `tracestate: ${'a=b,'.repeat(10_000)}`]],
  ])("belongs to its caller's trace: %s", async (_what, heads) => {
    const line = await logged(heads);
    expect(line).toMatchObject({ traceId: TRACE, parentSpanId: SPAN, spanId: expect.stringMatching(/^[0-9a-f]{16}$/) });
    expect(line.spanId).not.toBe(SPAN);
  });

  it.each([
    ['no header', []],
    ['an empty one', ['traceparent:']],
    ['no trace', [`traceparent: 00-${'0'.repeat(32)}-${SPAN}-01`]],
    ['no span', [`traceparent: 00-${TRACE}-${'0'.repeat(16)}-01`]],
    ['capitals', [`traceparent: ${VALID.toUpperCase()}`]],
    ['a forbidden version', [`traceparent: ff-${TRACE}-${SPAN}-01`]],
    ['an invalid version', [`traceparent: 0x-${TRACE}-${SPAN}-01`]],
    ['too long a version', [`traceparent: 000-${TRACE}-${SPAN}-01`]],
    ['a short trace', [`traceparent: 00-${TRACE.slice(1)}-${SPAN}-01`]],
    ['a long trace', [`traceparent: 00-${TRACE}0-${SPAN}-01`]],
    ['a non-hexadecimal trace', [`traceparent: 00-${TRACE.slice(1)}g-${SPAN}-01`]],
    ['a short span', [`traceparent: 00-${TRACE}-${SPAN.slice(1)}-01`]],
    ['a long span', [`traceparent: 00-${TRACE}-${SPAN}0-01`]],
    ['no flags', [`traceparent: 00-${TRACE}-${SPAN}`]],
    ['short flags', [`traceparent: 00-${TRACE}-${SPAN}-1`]],
    ['non-hexadecimal flags', [`traceparent: 00-${TRACE}-${SPAN}-0.`]],
    ['more fields than its version allows', [`traceparent: ${VALID}-01`]],
    ['a hyphen more', [`traceparent: ${VALID}-`]],
    ['a future version, with more but no hyphen', [`traceparent: cc-${TRACE}-${SPAN}-01.what`]],
    ['other hyphens', [`traceparent: 00_${TRACE}_${SPAN}_01`]],
    ['two headers', [`traceparent: ${VALID}`, `traceparent: 00-${'a'.repeat(32)}-${SPAN}-01`]],
    ['the same header twice', [`traceparent: ${VALID}`, `traceparent: ${VALID}`]],
    ['two in one', [`traceparent: ${VALID},${VALID}`]],
    ['a very long header', [`traceparent: ${VALID.repeat(1000)}`]],
    ['only a tracestate', ['tracestate: a=b']],
  ])('begins its own trace: %s', async (_what, heads) => {
    const line = await logged(heads);
    expect(line.traceId).toMatch(/^(?!0+$)[0-9a-f]{32}$/);
    expect(line.traceId).not.toBe(TRACE);
    expect(line.spanId).toMatch(/^(?!0+$)[0-9a-f]{16}$/);
    expect(line).not.toHaveProperty('parentSpanId');
  });

  it('that fails names its trace', async () => {
    const line = await logged([`traceparent: ${VALID}`], '/fout', 500);
    const error = server.logged.find(({ level, traceId }) => level === 50 && traceId === TRACE);
    expect(error).toMatchObject({ traceId: TRACE, parentSpanId: SPAN, spanId: line.spanId });
  });

  it('may carry a separate FSC identity', async () => {
    const id = '0198c0de-7c1e-7aa0-9b1c-3d5e7f900000';
    expect(await logged([`traceparent: ${VALID}`, `fsc-transaction-id: ${id}`])).toMatchObject({
      traceId: TRACE,
      fscTransactionId: id,
    });
  });
});
