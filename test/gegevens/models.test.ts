/** The built-in models of early warning: each is selected by its version, checks imports, and is used in answers. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recogniseModel } from '../../src/gegevens/store/import-file.ts';
import { loadModel } from '../../src/lib/exchange-model/model.ts';
import { openapiValidator } from '../support/openapi-validator.ts';
import { callProgram } from '../support/program.ts';
import type { TestServer } from '../support/server.ts';
import { openSupplier, type Supplier } from './support/supplier.ts';

const VERSIONS = ['1.0', '1.1', '1.1-draft', '1.2'] as const;
const example = (version: string): string => join(import.meta.dirname, `../fixtures/modellen/vs-${version}.json`);
const signal = new AbortController().signal;

let supplier: Supplier;
beforeAll(async () => {
  supplier = await openSupplier();
  for (const version of VERSIONS) {
    await supplier.import('vs', example(version), { model: loadModel('vs', version), replace: false });
  }
});
afterAll(() => supplier.close());

describe.each(VERSIONS)('GEGEVENS_VS_MODEL=%s', (version) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await supplier.another({ GEGEVENS_VS_MODEL: version });
  });

  it('answers with deliveries in that model, and nothing else', async () => {
    const { gegevens } = await supplier.get({}, { variant: 'vs', server });
    expect(loadModel('vs', version).whole.faults(gegevens)).toEqual([]);
    expect(gegevens.leveringen).toMatchObject([{ vroegsignalen: [{ ID: 'A-1' }] }]);
    const leveringen = Array.isArray(gegevens.leveringen) ? gegevens.leveringen : [];
    expect(Object.keys(leveringen[0])).toContain(
      version === '1.2' ? 'aanleverendeOrganisatie' : 'aanleverende_organisatie',
    );
  });

  it('accepts every name that it has for the requested organisation', async () => {
    const ask = async (body: object): Promise<number> => (await supplier.ask(body, { variant: 'vs', server })).status;
    const [own, other] = ['gemeente duinrand', 'nergens'];
    expect(await ask({ aanleverende_organisatie: own })).toBe(200);
    expect(await ask({ aanleverende_organisatie: other })).toBe(422);
    expect(await ask({ aanleverendeOrganisatie: own })).toBe(version === '1.2' ? 200 : 400);
    expect(await ask({ aanleverendeOrganisatie: other })).toBe(version === '1.2' ? 422 : 400);
    expect(await ask({ aanleverendeOrganisatie: own, aanleverende_organisatie: own })).toBe(400);
  });

  it('has a matching contract', async () => {
    const document = JSON.parse(await (await fetch(`${server.url}/vs/v1/openapi.json`)).text());
    expect(await openapiValidator.validate(structuredClone(document))).toMatchObject({ valid: true });
    const { GegevensRequest, Gegevens } = document.components.schemas;
    expect(Object.keys(GegevensRequest.properties).filter((name) => /organisatie/i.test(name))).toEqual(
      version === '1.2' ? ['aanleverendeOrganisatie', 'aanleverende_organisatie'] : ['aanleverende_organisatie'],
    );
    expect(Gegevens.title).toBe(`Uitwisselmodel vroegsignalen (VS) ${version}`);
  });
});

it('a file is recognised as belonging to another model', async () => {
  const recognised = await Promise.all(
    VERSIONS.map((version) =>
      recogniseModel(example(version), loadModel('vs', version === '1.2' ? '1.0' : '1.2'), signal),
    ),
  );
  expect(recognised).toEqual(VERSIONS);
  const shv = join(import.meta.dirname, '../fixtures/modellen/shv-1.0.json');
  expect(await recogniseModel(shv, loadModel('vs', '1.1'), signal)).toBeUndefined();
});

it('import names the model that a file matches, and imports it as that with --model', async () => {
  const run = (...words: string[]) =>
    callProgram(['gegevens', 'import', '--variant', 'vs', ...words], { DATABASE_URL: supplier.databaseUrl });
  const refused = await run(example('1.2'));
  expect(refused.status).toBe(1);
  expect(refused.stdout).toContain('this is a file of model 1.2; --model 1.2 imports it as such');
  expect(JSON.parse((await run('--json', example('1.0'))).stdout)).toMatchObject({ files: [{ otherModel: '1.0' }] });
  const taken = await run('--model', '1.2', example('1.2'));
  expect(taken).toMatchObject({ status: 0 });
  expect(taken.stdout).toContain('of model 1.2: delivered only when that is configured; it is 1.1 now');
  expect(await run('--model', '9.9', example('1.2'))).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('9.9'),
  });
});

it('a model that is neither built in nor a file is refused at start-up', async () => {
  await expect(supplier.another({ GEGEVENS_VS_MODEL: '1.3' })).rejects.toThrow(/GEGEVENS_VS_MODEL/);
});
