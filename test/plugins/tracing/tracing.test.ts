/** Traces for operators: their contents, what they never contain, and that they are not the lines of LDV. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/settings/read-config.ts';
import { DPL, type Span } from '../../../src/verwerkingenlog/ldv/span.ts';
import { messageFile, shvMessage } from '../../gegevens/support/messages.ts';
import { openSupplier, type Supplier } from '../../gegevens/support/supplier.ts';
import { type Collector, startCollector } from '../../support/collector.ts';
import { startServer } from '../../support/server.ts';
import { type Receiver, startReceiver } from '../../verwerkingenlog/ldv/receiver.ts';
import { actie, HEADERS, KEY, newPerson, ofPerson } from '../../verwerkingenlog/support.ts';
import { sendRaw } from '../support/ask.ts';
import { createProbe, OPEN } from '../support/probe-area.ts';

const ALL = ['read', 'create:confidential', 'update:confidential', 'delete:confidential', 'read:confidential'];
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
/** Decides which share of the traces is sampled. */
const [SMALL, LARGE] = [`${'0'.repeat(31)}1`, `${'f'.repeat(8)}${'0'.repeat(24)}`];
const LOG = '/verwerkingenlog/v1/verwerkingsacties';

/** Each in a different place; all of them are searched for in what the collector received. */
const persons = { body: newPerson(), query: newPerson(), path: newPerson(), header: newPerson(), failing: newPerson() };

describe('a traced service', () => {
  let collector: Collector;
  let logbook: Receiver;
  let supplier: Supplier;
  let authorization = '';
  const answers = new Map<string, number>();

  async function call(name: string, method: string, path: string, more: Partial<Call> = {}): Promise<void> {
    const { headers = {}, body } = more;
    const response = await fetch(`${supplier.server.url}${path}`, {
      method,
      headers: { authorization, ...HEADERS, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    await response.arrayBuffer();
    answers.set(name, response.status);
  }

  beforeAll(async () => {
    collector = await startCollector();
    logbook = await startReceiver();
    supplier = await openSupplier({
      env: {
        AREAS: 'shv,vs,verwerkingenlog,raadsfeed',
        TRACING_ENDPOINT: collector.url,
        VERWERKINGENLOG_KEY: KEY,
        LDV_FORWARD_URL: logbook.url,
      },
    });
    const client = messageFile(
      shvMessage({ leveringen: [{ naam: 'Noord', records: [{ mark: 'een', bsn: [persons.body] }] }] }),
    );
    await supplier.import('shv', client);
    ({ authorization } = await supplier.tokens.bearer(ALL));
    const body = actie(persons.body);
    await call('append', 'POST', LOG, { body, headers: { traceparent: `00-${TRACE}-${PARENT}-00` } });
    await call('list', 'GET', `${LOG}?${ofPerson(persons.query)}`);
    await call('path', 'GET', `${LOG}/${persons.path}`);
    await call('unknown path', 'GET', `/${persons.path}`);
    await call('method', 'PUT', `${LOG}?objectId=${persons.path}`, { body: {} });
    await call('refused', 'POST', LOG, { body: { ...body, vertrouwelijkheid: persons.body } });
    await call('header', 'GET', `${LOG}?${ofPerson(persons.query)}`, {
      headers: {
        traceparent: persons.header,
        tracestate: `a=${persons.header}`,
        baggage: `person=${persons.header}`,
        'user-agent': persons.header,
        'x-forwarded-for': persons.header,
        'fsc-transaction-id': persons.header,
        VerwerkingId: persons.header,
      },
    });
    await call('state', 'GET', `${LOG}?${ofPerson(persons.query)}`, {
      headers: { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: `a=${persons.header}` },
    });
    await call('feed', 'GET', `/ori/v1/feed?cursor=${persons.query}`);
    await sendRaw(supplier.server.url, `GET /%zz${persons.path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`);
    const asked = await supplier.ask({}, { headers: { 'user-agent': persons.header } });
    answers.set('delivery', asked.status);
    const wrong = await supplier.ask({ burgerservicenummer: persons.body, geenLid: persons.body });
    answers.set('wrong request', wrong.status);
    await supplier.asOwner(`
      create function verwerkingenlog.weigert() returns trigger language plpgsql as $$
        begin raise exception 'no room for ${persons.failing}' using detail = '${persons.failing}'; end $$;
      create trigger weigert before insert on verwerkingenlog.versies for each row execute function verwerkingenlog.weigert()`);
    await call('failing', 'POST', LOG, { body: actie(persons.failing) });
    await supplier.asOwner('drop trigger weigert on verwerkingenlog.versies');
    while (logbook.taken.length === 0) await sleep(20);
    // The remaining spans are sent before the service exits.
    await supplier.server.stop();
  });
  afterAll(async () => {
    await supplier?.close();
    await logbook?.close();
    await collector?.close();
  });

  const named = (name: string): Span[] => collector.spans.filter((span) => span.name === name);
  const text = (span: Span | undefined): string => String(span?.attributes.get('db.query.text'));
  /** The spans of SQL at any depth below one. */
  function statementsBelow(span: Span | undefined): Span[] {
    const children = collector.spans.filter(({ parentSpanId }) => parentSpanId === span?.spanId);
    return children.flatMap((child) => [
      ...(child.attributes.has('db.query.text') ? [child] : []),
      ...statementsBelow(child),
    ]);
  }

  it('answers as usual', () => {
    expect(Object.fromEntries(answers)).toEqual({
      append: 201,
      list: 200,
      path: 400,
      'unknown path': 404,
      method: 405,
      refused: 400,
      header: 400,
      state: 200,
      feed: 400,
      delivery: 200,
      'wrong request': 400,
      failing: 500,
    });
  });

  it("shows a request with its statements in one trace, which is its caller's", () => {
    const request = named(`POST ${LOG}`).find(({ traceId }) => traceId === TRACE);
    expect(request).toMatchObject({ parentSpanId: PARENT, status: 'Unset' });
    expect(Object.fromEntries(request?.attributes ?? [])).toEqual({
      'http.request.method': 'POST',
      'http.route': LOG,
      'http.response.status_code': 201n,
    });
    const statements = statementsBelow(request);
    expect(statements.map(text).join('\n')).toContain('insert into verwerkingenlog.');
    expect(new Set(statements.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
  });

  it('shows the statements of a delivery and of a reading', () => {
    expect(statementsBelow(named('POST /shv/v1/gegevens')[0]).map(text).join('\n')).toContain('gegevens.');
    expect(
      statementsBelow(named(`GET ${LOG}`)[0])
        .map(text)
        .join('\n'),
    ).toContain('verwerkingenlog.');
  });

  it('marks a failed statement and its request', () => {
    const request = named(`POST ${LOG}`).find(({ status }) => status === 'Error');
    expect(request?.attributes.get('http.response.status_code')).toBe(500n);
    expect(statementsBelow(request).map(({ status }) => status)).toContain('Error');
  });

  it('is found from a log line, and from one of its own entries', () => {
    const spans = new Set(collector.spans.map(({ spanId }) => spanId));
    const lines = supplier.server.logged.filter(({ msg, route }) => msg === 'answered' && route === LOG);
    expect(lines.length).toBeGreaterThan(4);
    expect(lines.filter(({ spanId }) => !spans.has(String(spanId)))).toEqual([]);
  });

  it.each(Object.keys(persons))('never contains the person in the %s', (place) => {
    const person = Object.entries(persons).find(([key]) => key === place)?.[1] ?? '';
    expect(person).toHaveLength(9);
    expect(collector.spans.length).toBeGreaterThan(20);
    expect(collector.received()).not.toContain(person);
  });

  it('reveals only the listed attributes', () => {
    const names = new Set(collector.spans.flatMap(({ attributes }) => [...attributes.keys()]));
    expect([...names].filter((name) => !/^(http|db|server)\./.test(name))).toEqual([]);
    expect(collector.received()).not.toContain(authorization.slice(7, 60));
    // A name is that of a route, a handler or a statement.
    const odd = collector.spans.filter(({ name }) => !/^([A-Z]+ (\/|unknown$)|pg\.query:|handler - )/.test(name));
    expect(odd.map(({ name }) => name)).toEqual([]);
  });

  it('is separate from LDV: the collector gets no line of it, a logbook nothing else', () => {
    expect(logbook.taken.filter(({ attributes }) => !attributes.has(DPL.activity))).toEqual([]);
    expect(JSON.stringify(logbook.taken.map(({ attributes }) => [...attributes.values()].map(String)))).toContain(
      persons.body,
    );
    expect(collector.received()).not.toMatch(/dpl\./);
  });
});

interface Call {
  readonly headers: Record<string, string>;
  readonly body: unknown;
}

describe('a collector', () => {
  async function ask(collector: Collector): Promise<{ logged: string; stopMs: number }> {
    const server = await startServer({ env: { TRACING_ENDPOINT: collector.url }, register: createProbe().open });
    expect((await fetch(`${server.url}${OPEN}/databank`)).status).toBe(200);
    const before = performance.now();
    await server.stop();
    return { logged: JSON.stringify(server.logged), stopMs: performance.now() - before };
  }

  it('is reported in the log when it refuses, without its answer', async () => {
    const collector = await startCollector();
    collector.status = 401;
    const { logged } = await ask(collector);
    expect(logged).toContain('TRACING_ENDPOINT did not accept spans');
    expect(logged).not.toContain('the collector says why');
    await collector.close();
  });

  it('delays neither requests nor shutdown when it does not answer', async () => {
    const collector = await startCollector();
    collector.status = 'never';
    const { stopMs } = await ask(collector);
    // One export may take two seconds, instead of the default ten.
    expect(stopMs).toBeLessThan(8000);
    await collector.close();
  });

  it("gets every trace, whatever its caller's flag", async () => {
    const collector = await startCollector();
    const server = await startServer({ env: { TRACING_ENDPOINT: `${collector.url}/` }, register: createProbe().open });
    for (const [trace, flag] of [
      [SMALL, '00'],
      [LARGE, '01'],
    ]) {
      await fetch(`${server.url}${OPEN}/databank`, { headers: { traceparent: `00-${trace}-${PARENT}-${flag}` } });
    }
    await server.stop();
    expect(new Set(collector.spans.map(({ traceId }) => traceId))).toEqual(new Set([SMALL, LARGE]));
    await collector.close();
  });

  it.each([
    ['the logbook that actions are forwarded to', { LDV_FORWARD_URL: 'https://logboek.example/ldv' }],
    ['our own', { PUBLIC_BASE_URL: 'https://logboek.example' }],
  ])('must not be a logbook: not %s', (_what, env) => {
    const read = (endpoint: string) => () =>
      readConfig({ AREAS: 'raadsfeed', TRACING_ENDPOINT: endpoint, ...env }, 'serve');
    expect(read('https://logboek.example/ldv/')).toThrow(/TRACING_ENDPOINT is the address of a logbook/);
    expect(read('https://collector.example')).not.toThrow();
  });
});
