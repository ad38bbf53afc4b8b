/**
 * Writes `src/contracts/`: the TypeScript types of `openapi/` and its `validation/`. `npm run contract-types`; with `--
 * --check` it only fails when a file is out of date.
 */
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isRecord, pointerSteps } from '../src/lib/json/json-value.ts';
import { listOperations, type OpenapiOperation, readValidation, resolve } from '../src/lib/openapi-document.ts';
import { HEADER_NAMES } from '../src/plugins/processing-headers.ts';

const ROOT = join(import.meta.dirname, '..');
const TOOL = join(ROOT, 'tools/contract-types');

export const CONTRACTS = ['gegevens', 'verwerkingenlog', 'ldv', 'raadsfeed'] as const;
type ContractName = (typeof CONTRACTS)[number];

export function typesFile(name: ContractName): string {
  return join(ROOT, 'src/contracts', `${name}.ts`);
}

/** The first lines of a contract's types, which identify the version that they were generated from. */
export function typesHeader(name: ContractName): string {
  const digest = hash('sha256', JSON.stringify(typedPart(name)));
  return `// Generated from openapi/${name}.yaml by \`npm run contract-types\`; not to be edited.\n// sha256 of the typed part of the contract: ${digest}\n`;
}

/** Members that do not affect types. `title` may also be the name of a property. */
const WORDS = ['description', 'summary', 'title', 'example', 'examples'];
/** A schema with one of these keeps its name; the others are only a form of text or number. */
const NAMED = ['properties', 'items', 'enum', 'allOf', 'anyOf', 'oneOf'];

/** Contracts whose routes send prepared text: instead of their answers, only these schemas have types. */
const TEXT_ANSWERS: Partial<Record<ContractName, readonly string[]>> = {
  gegevens: [],
  raadsfeed: ['Servicedocument', 'RegisterFeed', 'ResourceType', 'Verwijderreden'],
};

/**
 * The parts of a contract that code has types of: the request and the JSON answer of each operation, as a schema whose
 * properties have Fastify's names, and the schemas that these refer to.
 */
function typedPart(name: ContractName): Record<'operations' | 'schemas', Record<string, unknown>> {
  const document = readValidation(pathToFileURL(join(ROOT, 'openapi', `${name}.yaml`)));
  const schemas: Record<string, unknown> = {};
  const typed = (schema: unknown): unknown => {
    if (Array.isArray(schema)) return schema.map(typed);
    if (!isRecord(schema)) return schema;
    const found = resolve(document, schema);
    const title = typeof schema.$ref === 'string' ? pointerSteps(schema.$ref).at(-1) : undefined;
    const ownName = title !== undefined && NAMED.some((member) => member in found) ? title : undefined;
    if (ownName !== undefined && ownName in schemas) return { $ref: `#/components/schemas/${ownName}` };
    if (ownName !== undefined) schemas[ownName] = {};
    const copy = Object.fromEntries(
      Object.entries(found)
        .filter(([member, value]) => !WORDS.includes(member) || isRecord(value))
        .map(([member, value]) => [member, typed(value)]),
    );
    if (ownName === undefined) return copy;
    schemas[ownName] = copy;
    return { $ref: `#/components/schemas/${ownName}` };
  };
  const operations = listOperations(document).map((operation) => {
    const { path, method } = operation;
    const { requestBody, responses } = resolve(document, document.paths[path]?.[method.toLowerCase()]);
    const body = requestBody === undefined ? [] : Object.entries(Object(resolve(document, requestBody).content));
    // Errors are thrown. Statuses that differ in nothing else have one schema.
    const answers = new Map<string, unknown>();
    for (const [status, answer] of Object.entries(Object(responses))) {
      const schema = Object(resolve(document, answer).content)['application/json']?.schema;
      const isTyped = TEXT_ANSWERS[name] === undefined && status.startsWith('2');
      if (isTyped && schema !== undefined) answers.set(JSON.stringify(schema), schema);
    }
    const parts = {
      ...parameterSchemas(operation),
      // A body of several forms is read as bytes.
      ...(body.length === 1 ? { Body: operation.body?.schema } : {}),
      ...(answers.size === 0 ? {} : { Answer: { anyOf: [...answers.values()] } }),
    };
    return [operation.operationId, typed(objectSchema(parts, Object.keys(parts)))] as const;
  });
  for (const schema of TEXT_ANSWERS[name] ?? []) typed({ $ref: `#/components/schemas/${schema}` });
  return { operations: Object.fromEntries(operations), schemas };
}

/** Headers that plugins read for every operation: of conditional requests, and the six of a consumer. */
const READ_BY_PLUGINS = ['if-match', 'if-none-match', ...HEADER_NAMES.map((name) => name.toLowerCase())];

/** The parameters of each place. One with a default is always present after validation. Node gives header names in lower case. */
function parameterSchemas({ parameters }: OpenapiOperation): Record<string, object> {
  const parts = Object.entries({ Params: 'path', Querystring: 'query', Headers: 'header' }).map(([part, place]) => {
    const own = parameters
      .filter((parameter) => parameter.in === place)
      .map((parameter) => ({ ...parameter, name: place === 'header' ? parameter.name.toLowerCase() : parameter.name }))
      .filter(({ name }) => place !== 'header' || !READ_BY_PLUGINS.includes(name));
    const present = own.filter(({ required, schema }) => required || 'default' in schema);
    const properties = Object.fromEntries(own.map(({ name, schema }) => [name, schema]));
    return [
      part,
      objectSchema(
        properties,
        present.map(({ name }) => name),
      ),
    ] as const;
  });
  return Object.fromEntries(parts.filter(([, { properties }]) => Object.keys(properties).length > 0));
}

function objectSchema(properties: object, required: readonly string[]) {
  return { type: 'object', properties, required };
}

/** Installs the tool if it is missing: the service does not depend on it. */
function installTool(): void {
  if (existsSync(join(TOOL, 'node_modules'))) return;
  execFileSync('npm', ['ci', '--prefix', TOOL], { stdio: ['ignore', 'ignore', 'inherit'] });
}

function typesOf(name: ContractName): string {
  const input = JSON.stringify(typedPart(name));
  const printed = execFileSync(process.execPath, [join(TOOL, 'print-types.js')], { input, encoding: 'utf8' });
  return `${typesHeader(name)}\n${printed}`;
}

if (import.meta.main) {
  installTool();
  for (const name of CONTRACTS) {
    const types = typesOf(name);
    const file = typesFile(name);
    if (!process.argv.includes('--check')) writeFileSync(file, types);
    else if (!existsSync(file) || readFileSync(file, 'utf8') !== types) {
      console.error(`${relative(ROOT, file)} is out of date: npm run contract-types`);
      process.exitCode = 1;
    }
  }
}
