/** Answers that do not fit in the buffers of a connection. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readJournal } from '../../src/gegevens/store/journal.ts';
import { PLAIN_STYLES } from '../../src/lib/jades/signature.ts';
import { messageFile, shvMessage } from './support/messages.ts';
import { openSupplier, type Supplier } from './support/supplier.ts';

/** Few and large: answer size matters here, and records cost CPU time. */
const RECORDS = 2000;
let supplier: Supplier;
beforeAll(async () => {
  supplier = await openSupplier({ env: { 'server.requestTimeoutMs': '10000', 'gegevens.cacheMb': '0' } });
  const records = Array.from({ length: RECORDS }, (_, n) => `${n} ${'é'.repeat(5000)}`);
  await supplier.import('shv', messageFile(shvMessage({ leveringen: [{ naam: 'Groot', records }] })));
});
afterAll(() => supplier.close());

async function open(): Promise<IncomingMessage> {
  const outgoing = request(`${supplier.server.url}/shv/v1/gegevens`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(await supplier.tokens.bearer(['read'])),
      ...(await supplier.requester.sign('{}')),
    },
  });
  outgoing.end('{}');
  const [incoming] = await once(outgoing, 'response');
  return incoming;
}

/** When the last answers were sent, newest first. */
const sent = async () => (await readJournal(supplier.pool, { limit: 2 })).map(({ verzondenOp }) => verzondenOp);

it.each(['body', 'digest'] as const)('has a digest and a signature in the %s form over all of it', async (form) => {
  const { gegevens, bytes, headers } = await supplier.get({}, { style: PLAIN_STYLES[form] });
  expect(bytes.length).toBeGreaterThan(20_000_000);
  expect(headers.get('content-length')).toBe(String(bytes.length));
  expect(gegevens.leveringen).toMatchObject([{ schuldhulptrajecten: { length: RECORDS } }]);
});

it('keeps sending to a reader that takes longer than the deadline of a request', async () => {
  const incoming = await open();
  await delay(12_000);
  let bytes = 0;
  for await (const chunk of incoming) bytes += chunk.length;
  expect(bytes).toBe(Number(incoming.headers['content-length']));
});

it('notes in the journal that an answer was not sent completely', async () => {
  (await open()).destroy();
  await supplier.get({ pageSize: 1 });
  await expect.poll(sent).toEqual([expect.any(Date), null]);
});
