import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OutboundClient } from '../../../src/lib/outbound/outbound-client.ts';
import { systemClock } from '../../../src/lib/time.ts';
import { addFeed, createRegisterClient, refreshFeed } from '../../../src/raadsfeed/register/register.ts';
import { readEntries, removeFeed, takeDue } from '../../../src/raadsfeed/store/register.ts';
import { readTestConfig } from '../../support/overrides.ts';
import { FakeSource } from '../aggregator/fake-source.ts';
import { asPage, type FeedServer, startFeed, vergadering } from '../support.ts';

const ENV = {
  RAADSFEED_REGISTER: 'true',
  AGGREGATOR_ALLOW_PRIVATE: 'true',
  'raadsfeed.sourcesTimeoutMs': '1000',
  NODE_ENV: 'test',
};
const signal = new AbortController().signal;

let source: FeedServer;
let register: FeedServer;
let client: OutboundClient;

beforeAll(async () => {
  [source, register] = await Promise.all([startFeed(), startFeed(ENV)]);
  client = createRegisterClient(readTestConfig(ENV, 'tool'), systemClock);
  await source.publish([vergadering('v-1')]);
});

afterAll(async () => {
  await client.close();
  await Promise.all([source.stop(), register.stop()]);
});

describe('the register', () => {
  it('finds a feed by the well-known address of a domain, and lists its address', async () => {
    const domain = new URL(source.mount).origin;
    expect(await addFeed(register.pool, client, domain, signal)).toBe(source.mount);
    const { json } = await register.api.call('GET', '/register');
    expect(asPage(json).results).toEqual([
      {
        serviceUrl: source.mount,
        feedUrl: `${source.mount}/feed`,
        snapshotUrl: `${source.mount}/snapshot`,
        streamUrl: `${source.mount}/feed/stream`,
        rol: 'bronhouder',
        organisaties: [{ organisatiecode: 'gm9901', naam: 'Gemeente Voorbeeldstad' }],
        laatstGezien: expect.stringMatching(/^20/),
        bereikbaar: true,
      },
    ]);
    for (const [code, count] of [
      ['gm9901', 1],
      ['GM9901', 1],
      ['gm0001', 0],
    ] as const) {
      const filtered = await register.api.call('GET', `/register?organisatiecode=${code}`);
      expect(asPage(filtered.json).results).toHaveLength(count);
    }
  });

  it('follows the second name, to another host, when the first does not exist, and again when that moves', async () => {
    const [elsewhere, moved] = await Promise.all([
      new FakeSource('gm0001').listen(),
      new FakeSource('gm0001').listen(),
    ]);
    let there = elsewhere.url.replace('127.0.0.1', 'localhost');
    const domain = createServer((request, response) => {
      const found = request.url === '/.well-known/ori-feed';
      response.writeHead(found ? 307 : 404, found ? { location: there } : {}).end();
    }).listen(0, '127.0.0.1');
    try {
      await new Promise((resolve) => domain.once('listening', resolve));
      const address = domain.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      expect(await addFeed(register.pool, client, `http://127.0.0.1:${port}`, signal)).toBe(there);
      there = moved.url;
      const [entry] = (await readEntries(register.pool)).filter(({ codes }) => codes.includes('gm0001'));
      if (entry === undefined) throw new Error('it was not added');
      expect(await refreshFeed(register.pool, client, entry, signal)).toBeUndefined();
      expect((await readEntries(register.pool)).filter(({ codes }) => codes.includes('gm0001'))).toMatchObject([
        { serviceUrl: there },
      ]);
    } finally {
      domain.close();
      await Promise.all([elsewhere.close(), moved.close()]);
    }
  });

  it('keeps its data about a feed that does not answer, and says so', async () => {
    const fake = await new FakeSource('gm0002').listen();
    await addFeed(register.pool, client, fake.url, signal);
    await fake.close();
    await register.pool.query(
      "update aggregator.register set next_at = now() where organisatiecodes @> array['gm0002']",
    );
    const due = await takeDue(register.pool);
    expect(due?.codes).toEqual(['gm0002']);
    expect(await takeDue(register.pool)).toBeUndefined();
    if (due === undefined) throw new Error('nothing is due');
    expect(await refreshFeed(register.pool, client, due, signal)).toMatch(/./);
    const { json } = await register.api.call('GET', '/register?organisatiecode=gm0002');
    expect(asPage(json).results).toMatchObject([{ bereikbaar: false, feedUrl: `${fake.url}/feed` }]);
    expect(await removeFeed(register.pool, fake.url)).toBe(true);
    expect((await readEntries(register.pool)).map(({ codes }) => codes)).not.toContainEqual(['gm0002']);
  });

  it('checks each feed again on its own when due: a day later, or an hour when it does not answer', async () => {
    const [fake, silent] = await Promise.all([new FakeSource('gm0004').listen(), new FakeSource('gm0005').listen()]);
    try {
      for (const { url } of [fake, silent]) await addFeed(register.pool, client, url, signal);
      fake.organisaties.push({ organisatiecode: 'gm0006', naam: 'Erbij' });
      await silent.close();
      const hours = async (): Promise<unknown[]> => {
        const { rows } = await register.pool.query(
          `select organisatiecodes[1] as code, round(extract(epoch from next_at - now()) / 3600) as hours,
                  cardinality(organisatiecodes) as codes
             from aggregator.register where organisatiecodes[1] in ('gm0004', 'gm0005') order by code`,
        );
        return rows.map((row) => [row.code, Number(row.hours), row.codes]);
      };
      expect(await hours()).toEqual([
        ['gm0004', 24, 1],
        ['gm0005', 24, 1],
      ]);
      await register.pool.query(
        "update aggregator.register set next_at = now() where organisatiecodes[1] in ('gm0004', 'gm0005')",
      );
      await expect.poll(hours).toEqual([
        ['gm0004', 24, 2],
        ['gm0005', 1, 1],
      ]);
    } finally {
      await register.pool.query("delete from aggregator.register where organisatiecodes[1] in ('gm0004', 'gm0005')");
      await fake.close();
    }
  });

  it('does not list other resources than feeds', async () => {
    const fake = await new FakeSource('gm0003').listen();
    fake.rule = ({ json }) => json({ rol: 'iets' }) === undefined;
    await expect(addFeed(register.pool, client, fake.url, signal)).rejects.toThrow('rol');
    await fake.close();
  });

  it('answers 404 when the service is not a register', async () => {
    expect((await source.api.call('GET', '/register')).status).toBe(404);
  });
});
