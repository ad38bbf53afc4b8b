import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importFile } from '../../src/gegevens/store/import-file.ts';
import { loadModel } from '../../src/lib/exchange-model/model.ts';
import { openapiValidator } from '../support/openapi-validator.ts';
import { messageFile, shvMessage } from './support/messages.ts';
import { send } from './support/requester.ts';
import { openSupplier, type Supplier } from './support/supplier.ts';

const MODELS = join(import.meta.dirname, '../../openapi/modellen');

let supplier: Supplier;
beforeAll(async () => {
  supplier = await openSupplier();
});
afterAll(() => supplier.close());

describe.each([
  ['shv', 25_000, 'schuldhulptrajecten'],
  ['vs', 50_000, 'vroegsignalen'],
] as const)('the contract of %s', (variant, maximum, records) => {
  it('is a valid document with the wording, the maximum and the model of the variant', async () => {
    const mount = `${supplier.server.url}/${variant}/v1`;
    const text = await (await fetch(`${mount}/openapi.json`)).text();
    const document = JSON.parse(text);
    expect(await openapiValidator.validate(structuredClone(document))).toMatchObject({ valid: true });
    expect(document.info.title).toContain(variant.toUpperCase());
    expect(document.servers).toEqual([{ url: mount }]);
    expect(document.components.schemas.GegevensRequest.properties.pageSize.maximum).toBe(maximum);
    expect(JSON.stringify(document.components.schemas.Gegevens)).toContain(records);
    expect(text).not.toContain('koppelvlak.example/token');
  });
});

describe('the database connections', () => {
  it('are shared by both mounts, so that one client gets no second share by using both', async () => {
    const server = await supplier.another({ DATABASE_POOL_SIZE: '4', 'database.connectTimeoutMs': '20000' });
    const ask = async (variant: 'shv' | 'vs', subject: string) =>
      supplier.ask({}, { server, variant, headers: await supplier.tokens.bearer(['read'], { subject }) });
    // The issuer's keys are known and the models loaded.
    await Promise.all([ask('shv', 'gretig'), ask('vs', 'bescheiden')]);
    const waiting = async () =>
      (
        await supplier.asOwner(
          `select 1 from pg_stat_activity where query like '%gegevens.leveringen%' and wait_event_type = 'Lock'`,
        )
      ).length;
    const client = await supplier.pool.connect();
    try {
      await client.query('begin');
      await client.query('lock table gegevens.leveringen in access exclusive mode');
      const greedy = [1, 2, 3].flatMap(() => [ask('shv', 'gretig'), ask('vs', 'gretig')]);
      await expect.poll(waiting).toBe(3);
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(await waiting()).toBe(3);
      const modest = ask('vs', 'bescheiden');
      await expect.poll(waiting).toBe(4);
      await client.query('rollback');
      expect((await Promise.all([...greedy, modest])).map(({ status }) => status)).toEqual(Array(7).fill(200));
    } finally {
      await client.query('rollback');
      client.release();
    }
  });
});

describe('the limit of requests', () => {
  it('comes before the token check, and gives a plain problem with a time to wait', async () => {
    const server = await supplier.another({ GEGEVENS_RATE_LIMIT: '3' });
    const url = `${server.url}/shv/v1/gegevens`;
    for (let n = 0; n < 3; n += 1) expect((await send(url, 'POST', {}, '')).status).toBe(401);
    const answer = await send(url, 'POST', {}, '');
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(answer.headers.has('fsc-error-code')).toBe(false);
    expect(JSON.parse(answer.text)).toMatchObject({ status: 429, type: `${server.url}/problems/rate-limit` });
    expect((await send(`${server.url}/vs/v1/gegevens`, 'POST', {}, '')).status).toBe(401);
  });

  it('counts a caller by its token, not by its address', async () => {
    const server = await supplier.another({ GEGEVENS_RATE_LIMIT: '2' });
    const ask = async (subject: string) =>
      (await supplier.ask({}, { server, headers: await supplier.tokens.bearer(['read'], { subject }) })).status;
    const seen = [];
    for (const subject of ['a', 'b', 'a', 'a']) seen.push(await ask(subject));
    expect(seen).toEqual([200, 200, 200, 429]);
    expect(await ask('b')).toBe(200);
  });
});

describe('another model', () => {
  it('is enabled by configuration alone, including an older dialect of JSON Schema', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'model-'));
    const schema = JSON.parse(
      readFileSync(join(MODELS, 'shv-1.0.schema.json'), 'utf8').replaceAll('$defs', 'definitions'),
    );
    schema.$schema = 'http://json-schema.org/draft-07/schema#';
    // The period moves one level down, and records get an additional member.
    const { startdatumLevering, einddatumLevering, leveringen, ...rest } = schema.properties;
    schema.properties = {
      ...rest,
      periode: {
        type: 'object',
        properties: { van: startdatumLevering, tot: einddatumLevering },
        required: ['van', 'tot'],
      },
      inhoud: { type: 'object', properties: { leveringen }, required: ['leveringen'] },
    };
    schema.required = ['periode', 'aanleverdatumEnTijd', 'codeGegevensleverancier', 'inhoud'];
    leveringen.items.properties.schuldhulptrajecten.items.properties.nieuw = { type: 'boolean' };
    const mapping = JSON.parse(readFileSync(join(MODELS, 'shv-1.0.mapping.json'), 'utf8'));
    Object.assign(mapping, { versie: '2.0' });
    Object.assign(mapping.envelop, {
      startdatum: '/periode/van',
      einddatum: '/periode/tot',
      leveringen: '/inhoud/leveringen',
    });
    writeFileSync(join(dir, 'shv-2.0.schema.json'), JSON.stringify(schema));
    writeFileSync(join(dir, 'shv-2.0.mapping.json'), JSON.stringify(mapping));

    const path = join(dir, 'shv-2.0.schema.json');
    const message = shvMessage({ leveringen: [{ naam: 'Noord', records: 1 }] });
    const moved = {
      aanleverdatumEnTijd: message.aanleverdatumEnTijd,
      codeGegevensleverancier: 'X',
      inhoud: { leveringen: message.leveringen },
      periode: { van: '2026-01-01', tot: '2026-03-31' },
    };
    const file = messageFile(JSON.stringify(moved).replace('"omschrijving":"r1"', '"nieuw":true'));
    const signal = new AbortController().signal;
    const { delivery } = await importFile(supplier.pool, { path: file, model: loadModel('shv', path), signal });
    expect(delivery).toMatchObject({ periodeStart: '2026-01-01', leveringen: [{ records: 1 }] });

    const server = await supplier.another({ GEGEVENS_SHV_MODEL: path });
    const { gegevens } = await supplier.get({}, { server });
    expect(gegevens).toMatchObject({
      periode: { van: '2026-01-01', tot: '2026-03-31' },
      inhoud: { leveringen: [{ teller: 1, schuldhulptrajecten: [{ nieuw: true }] }] },
    });
    const bad = messageFile(JSON.stringify(moved).replace('"omschrijving":"r1"', '"nieuw":"ja"'));
    await expect(importFile(supplier.pool, { path: bad, model: loadModel('shv', path), signal })).rejects.toMatchObject(
      {
        faults: [{ pointer: '/inhoud/leveringen/0/schuldhulptrajecten/0/nieuw' }],
      },
    );
  });

  it.each([
    ['that does not exist', '/nergens/x.schema.json', /names no readable file/],
    ['of the other variant', join(MODELS, 'vs-1.1.schema.json'), /is of variant vs/],
  ])('%s prevents the start', async (_what, path, text) => {
    await expect(supplier.another({ GEGEVENS_SHV_MODEL: path })).rejects.toThrow(text);
  });
});
