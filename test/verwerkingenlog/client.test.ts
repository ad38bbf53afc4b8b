import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import Fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  clientCredentials,
  createVerwerkingenlogClient,
  type NieuweVerwerkingsactie,
  processingHeaders,
  VerwerkingenlogError,
  type VerwerkingsheadersOptions,
  verwerkingsheaders,
} from '../../src/client/verwerkingenlog.ts';
import { startAuthorizationServer } from '../../src/demo/authorization-server.ts';
import { createLogger } from '../../src/lib/log.ts';
import { EVERY, HEADERS, type LogServer, listIn, newPerson, ofPerson, startLog } from './support.ts';

let log: LogServer;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  log = await startLog({ env: { 'verwerkingenlog.logReads': 'false' } });
});
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
  await log?.stop();
});

function actieOf(objectId: string): NieuweVerwerkingsactie {
  return {
    actieNaam: 'Zoeken persoon',
    vertrouwelijkheid: 'normaal',
    tijdstip: '2026-01-15T13:35:42Z',
    verwerkteObjecten: [{ objecttype: 'persoon', soortObjectId: 'BSN', objectId }],
  };
}

async function clientFor(url: string, options: { attempts?: number; timeoutMs?: number } = {}) {
  const client = createVerwerkingenlogClient({ url, token: () => log.tokens.token(['create:normal']), ...options });
  closing.push(client.close);
  return client;
}

const mount = () => `${log.server.url}/verwerkingenlog/v1`;

async function found(person: string) {
  const path = `/verwerkingsacties?${ofPerson(person, { beperkteSet: 'false', ...EVERY })}`;
  return listIn(await log.call(['read:confidential'], 'GET', path, undefined, HEADERS)).results;
}

async function listening(server: Server | ReturnType<typeof createTcpServer>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => new Promise((resolve) => server.close(resolve)));
  const address = server.address();
  if (!isAddress(address)) throw new Error('no port');
  return `http://127.0.0.1:${address.port}`;
}

function isAddress(address: unknown): address is AddressInfo {
  return typeof address === 'object' && address !== null && 'port' in address;
}

describe('the client', () => {
  it('logs an action and returns it as it was stored', async () => {
    const person = newPerson();
    const kept = await (await clientFor(mount())).log(actieOf(person));
    expect(kept).toMatchObject({ actieNaam: 'Zoeken persoon', systeem: null });
    expect(await found(person)).toMatchObject([{ actieId: kept.actieId }]);
  });

  it('retries with the same key and body when the answer was lost, and leaves one entry', async () => {
    const person = newPerson();
    const seen: string[] = [];
    // A proxy that forwards and then disconnects, twice: the log has stored the action, but the client cannot know.
    const proxy = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const body = Buffer.concat(chunks);
      seen.push(`${request.headers['idempotency-key']} ${body}`);
      const { authorization = '', 'idempotency-key': key = '' } = request.headers;
      const answer = await fetch(`${mount()}${request.url}`, {
        method: 'POST',
        headers: { authorization, 'idempotency-key': String(key), 'content-type': 'application/json' },
        body,
      });
      const text = await answer.text();
      if (seen.length < 3) request.socket.destroy();
      else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
    });
    const kept = await (await clientFor(await listening(proxy))).log(actieOf(person));
    expect(seen).toHaveLength(3);
    expect(new Set(seen).size).toBe(1);
    expect(await found(person)).toMatchObject([{ actieId: kept.actieId }]);
  });

  it('waits as long as the log requires when it is overloaded', async () => {
    const times: number[] = [];
    const busy = createServer((_request, response) => {
      times.push(performance.now());
      const status = times.length === 1 ? 503 : 201;
      const body = { actieId: 'a', url: 'u' };
      response.writeHead(status, { 'retry-after': '1', 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    await (await clientFor(await listening(busy))).log(actieOf('1'));
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(950);
  });

  it('does not retry what the log refuses, and reports the reason', async () => {
    const client = await clientFor(mount());
    const refused = client.log({ ...actieOf('1'), vertrouwelijkheid: 'vertrouwelijk' });
    await expect(refused).rejects.toMatchObject({ status: 403, passing: false, problem: { code: 'forbidden' } });
    await expect(client.log({ ...actieOf('1'), bewaartermijn: 'x' })).rejects.toThrow('bewaartermijn');
  });

  it('gives up after its attempts, and when its signal fires', async () => {
    const silent = await listening(createTcpServer((socket) => void socket.resume()));
    await expect((await clientFor(silent, { attempts: 2, timeoutMs: 50 })).log(actieOf('1'))).rejects.toBeInstanceOf(
      VerwerkingenlogError,
    );
    const signal = AbortSignal.timeout(50);
    await expect((await clientFor(silent)).log(actieOf('1'), { signal })).rejects.toThrow();
  });

  it.each([
    ['while it waits for an answer', 500, 0],
    ['while it waits for the next try', 10, 50],
  ])('gives up %s, with its own error and the reason of the signal', async (_when, answerMs, retryAfter) => {
    const busy = createServer((_request, response) => {
      const timer = setTimeout(
        () => response.writeHead(503, { 'retry-after': String(retryAfter) }).end('{}'),
        answerMs,
      );
      response.once('close', () => clearTimeout(timer));
    });
    const reason = new Error('the employee went away');
    const given = new AbortController();
    setTimeout(() => given.abort(reason), 100);
    const logged = (await clientFor(await listening(busy))).log(actieOf('1'), { signal: given.signal });
    const error: unknown = await logged.catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(VerwerkingenlogError);
    expect(error).toMatchObject({ cause: reason });
  });

  it('does not wait longer than the maximum, whatever the log requires', async () => {
    const busy = createServer((_request, response) => response.writeHead(503, { 'retry-after': '9999' }).end('{}'));
    const client = await clientFor(await listening(busy));
    await expect(client.log(actieOf('1'))).rejects.toMatchObject({ status: 503, retryAfterMs: 9_999_000 });
  });

  it('requests a token before every attempt', async () => {
    const seen: unknown[] = [];
    const fickle = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(seen.length === 1 ? 500 : 201).end(JSON.stringify({ actieId: 'a', url: 'u' }));
    });
    const url = await listening(fickle);
    const client = createVerwerkingenlogClient({ url, token: async () => `t${seen.length}` });
    closing.push(client.close);
    await client.log(actieOf('1'));
    expect(seen).toEqual(['Bearer t0', 'Bearer t1']);
  });

  describe('with tokens by client credentials', () => {
    /** An authorization server whose tokens are `t1`, `t2`, …, and a log that refuses some of them. */
    async function withTokens(isRefused: (token: string) => boolean) {
      const seen: unknown[] = [];
      let given = 0;
      const issuer = createServer((_request, response) => {
        given += 1;
        response.writeHead(200).end(JSON.stringify({ access_token: `t${given}`, expires_in: 3600 }));
      });
      const kept = createServer(async (request, response) => {
        const token = String(request.headers.authorization).slice('Bearer '.length);
        seen.push(token);
        // Refusals arrive at different times.
        if (isRefused(token)) await new Promise((resolve) => setTimeout(resolve, seen.length * 50));
        response.writeHead(isRefused(token) ? 401 : 201).end(JSON.stringify({ actieId: 'a', url: 'u' }));
      });
      const credentials = { tokenUrl: await listening(issuer), clientId: 'a', clientSecret: 'b', scopes: [] };
      const client = createVerwerkingenlogClient({ url: await listening(kept), token: clientCredentials(credentials) });
      closing.push(client.close);
      return { client, seen, given: () => given };
    }

    it('gets a new one, shared by concurrent calls, when the log refuses it', async () => {
      const { client, seen, given } = await withTokens((token) => token === 't1');
      await Promise.all(['1', '2', '3'].map((person) => client.log(actieOf(person))));
      expect(seen.toSorted()).toEqual(['t1', 't1', 't1', 't2', 't2', 't2']);
      expect(given()).toBe(2);
    });

    it('gives up when that is refused too', async () => {
      const { client, seen, given } = await withTokens(() => true);
      await expect(client.log(actieOf('1'))).rejects.toMatchObject({ status: 401 });
      expect([seen, given()]).toEqual([['t1', 't2'], 2]);
    });
  });

  it('tries a fixed token only once', async () => {
    let calls = 0;
    const refusing = createServer((_request, response) => {
      calls += 1;
      response.writeHead(401).end('{}');
    });
    const client = createVerwerkingenlogClient({ url: await listening(refusing), token: () => 'same' });
    closing.push(client.close);
    await expect(client.log(actieOf('1'))).rejects.toMatchObject({ status: 401 });
    expect(calls).toBe(1);
  });

  it('makes the headers of a processing', () => {
    expect(
      processingHeaders({
        oin: HEADERS.OIN,
        verwerkingId: HEADERS.VerwerkingId,
        vertrouwelijkheid: 'normaal',
        bewaartermijn: 'P1Y',
      }),
    ).toEqual(HEADERS);
    expect(processingHeaders({})).toEqual({});
  });
});

describe('the plugin', () => {
  async function provider(options: Partial<VerwerkingsheadersOptions> = {}) {
    const app = Fastify();
    await app.register(verwerkingsheaders, {
      client: await clientFor(mount()),
      callerOin: (request) =>
        request.headers['x-caller'] === undefined ? undefined : String(request.headers['x-caller']),
      ...options,
    });
    app.post<{ Body: { person: string } }>('/zoek', async (request) => {
      const { person } = request.body;
      const { vertrouwelijkheid: _, ...done } = actieOf(person);
      await request.logVerwerking({ ...done, actieNaam: 'Verstrekken' });
      return request.verwerking;
    });
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    closing.push(() => app.close());
    const call = (person: string, headers: Record<string, string>) =>
      fetch(`${url}/zoek`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ person }),
      });
    return { call };
  }

  it('copies the headers into the entry', async () => {
    const person = newPerson();
    const { call } = await provider();
    expect((await call(person, HEADERS)).status).toBe(200);
    expect(await found(person)).toMatchObject([
      {
        actieNaam: 'Verstrekken',
        soortAfnemerId: 'OIN',
        afnemerId: HEADERS.OIN,
        verwerkingIdAfnemer: HEADERS.VerwerkingId,
        bewaartermijn: 'P10Y',
      },
    ]);
  });

  it.each([
    ['as registered', {}, 'normaal', ['P10Y', 'P15Y', 'P20Y']],
    ['as the application says', { ownRetention: 'P1D', mayHide: () => true }, 'vertrouwelijk', ['P5D', 'P15Y', 'P20Y']],
  ] as const)('lets the caller decide about its own trace %s', async (_how, options, vertrouwelijkheid, kept) => {
    const { call } = await provider({
      ...options,
      client: createVerwerkingenlogClient({
        url: mount(),
        token: () => log.tokens.token(['create:confidential']),
      }),
    });
    for (const [i, Bewaartermijn] of ['P5D', 'P15Y', 'P999Y'].entries()) {
      const person = newPerson();
      const sent = { ...HEADERS, Vertrouwelijkheid: 'vertrouwelijk', Bewaartermijn };
      expect((await call(person, sent)).status).toBe(200);
      expect(await found(person)).toMatchObject([{ vertrouwelijkheid, bewaartermijn: kept[i] }]);
    }
    const [person, { Bewaartermijn: _, ...without }] = [newPerson(), HEADERS];
    expect((await call(person, without)).status).toBe(200);
    expect(await found(person)).toMatchObject([
      { vertrouwelijkheid: 'normaal', bewaartermijn: 'ownRetention' in options ? options.ownRetention : 'P10Y' },
    ]);
  });

  it.each([
    ['cannot be reached', undefined, 503, '5'],
    ['is overloaded', { status: 503, headers: { 'retry-after': '7' } }, 503, '7'],
    ['has too many requests', { status: 429, headers: {} }, 503, '5'],
    ['refuses the token', { status: 401, headers: {} }, 500, null],
    ['refuses the entry', { status: 400, headers: {} }, 500, null],
  ])('answers for the application when the log %s', async (_what, answer, status, retryAfter) => {
    const other = createServer((request, response) => {
      if (answer === undefined) request.socket.destroy();
      else response.writeHead(answer.status, answer.headers).end(JSON.stringify({ detail: 'eigen zaken' }));
    });
    const client = await clientFor(await listening(other), { attempts: 1 });
    const { call } = await provider({ client });
    const reply = await call(newPerson(), HEADERS);
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([status, retryAfter]);
    expect(await reply.text()).not.toContain('eigen zaken');
  });

  it('gives the entry the proven OIN, and lets the application decide its term and whether to hide it', async () => {
    const { call } = await provider({ ownRetention: 'P10Y', mayHide: () => false });
    const proven = '00000099000000009000';
    const { OIN: _, ...others } = HEADERS;
    const cases = [
      { sent: { Bewaartermijn: 'P1D' }, kept: 'P10Y' },
      { sent: { Bewaartermijn: 'P15Y' }, kept: 'P15Y' },
    ];
    for (const { sent, kept } of cases) {
      const person = newPerson();
      const headers = { ...others, ...sent, Vertrouwelijkheid: 'vertrouwelijk', 'x-caller': proven };
      expect((await call(person, headers)).status).toBe(200);
      expect(await found(person)).toMatchObject([
        { bewaartermijn: kept, vertrouwelijkheid: 'normaal', afnemerId: proven },
      ]);
    }
    expect((await call(newPerson(), { ...HEADERS, Bewaartermijn: 'PT0S' })).status).toBe(400);
    expect((await call(newPerson(), { ...HEADERS, Vertrouwelijkheid: 'opgeheven' })).status).toBe(400);
  });

  it("treats missing headers as absent, and refuses malformed ones and somebody else's OIN", async () => {
    const { call } = await provider();
    expect((await call(newPerson(), { VerwerkingId: HEADERS.VerwerkingId })).status).toBe(200);
    const malformed = await call(newPerson(), { ...HEADERS, OIN: '1', Bewaartermijn: '10 jaar' });
    expect(malformed.status).toBe(400);
    expect(await malformed.text()).toMatch(/OIN.*Bewaartermijn/);
    expect((await call(newPerson(), { ...HEADERS, 'x-caller': '00000099000000009000' })).status).toBe(403);
    expect((await call(newPerson(), { ...HEADERS, 'x-caller': HEADERS.OIN })).status).toBe(200);
  });

  it('requires OIN and VerwerkingId when so configured', async () => {
    const { call } = await provider({ required: true });
    const refused = await call(newPerson(), { Bewaartermijn: 'P1Y' });
    expect(refused.status).toBe(400);
    expect(await refused.text()).toMatch(/OIN.*VerwerkingId/);
  });
});

it('the example runs against the log, with tokens of a real authorization server', async () => {
  const keysDirectory = await mkdtemp(join(tmpdir(), 'koppelvlak-example-'));
  closing.push(() => rm(keysDirectory, { recursive: true, force: true }));
  const scopes = ['create:normal', 'read:restricted'];
  const server = await startAuthorizationServer({
    environment: 'test',
    port: 0,
    audience: 'https://koppelvlak.example/api',
    clients: [{ id: 'intake', secret: 'a secret of at least 32 characters!!', scopes }],
    keysDirectory,
    log: createLogger('silent'),
  });
  closing.push(server.close);
  const own = await startLog({ env: { OAUTH_ISSUER: server.issuer, OAUTH_JWKS_URL: server.jwksUrl } });
  try {
    const token = clientCredentials({
      tokenUrl: server.tokenUrl,
      clientId: 'intake',
      clientSecret: 'a secret of at least 32 characters!!',
      scopes,
    });
    expect(await token()).toBe(await token());
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['-C', 'koppelvlak-source', join(import.meta.dirname, '../../examples/verwerkingenlog/main.ts')],
      {
        env: {
          PATH: process.env.PATH,
          LOG_URL: `${own.server.url}/verwerkingenlog/v1`,
          TOKEN_URL: server.tokenUrl,
          CLIENT_ID: 'intake',
          CLIENT_SECRET: 'a secret of at least 32 characters!!',
        },
      },
    );
    expect(stdout).toMatch(/Zoeken persoon \(Aanvraag schuldhulp\) by 00000099000000001000\n/);
    expect(stdout).toMatch(/Verstrekken naam .* by 00000099000000002000, for 00000099000000001000\n/);
  } finally {
    await own.stop();
  }
});
