import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { isObject, type JsonObject, objectAt, readYaml } from './contract-schemas.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const spectral = join(root, 'node_modules/@stoplight/spectral-cli/dist/index.js');

/** A small document without findings; each bad one differs from it in one place. */
function goodDocument(): JsonObject {
  const answer = (description: string, content: JsonObject): JsonObject => ({
    description,
    headers: { 'API-Version': { schema: { type: 'string' } } },
    content,
  });
  const problem = { $ref: '#/components/schemas/Probleem' };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Proef',
      version: '1.2.3',
      description: 'Een proef.',
      contact: { name: 'Beheer', email: 'beheer@koppelvlak.example', url: 'https://koppelvlak.example' },
    },
    servers: [{ url: 'https://koppelvlak.example/proef/v1' }],
    tags: [{ name: 'proef', description: 'Proef' }],
    paths: {
      '/grote-dingen/{dingId}': {
        get: {
          operationId: 'getDing',
          'x-public': true,
          tags: ['proef'],
          summary: 'Ding',
          description: 'Een ding.',
          parameters: [
            { name: 'dingId', in: 'path', required: true, description: 'Het ding.', schema: { type: 'string' } },
            { name: 'peilMoment', in: 'query', description: 'Wanneer.', schema: { type: 'string' } },
          ],
          responses: {
            '200': answer('Het ding.', { 'application/json': { schema: { $ref: '#/components/schemas/GrootDing' } } }),
            '400': answer('Fout.', { 'application/problem+json': { schema: problem } }),
          },
        },
      },
    },
    components: {
      schemas: {
        GrootDing: {
          type: 'object',
          properties: {
            datumBegin: { type: 'string', format: 'date' },
            tijdstip: { type: 'string', format: 'date-time' },
          },
        },
        Probleem: {
          type: 'object',
          properties: { status: { type: 'integer' }, title: { type: 'string' }, detail: { type: 'string' } },
        },
      },
    },
  };
}

const PATH = ['paths', '/grote-dingen/{dingId}'];
const GET = [...PATH, 'get'];

function renamePath(document: JsonObject, path: string): void {
  const paths = objectAt(document, 'paths');
  document.paths = { [path]: paths['/grote-dingen/{dingId}'] };
}

const BAD: Record<string, (document: JsonObject) => void> = {
  'adr-openapi-3': (d) => Object.assign(d, { openapi: '3.2.0' }),
  'adr-openapi-present': (d) => {
    delete d.openapi;
    d.swagger = '2.0';
  },
  'adr-semver': (d) => Object.assign(objectAt(d, 'info'), { version: '1.2' }),
  'adr-contact': (d) => Object.assign(objectAt(d, 'info'), { contact: { name: 'Beheer' } }),
  'adr-major-version-in-url': (d) => Object.assign(d, { servers: [{ url: 'https://koppelvlak.example/proef' }] }),
  'adr-https-servers': (d) => Object.assign(d, { servers: [{ url: 'http://koppelvlak.example/proef/v1' }] }),
  'adr-no-trailing-slash': (d) => renamePath(d, '/grote-dingen/{dingId}/'),
  'adr-path-kebab-case': (d) => renamePath(d, '/groteDingen/{dingId}'),
  'adr-query-camel-case': (d) =>
    Object.assign(objectAt(d, ...GET), {
      parameters: [
        { name: 'dingId', in: 'path', required: true, schema: { type: 'string' } },
        { name: 'peil_moment', in: 'query', schema: { type: 'string' } },
      ],
    }),
  'adr-api-version-header': (d) => delete objectAt(d, ...GET, 'responses', '200').headers,
  'adr-problem-json': (d) =>
    Object.assign(objectAt(d, ...GET, 'responses', '400'), { content: { 'application/json': {} } }),
  'adr-problem-members': (d) => delete objectAt(d, 'components', 'schemas', 'Probleem', 'properties').detail,
  'adr-invalid-input': (d) => delete objectAt(d, ...GET, 'responses')['400'],
  'adr-invalid-input-shared': (d) => {
    const get = objectAt(d, ...GET);
    objectAt(d, ...PATH).parameters = get.parameters;
    delete get.parameters;
    delete objectAt(get, 'responses')['400'];
  },
  'adr-date-format': (d) => delete objectAt(d, 'components', 'schemas', 'GrootDing', 'properties', 'datumBegin').format,
  'adr-date-time-format': (d) =>
    Object.assign(objectAt(d, 'components', 'schemas', 'GrootDing', 'properties', 'tijdstip'), { format: 'date' }),
  'adr-date-formats-known': (d) =>
    Object.assign(objectAt(d, 'components', 'schemas', 'GrootDing', 'properties'), {
      duur: { type: 'string', format: 'timestamp' },
    }),
  'adr-standard-methods': (d) => {
    objectAt(d, ...PATH).trace = { ...objectAt(d, ...GET), operationId: 'traceDing' };
  },
  'adr-schema-upper-camel-case': (d) => {
    objectAt(d, 'components', 'schemas').klein_ding = { type: 'string' };
  },
  'adr-property-camel-case': (d) => {
    objectAt(d, 'components', 'schemas', 'GrootDing', 'properties').hele_naam = { type: 'string' };
  },
  'house-who-may-call': (d) => delete objectAt(d, ...GET)['x-public'],
};

/** Rules of the linter itself that the official ruleset enables; all of them are recommended ones. */
const LINTER_RULES = [
  'oas3-schema',
  'operation-operationId-unique',
  'path-params',
  'openapi-tags-uniqueness',
  'oas3-valid-media-example',
  'oas3-valid-schema-example',
  'oas3-server-variables',
  'oas3-api-servers',
];

function officialRuleset(): JsonObject {
  const pinned: unknown = JSON.parse(readFileSync(join(root, 'openapi/ruleset/official.json'), 'utf8'));
  return isObject(pinned) ? pinned : {};
}

/** Lints as the gate does: a warning fails too. */
function lint(files: string[], ruleset: string): { status: number; findings: unknown[] } {
  const args = [spectral, 'lint', '--quiet', '--fail-severity=warn', '-f', 'json', '-r', join(root, ruleset), ...files];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  if (status !== 0 && status !== 1) throw new Error(`spectral ended with ${status}: ${stderr}`);
  const findings: unknown = stdout.trim() === '' ? [] : JSON.parse(stdout);
  return { status, findings: Array.isArray(findings) ? findings : [findings] };
}

function rulesPerFile(findings: unknown[]): Map<string, Set<string>> {
  const perFile = new Map<string, Set<string>>();
  for (const finding of findings) {
    if (!isObject(finding)) continue;
    const name = basename(String(finding.source), '.yaml');
    perFile.set(name, (perFile.get(name) ?? new Set()).add(String(finding.code)));
  }
  return perFile;
}

describe('the ruleset', () => {
  const dir = mkdtempSync(join(tmpdir(), 'koppelvlak-ruleset-'));
  let found = new Map<string, Set<string>>();

  beforeAll(() => {
    const cases: typeof BAD = { good: () => {}, ...BAD };
    for (const [name, spoil] of Object.entries(cases)) {
      const document = goodDocument();
      spoil(document);
      writeFileSync(join(dir, `${name}.yaml`), stringify(document, { aliasDuplicateObjects: false }));
    }
    const files = Object.keys(cases).map((name) => join(dir, `${name}.yaml`));
    found = rulesPerFile(lint(files, 'openapi/ruleset/adr.yaml').findings);
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  it('reports nothing about a good document', () => {
    expect([...(found.get('good') ?? [])]).toEqual([]);
  });

  it.each(Object.keys(BAD))('%s finds its fault', (rule) => {
    expect([...(found.get(rule) ?? [])]).toContain(rule);
  });

  it('has a bad document for each of its own rules', () => {
    const rules = Object.entries(objectAt(readYaml('ruleset/adr.yaml'), 'rules'));
    const own = rules.filter(([, rule]) => isObject(rule)).map(([name]) => name);
    expect(own.sort()).toEqual(Object.keys(BAD).sort());
  });

  it('relies only on the rules that come with the linter', () => {
    expect(readYaml('ruleset/adr.yaml').extends).toEqual([['spectral:oas', 'recommended']]);
    expect(readFileSync(join(root, '.spectral.yaml'), 'utf8')).not.toContain('http');
  });

  it('has a rule for each of the official ones, except one that only the official ruleset checks', () => {
    const { rules } = officialRuleset();
    const entries = Object.entries(isObject(rules) ? rules : {});
    expect(entries.filter(([, own]) => own === null).map(([name]) => name)).toEqual([
      'nlgov:use-date-instead-of-datetime',
    ]);
    const known = [...Object.keys(BAD), ...LINTER_RULES];
    expect(entries.filter(([, own]) => own !== null && !known.includes(String(own)))).toEqual([]);
  });

  it('makes three exceptions to the official ruleset', () => {
    const text = readFileSync(join(root, '.spectral.official.yaml'), 'utf8');
    const exceptions = [...text.matchAll(/- (openapi\S+)\n\s+rules:\n\s+(\S+): off$/gm)];
    expect([...text.matchAll(/: off$/gm)]).toHaveLength(exceptions.length);
    expect(exceptions.map(([, where, rule]) => [where, rule])).toEqual([
      ['openapi/verwerkingenlog.yaml#/components/parameters/VertrouwelijkheidIn', 'nlgov:query-keys-camel-case'],
      ['openapi/ldv.yaml', 'nlgov:use-problem-schema'],
      ['openapi/proof.yaml', 'nlgov:use-problem-schema'],
    ]);
  });

  it('accepts only the pinned version as the official ruleset', () => {
    const file = join(dir, 'other.yaml');
    writeFileSync(file, 'extends: [[spectral:oas, "off"]]\n');
    const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts/official-ruleset.ts'), file], {
      encoding: 'utf8',
    });
    expect(status).toBe(2);
    expect(stderr).toContain(`that is not media/linter.yaml of Logius-standaarden/API-Design-Rules at `);
  });
});
