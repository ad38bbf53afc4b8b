import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FeedServer, startFeed } from './support.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const VALID = `00-${TRACE}-${SPAN}-01`;

let feed: FeedServer;
beforeAll(async () => {
  feed = await startFeed();
});
afterAll(() => feed?.stop());

describe('a request to the feed', () => {
  it.each([
    ['valid', { traceparent: VALID, tracestate: 'a=b' }],
    ['malformed', { traceparent: '00-no' }],
    ['of zeros', { traceparent: `00-${'0'.repeat(32)}-${SPAN}-01` }],
    ['of a future version', { traceparent: `cc-${TRACE}-${SPAN}-01-more` }],
    ['several', { traceparent: `${VALID}, ${VALID}` }],
    ['with too long a state', { traceparent: VALID, tracestate: 'a=b,'.repeat(5000) }],
  ])('is answered whatever its trace is, including from memory: %s', async (_what, headers) => {
    for (const path of ['/feed', '/feed', '/snapshot', '/feed?limit=3']) {
      expect((await feed.api.call('GET', path, { headers })).status).toBe(200);
    }
  });

  it.each([
    ['its caller', { traceparent: VALID }, { traceId: TRACE, parentSpanId: SPAN }],
    ['a version to come', { traceparent: `cc-${TRACE}-${SPAN}-00-x` }, { traceId: TRACE, parentSpanId: SPAN }],
    ['nobody', { traceparent: `${VALID}-x` }, { traceId: expect.not.stringMatching(TRACE) }],
  ])('that fails is logged in the trace of %s', async (_what, headers, ids) => {
    const owner = new pg.Client(feed.databaseUrl);
    await owner.connect();
    const before = feed.server.logged.length;
    try {
      await owner.query('revoke select on all tables in schema raadsfeed from koppelvlak_dienst');
      expect((await feed.api.call('GET', '/snapshot?limit=7', { headers })).status).toBeGreaterThanOrEqual(500);
    } finally {
      await owner.query('grant select on all tables in schema raadsfeed to koppelvlak_dienst');
      await owner.end();
    }
    const line = feed.server.logged.slice(before).find((one) => Number(one.level) >= 40 && 'reqId' in one);
    expect(line).toMatchObject({ spanId: expect.stringMatching(/^[0-9a-f]{16}$/), ...ids });
  });
});
