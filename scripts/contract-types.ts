/**
 * Writes `src/contracts/`: the TypeScript types of `openapi/` and its `validation/`. `npm run contract-types`; with `--
 * --check` it only fails when a file is out of date.
 */
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isRecord } from '../src/lib/json/json-value.ts';
import { readValidation } from '../src/lib/openapi-document.ts';

const ROOT = join(import.meta.dirname, '..');
const TOOL = join(ROOT, 'tools/contract-types');
const METHODS = ['get', 'put', 'post', 'patch', 'delete'];
/** Members that do not affect types: rewording them leaves the types unchanged. `title` may also be a property name. */
const WORDS = new Set(['description', 'summary', 'title']);
const EXAMPLES = new Set(['example', 'examples']);

export const CONTRACTS = ['gegevens', 'verwerkingenlog', 'ldv', 'raadsfeed'] as const;
type ContractName = (typeof CONTRACTS)[number];

export function typesFile(name: ContractName): string {
  return join(ROOT, 'src/contracts', `${name}.ts`);
}

/** The first lines of a contract's types, which identify the version that they were generated from. */
export function typesHeader(name: ContractName): string {
  const digest = hash('sha256', JSON.stringify(typedPart(name)));
  return `// Generated from openapi/${name}.yaml by \`npm run contract-types\`; not to be edited.\n// sha256 of the contract without its words: ${digest}\n`;
}

/**
 * The part of a contract that types are generated from: its operations with the answers that a route returns (errors
 * are thrown), and everything these refer to. A parameter with a default is always present after validation, so it
 * becomes required.
 */
function typedPart(name: ContractName): object {
  const validated = readValidation(pathToFileURL(join(ROOT, 'openapi', `${name}.yaml`)));
  const document: unknown = JSON.parse(JSON.stringify(validated), (key, value: unknown) => {
    if (EXAMPLES.has(key) || (WORDS.has(key) && typeof value === 'string')) return undefined;
    return isParameterWithDefault(value) ? { ...value, required: true } : value;
  });
  if (!isRecord(document) || !isRecord(document.paths) || !isRecord(document.components)) {
    throw new TypeError(`openapi/${name}.yaml is not a contract`);
  }
  const { schemas, parameters } = document.components;
  const paths = Object.entries(document.paths).map(([path, item]) => [path, withOwnAnswers(Object(item))]);
  const { openapi, info } = document;
  return { openapi, info, paths: Object.fromEntries(paths), components: { schemas, parameters } };
}

function isParameterWithDefault(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && 'in' in value && isRecord(value.schema) && value.schema.default !== undefined;
}

function withOwnAnswers(item: Record<string, unknown>): object {
  return Object.fromEntries(
    Object.entries(item).map(([member, operation]) => {
      if (!METHODS.includes(member) || !isRecord(operation)) return [member, operation];
      const responses = Object.entries(Object(operation.responses))
        .filter(([status]) => status.startsWith('2'))
        .map(([status, response]) => [status, { ...Object(response), headers: undefined }]);
      return [member, { ...operation, responses: Object.fromEntries(responses) }];
    }),
  );
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
