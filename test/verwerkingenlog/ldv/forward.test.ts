import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { spanIdOf } from '../../../src/verwerkingenlog/ldv/mapping.ts';
import { DPL, type Span } from '../../../src/verwerkingenlog/ldv/span.ts';
import { LOGBOOKS } from '../../../src/verwerkingenlog/ldv/stored-line.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { koppelvlak } from '../cli.ts';
import { actie, actieIn, HEADERS, newPerson, ofPerson, startLog } from '../support.ts';
import { type Receiver, startReceiver } from './receiver.ts';

const PATIENT = { timeout: 60_000, interval: 30 };
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`;

let database: TestDatabase;
let other: Receiver;
let log: Awaited<ReturnType<typeof startLog>>;
let client: pg.Client;

const forwarding = (env: Record<string, string> = {}) => ({
  LDV_FORWARD_URL: other.url,
  'ldvOut.forwardTimeoutMs': '1500',
  'ldvOut.forwardBackoffMaxSeconds': '1',
  PUBLIC_BASE_URL: 'https://dit-logboek.example',
  ...env,
});

beforeAll(async () => {
  database = await createDatabase();
  other = await startReceiver();
  log = await startLog({ databaseUrl: database.url, env: forwarding() });
  client = new pg.Client(database.url);
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await log?.stop();
  await other?.close();
  await database?.drop();
});

beforeEach(async () => {
  other.answer = () => undefined;
  await emptied();
  other.taken.length = 0;
  other.requests.length = 0;
  await client.query('truncate verwerkingenlog.ldv_forward_issues');
});

async function pending(): Promise<number> {
  const { rows } = await client.query<{ n: number }>(
    'select count(*)::integer as n from verwerkingenlog.ldv_forward_queue',
  );
  return rows[0]?.n ?? -1;
}

async function emptied(): Promise<void> {
  await expect.poll(pending, PATIENT).toBe(0);
}

async function issues(): Promise<Record<string, unknown>[]> {
  const { rows } = await client.query<Record<string, unknown>>(
    `select kind as soort, actie_id, versie, span_id, actie_ids as acties, line_count as aantal, reason as reden
     from verwerkingenlog.ldv_forward_issues order by id`,
  );
  return rows;
}

async function post(wishes: Record<string, unknown> = {}, headers: Record<string, string> = {}): Promise<string> {
  const scopes = ['create:confidential'];
  const answer = await log.call(scopes, 'POST', '/verwerkingsacties', actie(newPerson(), wishes), headers);
  return actieIn(answer).actieId;
}

/** The forwarded actions, in order, by name: every test names its actions. */
function names(spans: readonly Span[] = other.taken): string[] {
  return spans.map(({ name }) => name);
}

function persons(count: number) {
  return Array.from({ length: count }, () => ({ objecttype: 'persoon', soortObjectId: 'BSN', objectId: newPerson() }));
}

async function postMany(count: number, prefix = 'actie'): Promise<string[]> {
  const wanted = Array.from({ length: count }, (_, n) => `${prefix} ${n}`);
  for (const actieNaam of wanted) await post({ actieNaam });
  return wanted;
}

/** Lets an action wait, refused, at the head of the queue: what is posted after it waits until `other.answer` changes. */
async function holdUp(actieNaam: string): Promise<void> {
  other.answer = () => ({ status: 503 });
  await post({ actieNaam });
  await expect.poll(() => other.requests.length, PATIENT).toBeGreaterThan(0);
}

describe('a new action', () => {
  it('is forwarded as an LDV line, with this logbook in its path', async () => {
    const verwerkingId = randomUUID();
    const person = newPerson();
    const body = actie(person, { actieNaam: 'Zoeken', verwerkingId });
    const id = actieIn(await log.call(['create:normal'], 'POST', '/verwerkingsacties', body)).actieId;
    await emptied();
    expect(other.taken).toHaveLength(1);
    const [span] = other.taken;
    expect(span).toMatchObject({
      traceId: verwerkingId.replaceAll('-', ''),
      spanId: spanIdOf(id, 1),
      name: 'Zoeken',
      start: BigInt(Date.parse('2026-01-15T13:35:42Z')) * 1_000_000n,
    });
    expect(span?.attributes.get(DPL.subject)).toBe(person);
    expect(span?.attributes.get(DPL.activity)).toBe('https://register.example/5f0bef4c');
    expect(span?.resource.get(LOGBOOKS)).toEqual(['https://dit-logboek.example']);
    expect(JSON.stringify([...(span?.attributes ?? [])])).not.toContain('1234');
    expect(other.requests[0]?.headers['content-type']).toBe('application/x-protobuf');
  });

  it('about several persons becomes a line for each, below a common one', async () => {
    const objects = persons(2);
    await post({ verwerkteObjecten: objects });
    await emptied();
    const [parent, ...children] = other.taken;
    expect(children.map(({ parentSpanId }) => parentSpanId)).toEqual([parent?.spanId, parent?.spanId]);
    const subjects = children.map(({ attributes }) => attributes.get(DPL.subject));
    expect(subjects).toEqual(objects.map(({ objectId }) => objectId));
  });

  it('continues the trace of its request', async () => {
    await post({}, { traceparent, tracestate: 'a=b' });
    await emptied();
    expect(other.requests[0]?.headers.traceparent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
    expect(other.requests[0]?.headers.tracestate).toBe('a=b');
  });

  it('that is confidential is not forwarded, nor are its later changes', async () => {
    const id = await post({ vertrouwelijkheid: 'vertrouwelijk' });
    await log.call(['delete:confidential'], 'DELETE', `/verwerkingsacties/${id}`);
    await post({ actieNaam: 'daarna' });
    await emptied();
    expect(names()).toEqual(['daarna']);
    expect(await issues()).toEqual([]);
  });

  it("of the service itself is forwarded in its caller's trace, below the caller's span", async () => {
    const path = `/verwerkingsacties?${ofPerson(newPerson(), { vertrouwelijkheid: 'normaal' })}`;
    expect((await log.call(['read:normal'], 'GET', path, undefined, { ...HEADERS, traceparent })).status).toBe(200);
    await emptied();
    expect(other.taken).toMatchObject([
      { name: 'Raadplegen verwerkingenlog', traceId: TRACE, parentSpanId: '00f067aa0ba902b7' },
    ]);
  });
});

describe('a later change to a forwarded action', () => {
  it('is counted and listed: LDV has no changes', async () => {
    const verwerkingId = randomUUID();
    const id = await post({ verwerkingId });
    await emptied();
    const path = `/verwerkingsacties/${id}`;
    expect((await log.call(['update:normal'], 'PUT', path, actie(newPerson(), { verwerkingId }))).status).toBe(200);
    const change = { bewaartermijn: 'P11Y' };
    const patch = `/verwerkingsacties?verwerkingId=${verwerkingId}`;
    expect((await log.call(['update:normal'], 'PATCH', patch, change)).status).toBe(204);
    expect((await log.call(['delete:normal'], 'DELETE', path)).status).toBe(204);
    await emptied();
    expect(other.taken).toHaveLength(1);
    expect(await issues()).toMatchObject([
      { soort: 'wijziging', actie_id: id, versie: 2 },
      { soort: 'wijziging', actie_id: id, versie: 3 },
      { soort: 'verwijdering', actie_id: id, versie: 4 },
    ]);
  });

  it('keeps the action here when it became confidential or was deleted before forwarding', async () => {
    await holdUp('houdt de rij op');
    const verwerkingId = randomUUID();
    const hidden = await post({ actieNaam: 'wordt vertrouwelijk', verwerkingId });
    const deleted = await post({ actieNaam: 'vervalt' });
    const patch = `/verwerkingsacties?verwerkingId=${verwerkingId}`;
    await log.call(['update:confidential'], 'PATCH', patch, { vertrouwelijkheid: 'vertrouwelijk' });
    await log.call(['delete:normal'], 'DELETE', `/verwerkingsacties/${deleted}`);
    other.answer = () => undefined;
    await emptied();
    expect(names()).toEqual(['houdt de rij op']);
    expect((await issues()).filter(({ soort }) => soort === 'ingehouden')).toMatchObject([
      { actie_id: hidden },
      { actie_id: deleted },
    ]);
  });
});

describe('another logbook', () => {
  it.each([
    ['is overloaded', { status: 503 }],
    ['has too many requests', { status: 429, headers: { 'retry-after': '1' } }],
    ['fails', { status: 500 }],
    ['has moved elsewhere', { status: 404 }],
    ['refuses the token', { status: 401 }],
    ['is behind a refusing proxy', { status: 400, body: '<html>nee</html>' }],
    ['redirects', { status: 307, headers: { location: 'http://127.0.0.1:9/' } }],
    ['does not answer', 'never'],
    ['breaks off', 'break off'],
  ] as const)('that %s gets everything later, in order', async (_what, answer) => {
    let left = 2;
    other.answer = () => (left-- > 0 ? answer : undefined);
    const wanted = await postMany(5);
    await emptied();
    expect(names()).toEqual(wanted);
    expect(other.requests.length).toBeGreaterThan(2);
    expect(await issues()).toEqual([]);
  });

  it('is left alone for as long as it requires', async () => {
    const times: number[] = [];
    other.answer = () => {
      times.push(performance.now());
      return times.length === 1 ? { status: 429, headers: { 'retry-after': '2' } } : undefined;
    };
    await post();
    await emptied();
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(1990);
  });

  it('that refuses some lines gets the others: refused ones are listed by the ids that it names', async () => {
    await holdUp('eerst');
    const ids = [await post({ actieNaam: 'a' }), await post({ actieNaam: 'b' }), await post({ actieNaam: 'c' })];
    const wrong = spanIdOf(ids[1] ?? '', 1);
    other.answer = (spans) =>
      spans.some(({ spanId }) => spanId === wrong)
        ? { refuse: [wrong], message: `1 span refused: ${wrong} (unknown activity, 123456782)` }
        : undefined;
    await emptied();
    expect(names()).toEqual(['eerst', 'a', 'c']);
    expect(await issues()).toMatchObject([{ soort: 'geweigerd', actie_id: ids[1], span_id: wrong, aantal: 1 }]);
    expect(JSON.stringify(await issues())).not.toContain('123456782');
    const { code, out } = await koppelvlak(database.url, ['log', 'forward-issues', '--kind', 'geweigerd']);
    expect(code).toBe(0);
    expect(out).toContain(ids[1]);
    expect(out).toMatch(/In all: 1 geweigerd\.\n\d+ lines were forwarded, 0 actions wait\./);
    expect(await koppelvlak(database.url, ['log', 'forward-issues', '--json'])).toMatchObject({
      json: { pending: 0, counts: { geweigerd: 1 }, issues: [{ actieId: ids[1], spanId: wrong }] },
    });
  });

  it('that does not say which ones it refused: their number is listed with the actions of the request', async () => {
    await holdUp('eerst');
    const ids = [await post(), await post()];
    other.answer = (spans) =>
      spans.length > 1 ? { refuse: [spans[1]?.spanId ?? ''], message: 'one is wrong' } : undefined;
    await emptied();
    const [issue] = await issues();
    expect(issue).toMatchObject({ soort: 'geweigerd', actie_id: null, aantal: 1, reden: 'one is wrong' });
    expect(issue?.acties).toEqual(expect.arrayContaining(ids));
  });

  it('that refuses every request with one of the lines gets the others', async () => {
    const wanted = ['0', '1', 'fout', '3', '4'];
    other.answer = () => ({ status: 503 });
    for (const actieNaam of wanted) await post({ actieNaam });
    other.answer = (spans) =>
      names(spans).includes('fout') ? { status: 400, message: 'this cannot be decoded' } : undefined;
    await emptied();
    expect(names()).toEqual(['0', '1', '3', '4']);
    expect(await issues()).toMatchObject([
      { soort: 'geweigerd', reden: expect.stringContaining('this cannot be decoded') },
    ]);
  });

  it('that accepts only small requests gets small ones', async () => {
    other.answer = (spans) => (spans.length > 2 ? { status: 413 } : undefined);
    await post({ verwerkteObjecten: persons(6) });
    await emptied();
    expect(other.taken).toHaveLength(7);
    expect(await issues()).toEqual([]);
    // Seven, and halves until they fit: not one by one.
    expect(other.requests.map(({ spans }) => spans.length)).toEqual([7, 4, 2, 2, 3, 2, 1]);
  });

  it('that accepted the lines but could not say so gets them again, unchanged', async () => {
    let left = 1;
    other.answer = () => (left-- > 0 ? 'take and break off' : undefined);
    await post();
    await emptied();
    expect(other.taken).toHaveLength(2);
    expect(other.taken[1]).toEqual(other.taken[0]);
  });
});

it('an undecryptable action is listed, and does not block the others', async () => {
  other.answer = () => ({ status: 503 });
  const damaged = await post({ actieNaam: 'beschadigd' });
  await post({ actieNaam: 'daarna' });
  await client.query(
    `update verwerkingenlog.versies set objecten = jsonb_set(objecten::jsonb, '{0,id}', '"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"') where actie_id = $1`,
    [damaged],
  );
  // The rows read before it are refused again; the next is read after it.
  other.requests.length = 0;
  await expect.poll(() => other.requests.length, PATIENT).toBeGreaterThan(1);
  other.answer = () => undefined;
  await emptied();
  expect(names()).toEqual(['daarna']);
  expect(await issues()).toMatchObject([{ soort: 'onleesbaar', actie_id: damaged }]);
});

it('an action whose key is missing here is forwarded once the key is there, and is not set aside', async () => {
  other.answer = () => ({ status: 503 });
  const id = await post({ actieNaam: 'andere sleutel' });
  const rename = 'update verwerkingenlog.versies set key_name = $2 where actie_id = $1';
  await client.query(rename, [id, 'elders']);
  const failures = async () => {
    const metrics = await (await fetch(`${log.server.managementUrl}/metrics`)).text();
    return Number(/^koppelvlak_ldv_forward_failures_total (\d+)$/m.exec(metrics)?.[1]);
  };
  other.answer = () => undefined;
  const before = await failures();
  await expect.poll(failures, PATIENT).toBeGreaterThan(before + 1);
  expect([await pending(), await issues()]).toEqual([1, []]);
  await client.query(rename, [id, 'eerste']);
  await emptied();
  expect(names()).toEqual(['andere sleutel']);
  expect(await issues()).toEqual([]);
});

it('an action whose transaction commits late is forwarded, although later ones were sent before', async () => {
  const late = new pg.Client(database.url);
  await late.connect();
  const template = await post({ actieNaam: 'sjabloon' });
  await emptied();
  other.taken.length = 0;
  const id = `${template.slice(0, 24)}${randomUUID().slice(24, 32)}0000`;
  try {
    await late.query('begin');
    await late.query(
      'create temporary table kopie on commit drop as select * from verwerkingenlog.versies where actie_id = $1',
      [template],
    );
    await late.query(`update kopie set actie_id = $1, actie_naam = 'laat', objecten = '[]'`, [id]);
    await late.query('insert into verwerkingenlog.versies select * from kopie');
    // Its position in the queue is before the others.
    await late.query('insert into verwerkingenlog.ldv_forward_queue (actie_id) values ($1)', [id]);
    await postMany(3, 'na');
    await expect.poll(() => names(), PATIENT).toEqual(['na 0', 'na 1', 'na 2']);
    await late.query('commit');
  } finally {
    await late.end();
  }
  await emptied();
  expect(names()).toEqual(['na 0', 'na 1', 'na 2', 'laat']);
});

it('lag is shown in metrics and readiness while the other logbook is down', async () => {
  const slow = await startLog({
    databaseUrl: database.url,
    tokens: log.tokens,
    env: forwarding({ 'ldvOut.forwardLagSeconds': '1' }),
  });
  try {
    other.answer = () => ({ status: 503, message: 'closed' });
    await post();
    await post();
    const ready = async () => {
      const answer = await fetch(`${slow.server.managementUrl}/health/ready`);
      expect(answer.status).toBe(200);
      return await answer.text();
    };
    await expect.poll(ready, PATIENT).toMatch(/2 actions wait to be forwarded.*the other logbook answered 503: closed/);
    const metrics = await (await fetch(`${slow.server.managementUrl}/metrics`)).text();
    expect(metrics).toMatch(/^koppelvlak_ldv_forward_pending 2$/m);
    expect(Number(/^koppelvlak_ldv_forward_lag_seconds (\S+)$/m.exec(metrics)?.[1])).toBeGreaterThan(1);
    other.answer = () => undefined;
    await emptied();
    await expect.poll(ready, PATIENT).not.toContain('wait to be forwarded');
  } finally {
    await slow.stop();
  }
});

it('one of several instances works at a time; when it stops, another takes over at once', async () => {
  const second = await startLog({ databaseUrl: database.url, tokens: log.tokens, env: forwarding() });
  const third = await startLog({ databaseUrl: database.url, tokens: log.tokens, env: forwarding() });
  try {
    const wanted = await postMany(10, 'samen');
    await emptied();
    // Two at once would have sent some of them twice.
    expect(names()).toEqual(wanted);
    wanted.push(...(await postMany(10, 'tijdens')));
    await second.stop();
    wanted.push(...(await postMany(10, 'verder')));
    await emptied();
    // What was being sent when it stopped is sent again.
    expect([...new Set(names())]).toEqual(wanted);
  } finally {
    await third.stop();
  }
});
