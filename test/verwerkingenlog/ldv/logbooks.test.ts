import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { LOGBOOKS } from '../../../src/verwerkingenlog/ldv/stored-line.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { freePort } from '../../support/free-port.ts';
import { startTokens } from '../../support/tokens.ts';
import { actie, newPerson, ofPerson } from '../support.ts';
import { type LdvServer, line, startLdv, subjectIn } from './support.ts';

const PATIENT = { timeout: 60_000, interval: 50 };

interface Logbook {
  readonly name: string;
  readonly port: number;
  readonly database: TestDatabase;
  readonly client: pg.Client;
  server: LdvServer;
}

const tokens = await startTokens();
const opened: Logbook[] = [];
afterAll(async () => {
  for (const { server, client, database } of opened) {
    await server.stop();
    await client.end();
    await database.drop();
  }
  await tokens.close();
});

/** Logbooks that forward to the one named after them. */
async function openLogbooks(to: Record<string, string | undefined>): Promise<Record<string, Logbook>> {
  const names = Object.keys(to);
  const ports = new Map<string, number>();
  for (const name of names) ports.set(name, await freePort());
  const books: Record<string, Logbook> = {};
  for (const name of names) {
    const target = to[name];
    const database = await createDatabase();
    const client = new pg.Client(database.url);
    const forward =
      target === undefined
        ? {}
        : {
            LDV_FORWARD_URL: `http://127.0.0.1:${ports.get(target)}/ldv`,
            LDV_FORWARD_TOKEN_URL: tokens.tokenUrl,
            LDV_FORWARD_CLIENT_ID: `logboek-${name}`,
            LDV_FORWARD_CLIENT_SECRET: 'geheim',
            'ldvOut.forwardTimeoutMs': '5000',
            'ldvOut.forwardBackoffMaxSeconds': '1',
          };
    const server = await startLdv({
      tokens,
      databaseUrl: database.url,
      env: {
        PORT: String(ports.get(name)),
        PUBLIC_BASE_URL: `https://${name}.example`,
        LDV_PEERS: names.map((peer) => `logboek-${peer}`).join(','),
        ...forward,
      },
    });
    await client.connect();
    const book = { name, port: ports.get(name) ?? 0, database, client, server };
    opened.push(book);
    books[name] = book;
  }
  return books;
}

async function stored({ client }: Logbook): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    'select actie_naam as name from verwerkingenlog.versies order by tijdstip_registratie, actie_id',
  );
  return rows.map(({ name }) => name);
}

/** Resolves when nothing waits anywhere, twice in a row: a received line may still enter the next queue. */
async function quiet(books: Record<string, Logbook>): Promise<void> {
  let still = 0;
  const waiting = async () => {
    for (const { client } of Object.values(books)) {
      const { rows } = await client.query('select from verwerkingenlog.ldv_forward_queue limit 1');
      if (rows.length > 0) {
        still = 0;
        return 0;
      }
    }
    still += 1;
    return still;
  };
  await expect.poll(waiting, PATIENT).toBeGreaterThanOrEqual(3);
}

async function post({ server }: Logbook, actieNaam: string, person = newPerson()): Promise<string> {
  const answer = await server.call(['create:normal'], 'POST', '/verwerkingsacties', actie(person, { actieNaam }));
  expect(answer.status).toBe(201);
  return person;
}

it('a second logbook has the lines that the first forwards, and finds its person', async () => {
  const { a, b } = await openLogbooks({ a: 'b', b: undefined });
  if (a === undefined || b === undefined) throw new Error('no logbooks');
  const person = await post(a, 'Zoeken');
  await a.server.send([line({ name: 'Van LDV' })]);
  await quiet({ a, b });
  expect((await stored(b)).toSorted()).toEqual(['Van LDV', 'Zoeken']);
  const path = `/verwerkingsacties?${ofPerson(person, { vertrouwelijkheid: 'normaal' })}`;
  expect((await b.server.call(['read:normal'], 'GET', path)).json).toMatchObject({
    results: [{ actieNaam: 'Zoeken', tijdstip: '2026-01-15T13:35:42Z' }],
  });
  // The same again, as after a crash: stored once.
  await b.client.query('truncate verwerkingenlog.ldv_forward_queue');
  await a.client.query(
    'insert into verwerkingenlog.ldv_forward_queue (actie_id) select actie_id from verwerkingenlog.versies',
  );
  await quiet({ a, b });
  expect((await stored(b)).filter((name) => name === 'Zoeken')).toHaveLength(1);
  const { rows } = await a.client.query(`select from verwerkingenlog.ldv_forward_issues where kind = 'geweigerd'`);
  expect(rows).toHaveLength(0);
});

it('two logbooks that forward to each other have every line once', async () => {
  const { a, b } = await openLogbooks({ a: 'b', b: 'a' });
  if (a === undefined || b === undefined) throw new Error('no logbooks');
  await post(a, 'in a');
  await post(b, 'in b');
  await a.server.send([line({ name: 'LDV in a' })]);
  await quiet({ a, b });
  for (const book of [a, b]) expect((await stored(book)).toSorted()).toEqual(['LDV in a', 'in a', 'in b']);
  const metrics = await (await fetch(`${a.server.server.managementUrl}/metrics`)).text();
  expect(metrics).toMatch(/^koppelvlak_ldv_spans_total\{outcome="passed-before"\} 2$/m);
});

it('three logbooks in a ring have every line once', async () => {
  const books = await openLogbooks({ a: 'b', b: 'c', c: 'a' });
  for (const book of Object.values(books)) await post(book, `in ${book.name}`);
  await books.b?.server.send([line({ name: 'LDV in b' })]);
  await quiet(books);
  for (const book of Object.values(books)) {
    expect((await stored(book)).toSorted()).toEqual(['LDV in b', 'in a', 'in b', 'in c']);
  }
});

describe('the path of a line, as stated by its sender', () => {
  it('counts for a peer: by two paths it is one line, and one that was here is answered with success', async () => {
    const { a } = await openLogbooks({ a: undefined, p: undefined, q: undefined });
    if (a === undefined) throw new Error('no logbook');
    const span = line({ name: 'twee wegen' });
    const way = (...logbooks: string[]) => ({ ...span, resource: new Map([...span.resource, [LOGBOOKS, logbooks]]) });
    for (const [subject, sent] of [
      ['logboek-p', way('x', 'p')],
      ['logboek-q', way('x', 'q')],
      ['logboek-q', way('x', 'a', 'q')],
    ] as const) {
      expect(await a.server.send([sent], { subject })).toMatchObject({ status: 200, answer: { rejectedSpans: 0 } });
    }
    expect(await stored(a)).toEqual(['twee wegen']);
    // A different originating logbook makes it a different line.
    await a.server.send([way('y')], { subject: 'logboek-p' });
    expect(await stored(a)).toHaveLength(2);
  });

  it('is ignored from others: the line is stored without it', async () => {
    const { a, b } = await openLogbooks({ a: 'b', b: undefined });
    if (a === undefined || b === undefined) throw new Error('no logbooks');
    const forged = line({ name: 'vermomd', resource: { [LOGBOOKS]: ['https://a.example', 'https://b.example'] } });
    expect(await a.server.send([forged], { subject: 'toepassing' })).toMatchObject({ answer: { rejectedSpans: 0 } });
    await quiet({ a, b });
    expect(await stored(a)).toEqual(['vermomd']);
    // Otherwise it could keep its lines from the second logbook.
    expect(await stored(b)).toEqual(['vermomd']);
    expect(subjectIn(forged)).toMatch(/^\d{9}$/);
  });
});
