import { existsSync, readdirSync } from 'node:fs';
import type { ValidateFunction } from 'ajv';
import { describe, expect, it } from 'vitest';
import { openapiValidator } from '../support/openapi-validator.ts';
import {
  compileDocument,
  faultsOf,
  gegevensDocument,
  isObject,
  type JsonObject,
  objectAt,
  openapiFolder,
  readJson,
  strictAjv,
} from './contract-schemas.ts';

const models = new URL('modellen/', openapiFolder);
const fixtures = new URL('../fixtures/gegevens/', import.meta.url);
const messages = new URL('../fixtures/modellen/', import.meta.url);
const examples = new URL('../../../shared/examples/gegevens/', import.meta.url);
const exampleFiles = existsSync(examples) ? readdirSync(examples) : [];

/** The default of each variant first. */
const MODELS = [
  ['shv', '1.0'],
  ['vs', '1.1'],
  ['vs', '1.0'],
  ['vs', '1.1-draft'],
  ['vs', '1.2'],
] as const;
const VS_VERSIONS = ['1.0', '1.1', '1.1-draft', '1.2'];
/** Which models accept the example of each. 1.0 and 1.1 leave the client open, so they cannot refuse the draft's names. */
const ACCEPTED_BY: Record<string, string[]> = {
  '1.0': ['1.0'],
  '1.1': ['1.1'],
  '1.1-draft': ['1.0', '1.1', '1.1-draft'],
  '1.2': ['1.2'],
};

/** Per invalid file: every place where the model finds a fault. */
const INVALID: Record<string, string[]> = {
  'shv-onbekend-veld.json': ['/leveringen/0/schuldhulptrajecten/0/bijnaam'],
  'shv-zonder-gemeentecode.json': ['/leveringen/0/schuldhulptrajecten/0/gemeentecode'],
  'shv-onmogelijke-datum.json': ['/leveringen/0/schuldhulptrajecten/0/startdatum'],
  'shv-drie-clienten.json': ['/leveringen/0/schuldhulptrajecten/0/client'],
  'shv-meerdere-fouten.json': [
    ...['/extra', '/leveringen/0/schuldhulptrajecten/0/uitstroom/reden', '/leveringen/0/teller'],
  ],
  'shv-zonder-leveringen.json': ['/leveringen'],
  'vs-zonder-id.json': ['/leveringen/0/vroegsignalen/0/ID'],
  'vs-bedrag-met-centen.json': ['/leveringen/0/vroegsignalen/0/bedrag'],
  'vs-zaak-zonder-signalen.json': ['/leveringen/0/vroegsignaalzaken/0/vroegsignalen'],
  'vs-dubbele-levering.json': ['/leveringen'],
};

const validators = new Map<string, ValidateFunction>();

/** The compiled check of a model. */
function validatorOf(name: string): ValidateFunction {
  const known = validators.get(name) ?? strictAjv().compile(readJson(new URL(`${name}.schema.json`, models)));
  validators.set(name, known);
  return known;
}

/** The schema of the member that a pointer names, entering array items if `into` says so. */
function schemaAt(schema: JsonObject, pointer: unknown): JsonObject {
  const steps = String(pointer).split('/').slice(1);
  return steps.reduce<JsonObject>((at, step) => objectAt(at, 'properties', step), schema);
}

describe.each(MODELS)('the exchange model %s %s', (variant, version) => {
  const name = `${variant}-${version}`;
  const example = `${name}.json`;
  const isDefault = name === 'shv-1.0' || name === 'vs-1.1';
  const model = readJson(new URL(`${name}.schema.json`, models));
  const mapping = readJson(new URL(`${name}.mapping.json`, models));
  const validate = validatorOf(name);

  it('accepts a delivery', () => {
    expect(faultsOf(validate, readJson(new URL(example, messages)))).toEqual([]);
  });

  it.each(Object.entries(INVALID).filter(([file]) => isDefault && file.startsWith(variant)))(
    'refuses %s and reports the location',
    (file, places) => {
      expect(faultsOf(validate, readJson(new URL(file, fixtures)))).toEqual(places);
    },
  );

  it.runIf(isDefault && exampleFiles.length > 0)('accepts the example deliveries of the interface', () => {
    const files = exampleFiles.filter((file) => file.startsWith(variant));
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) expect(faultsOf(validate, readJson(new URL(file, examples))), file).toEqual([]);
  });

  it('describes every field', () => {
    const bare: string[] = [];
    const visit = (schema: unknown, at: string): void => {
      if (!isObject(schema)) return;
      if (typeof schema.description !== 'string') bare.push(at);
      visit(schema.items, `${at}[]`);
      for (const [key, member] of Object.entries(isObject(schema.properties) ? schema.properties : {})) {
        visit(member, `${at}/${key}`);
      }
    };
    visit(model, '');
    expect(bare).toEqual([]);
  });

  it('has a mapping with the location of everything', () => {
    const valid = strictAjv().compile(readJson(new URL('mapping.schema.json', models)));
    expect(faultsOf(valid, mapping)).toEqual([]);
    expect([mapping.variant, mapping.versie]).toEqual([variant, version]);

    const envelop = objectAt(mapping, 'envelop');
    for (const pointer of Object.values(envelop)) expect(schemaAt(model, pointer)).toBeDefined();
    const levering = objectAt(schemaAt(model, envelop.leveringen), 'items');
    const places = objectAt(mapping, 'levering');
    const organisatie = objectAt(places, 'organisatie');
    for (const pointer of Object.values(organisatie)) expect(schemaAt(levering, pointer)).toBeDefined();
    expect(schemaAt(levering, places.teller).type).toBe('integer');
    if (places.gemeentecode !== undefined) expect(schemaAt(levering, places.gemeentecode).type).toBe('string');
    const record = objectAt(schemaAt(levering, places.records), 'items');
    const { personen, ...members } = objectAt(places, 'record');
    for (const pointer of Object.values(members)) expect(schemaAt(record, pointer)).toBeDefined();
    if (isObject(personen)) {
      const persoon = objectAt(schemaAt(record, personen.lijst), 'items');
      const groups = Array.isArray(personen.kenmerken) ? personen.kenmerken : [];
      for (const pointer of groups.flat()) expect(schemaAt(persoon, pointer)).toBeDefined();
    }
    if (places.recordId !== undefined) expect(schemaAt(record, places.recordId).type).toBe('string');
    if (places.zaken !== undefined) {
      const zaken = objectAt(places, 'zaken');
      const zaak = objectAt(schemaAt(levering, zaken.lijst), 'items');
      const signaal = objectAt(schemaAt(zaak, zaken.signalen), 'items');
      expect(schemaAt(signaal, zaken.signaalId).type).toBe('string');
    }
  });

  it('has a mapping with the location of everything that a check needs', () => {
    const places = objectAt(mapping, 'levering');
    const levering = objectAt(schemaAt(model, objectAt(mapping, 'envelop').leveringen), 'items');
    const record = objectAt(schemaAt(levering, places.records), 'items');
    const controle = objectAt(mapping, 'controle');
    const items = (from: JsonObject, list: unknown): JsonObject =>
      list === undefined ? from : objectAt(schemaAt(from, list), 'items');
    const exist = (from: JsonObject, pointers: readonly unknown[]): void => {
      for (const pointer of pointers)
        expect(schemaAt(from, pointer).type ?? schemaAt(from, pointer).$ref).toBeDefined();
    };
    const eachOf = (list: unknown): JsonObject[] => (Array.isArray(list) ? list.filter(isObject) : []);
    const contacten = objectAt(controle, 'contactpersonen');
    exist(items(levering, contacten.lijst), [contacten.email]);
    const { plaats, kenmerken = [], ...members } = objectAt(controle, 'personen');
    const persons = schemaAt(record, plaats);
    const groups = Array.isArray(kenmerken) ? kenmerken.flat() : [];
    exist(isObject(persons.items) ? persons.items : persons, [...Object.values(members), ...groups]);
    for (const { lijst, plaatsen } of eachOf(controle.gelijk)) {
      exist(items(record, lijst), Array.isArray(plaatsen) ? plaatsen : []);
    }
    for (const { lijst, begin, einde } of eachOf(controle.perioden)) exist(items(record, lijst), [begin, einde]);
    exist(record, [
      ...(Array.isArray(controle.stappen) ? controle.stappen : []),
      ...(isObject(controle.waarAlleenMet) ? Object.values(controle.waarAlleenMet) : []),
      ...[controle.soort, controle.status].filter((place) => place !== undefined),
    ]);
    if (!isObject(controle.zaken)) return;
    const zaak = objectAt(schemaAt(levering, objectAt(places, 'zaken').lijst), 'items');
    const { pogingen, perioden, ...own } = controle.zaken;
    exist(zaak, Object.values(own));
    if (isObject(pogingen)) exist(items(zaak, pogingen.lijst), [pogingen.datum]);
    for (const { lijst, begin, einde } of eachOf(perioden)) exist(items(zaak, lijst), [begin, einde]);
  });

  it('fits into the contract, which stays valid', async () => {
    const document = gegevensDocument(model);
    const result = await openapiValidator.validate(structuredClone(document));
    expect([result.valid, result.errors ?? []]).toEqual([true, []]);
    const answer = compileDocument(document)('#/components/schemas/GegevensResponse');
    const gegevens = readJson(new URL(example, messages));
    expect(faultsOf(answer, { gegevens })).toEqual([]);
    expect(faultsOf(answer, { gegevens: { ...gegevens, extra: 1 } })).toEqual(['/gegevens/extra']);
  });
});

it.each(Object.entries(ACCEPTED_BY))('the example of VS %s is refused by the models that differ', (own, accepting) => {
  const message = readJson(new URL(`vs-${own}.json`, messages));
  const accepted = VS_VERSIONS.filter((version) => validatorOf(`vs-${version}`)(message));
  expect(accepted).toEqual(accepting);
});
