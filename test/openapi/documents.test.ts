import { describe, expect, it } from 'vitest';
import { openapiValidator } from '../support/openapi-validator.ts';
import { compileDocument, isObject, type JsonObject, objectAt, pointerStep, readYaml } from './contract-schemas.ts';

const METHODS = ['get', 'put', 'post', 'delete', 'patch'];
const VERSIONS = {
  'gegevens.yaml': '1.0.0',
  'verwerkingenlog.yaml': '1.0.0',
  'ldv.yaml': '1.0.0',
  'proof.yaml': '1.0.0',
  'raadsfeed.yaml': '0.0.2',
};

const OPERATIONS = {
  'gegevens.yaml': ['postGegevens'],
  'verwerkingenlog.yaml': [
    ...['postVerwerkingsactie', 'getVerwerkingsacties', 'patchVerwerkingsacties', 'getVerwerkingsactie'],
    ...['putVerwerkingsactie', 'deleteVerwerkingsactie', 'getVerwerkteObjecten', 'getVerwerktObject'],
    ...['getVerwerkingsactieBewijs', 'getVerwerktObjectBewijs'],
    ...['getVerwerkingsactiviteiten', 'getVerwerkingsactiviteit', 'putVerwerkingsactiviteit'],
    'deleteVerwerkingsactiviteit',
  ],
  'ldv.yaml': ['postTraces'],
  'proof.yaml': [
    ...['getKey', 'getCheckpoint', 'getTile', 'getRecordBewijs'],
    ...['getWitnessKey', 'getWitnessCheckpoint', 'postAddCheckpoint'],
  ],
  'raadsfeed.yaml': [
    ...['getServicedocument', 'getFeed', 'getFeedStream', 'getSnapshot', 'getVergaderingen', 'getVergadering'],
    ...['getAgendapunten', 'getAgendapunt', 'getInformatieobjecten', 'getInformatieobject', 'getRegister'],
  ],
};

function operationsOf(document: JsonObject): JsonObject[] {
  return Object.values(objectAt(document, 'paths')).flatMap((item) =>
    METHODS.map((method) => (isObject(item) ? item[method] : undefined)).filter(isObject),
  );
}

/** Every object of the document with examples beside a schema, or that is a schema with examples. */
function* exampled(value: unknown, pointer: string): Generator<{ schema: string; example: unknown; at: string }> {
  if (!isObject(value)) return;
  if (isObject(value.schema)) {
    if (value.example !== undefined) yield { schema: `${pointer}/schema`, example: value.example, at: pointer };
    for (const [name, example] of isObject(value.examples) ? Object.entries(value.examples) : []) {
      if (isObject(example)) yield { schema: `${pointer}/schema`, example: example.value, at: `${pointer} ${name}` };
    }
  } else if (Array.isArray(value.examples)) {
    for (const example of value.examples) yield { schema: pointer, example, at: pointer };
  }
  for (const [key, member] of Object.entries(value)) {
    if (key === 'example' || key === 'examples') continue;
    const members = Array.isArray(member) ? member.entries() : [[undefined, member] as const].values();
    for (const [index, item] of members) {
      const step = index === undefined ? pointerStep(key) : `${pointerStep(key)}/${index}`;
      yield* exampled(item, `${pointer}/${step}`);
    }
  }
}

describe.each(Object.entries(OPERATIONS))('the contract %s', (name, operationIds) => {
  const document = readYaml(name);
  const compile = compileDocument(document);

  it('is a valid OpenAPI 3.1 document', async () => {
    const result = await openapiValidator.validate(structuredClone(document));
    expect(result.errors ?? []).toEqual([]);
    expect([result.valid, openapiValidator.version]).toEqual([true, '3.1']);
  });

  it('has the operations that the service promises', () => {
    expect(
      operationsOf(document)
        .map(({ operationId }) => String(operationId))
        .sort(),
    ).toEqual([...operationIds].sort());
  });

  it('has only schemas that compile strictly', () => {
    for (const schema of Object.keys(objectAt(document, 'components', 'schemas'))) {
      expect(() => compile(`#/components/schemas/${schema}`), schema).not.toThrow();
    }
  });

  it('has only examples that its schemas accept', () => {
    const found = [...exampled(document, '#')];
    expect(found.length).toBeGreaterThan(10);
    for (const { schema, example, at } of found) {
      const validate = compile(schema);
      validate(example);
      expect(validate.errors ?? [], at).toEqual([]);
    }
  });

  it('has the same scopes in x-scopes and in security', () => {
    for (const operation of operationsOf(document)) {
      const security = operation.security ?? document.security;
      const scopes = Array.isArray(security) ? security.flatMap((option) => objectAt(option).oauth2) : undefined;
      expect(scopes, String(operation.operationId)).toEqual(operation['x-scopes'] ?? []);
      expect(operation['x-public'] ?? false, String(operation.operationId)).toBe(scopes?.length === 0);
    }
  });

  it('names only scopes that can be requested', () => {
    if (['raadsfeed.yaml', 'proof.yaml'].includes(name))
      return expect(document.components).not.toHaveProperty('securitySchemes');
    const flow = objectAt(document, 'components', 'securitySchemes', 'oauth2', 'flows', 'clientCredentials');
    const used = new Set(operationsOf(document).flatMap((operation) => operation['x-scopes']));
    expect([...used].map(String).sort()).toEqual(Object.keys(objectAt(flow, 'scopes')).sort());
  });

  it('gives its own version in answers', () => {
    const version = objectAt(document, 'info').version;
    expect(version).toBe(objectAt(VERSIONS)[name]);
    expect(objectAt(document, 'components', 'headers', 'ApiVersion', 'schema').const).toBe(version);
  });

  it('keeps the schemas of parameters free of references, so that each can be read alone', () => {
    const { parameters } = objectAt(document, 'components');
    // A contract without parameters has nothing to check.
    expect(JSON.stringify(parameters ?? {})).not.toContain('$ref');
  });
});
