/**
 * Known vulnerabilities of what is shipped, as the registry tells them (`npm audit`), and what the project states about each in OpenVEX 0.2.0.
 * The statements are kept in docs/compliance/vex.json; each belongs to one advisory about one package.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { inShippedFolder, type Lock } from '../locked-packages.ts';
import { uuidOf } from '../sbom.ts';
import { runToEnd } from './run.ts';

export const STATEMENTS = 'docs/compliance/vex.json';

export interface Advisory {
  /** `GHSA-…`; of an advisory elsewhere `npm-` and its number. */
  readonly id: string;
  readonly package: string;
  /** Those that are shipped. */
  readonly versions: readonly string[];
  readonly title: string;
  readonly severity: string;
  readonly url: string;
}

/** What the registry answered, or why nobody asked it. `time` is when (ISO 8601). */
export type AdvisoryReport =
  | { readonly time: string; readonly asked: true; readonly advisories: readonly Advisory[] }
  | { readonly time: string; readonly asked: false; readonly reason: string };

export interface Statement {
  readonly advisory: string;
  readonly package: string;
  readonly status: 'not_affected' | 'affected' | 'under_investigation';
  /** Of `not_affected`: why, in a word of OpenVEX. */
  readonly justification?: string;
  /** Of `affected`: what a user does about it. */
  readonly action?: string;
  /** How that was found. */
  readonly notes: string;
  /** When it was stated (ISO 8601). */
  readonly time: string;
}

const text = { type: 'string', minLength: 1 };
/** What OpenVEX demands with a status, and what has no meaning there. */
const withStatus = (status: Statement['status'], required: readonly string[], none: readonly string[]): object => ({
  properties: { status: { const: status } },
  required,
  not: { anyOf: none.map((name) => ({ required: [name] })) },
});
const SCHEMA = {
  type: 'object',
  required: ['statements'],
  additionalProperties: false,
  properties: {
    statements: {
      type: 'array',
      items: {
        type: 'object',
        required: ['advisory', 'package', 'status', 'notes', 'time'],
        additionalProperties: false,
        properties: {
          advisory: { type: 'string', pattern: '^(GHSA(-[0-9a-z]{4}){3}|npm-\\d+)$' },
          package: text,
          // `fixed` cannot be: a repaired version has no advisory, and needs no statement.
          status: { enum: ['not_affected', 'affected', 'under_investigation'] },
          justification: {
            enum: [
              'component_not_present',
              'vulnerable_code_not_present',
              'vulnerable_code_not_in_execute_path',
              'vulnerable_code_cannot_be_controlled_by_adversary',
              'inline_mitigations_already_exist',
            ],
          },
          action: text,
          notes: text,
          time: { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z$' },
        },
        anyOf: [
          withStatus('not_affected', ['justification'], ['action']),
          withStatus('affected', ['action'], ['justification']),
          withStatus('under_investigation', [], ['justification', 'action']),
        ],
      },
    },
  },
};
const validate = new Ajv2020({ allErrors: true, strict: false }).compile<{ statements: Statement[] }>(SCHEMA);

/** @throws {Error} that says which statement of docs/compliance/vex.json is wrong */
export function readStatements(json: string): readonly Statement[] {
  const value: unknown = JSON.parse(json);
  if (validate(value)) return value.statements;
  const faults = (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  throw new Error(`${STATEMENTS}: ${faults.join('; ')}`);
}

/** Asks the registry about what the lock file ships. @throws {Error} when it gives no answer */
export function askRegistry(lock: Lock, env: Readonly<Record<string, string>> = {}): readonly Advisory[] {
  return inShippedFolder(lock, (directory) => {
    // With a finding npm ends with 1 too. Without a cache of its own it may repeat what a registry answered before.
    const { stdout, stderr } = runToEnd(
      'npm',
      ['audit', '--json', '--package-lock-only', `--cache=${directory}/cache`],
      directory,
      env,
    );
    if (stdout === '') throw new Error(stderr.trim());
    return readAudit(stdout, lock);
  });
}

/** @param json what `npm audit --json` prints, of development too @returns advisories about what is shipped @throws {Error} when that is not a report of npm, with its message */
export function readAudit(json: string, lock: Lock): readonly Advisory[] {
  const answer: unknown = JSON.parse(json);
  if (!isRecord(answer) || answer.auditReportVersion !== 2 || !isRecord(answer.vulnerabilities)) {
    throw new Error(
      isRecord(answer) && typeof answer.message === 'string' ? answer.message : 'this is not a report of npm',
    );
  }
  return Object.values(answer.vulnerabilities)
    .filter(isRecord)
    .flatMap(({ name, via, nodes }) => {
      const entries = (Array.isArray(nodes) ? nodes : []).map((path) => {
        const entry = lock.packages[String(path)];
        if (entry !== undefined) return entry;
        throw new Error(`${String(path)} is not in the lock file: the answer is about another`);
      });
      const versions = new Set(entries.flatMap((entry) => (entry.dev === true ? [] : String(entry.version))));
      if (versions.size === 0) return [];
      // A name in `via` is a package that has an entry of its own.
      const own = (Array.isArray(via) ? via : []).filter(isRecord);
      return own.map(({ source, title, severity, url }) => ({
        id: /GHSA(-[0-9a-z]{4}){3}/.exec(String(url))?.[0] ?? `npm-${String(source)}`,
        package: String(name),
        versions: [...versions].sort(),
        title: String(title),
        severity: String(severity),
        url: String(url),
      }));
    });
}

/** Advisories without a statement, and statements without an advisory. */
export function faultsOfStatements(advisories: readonly Advisory[], statements: readonly Statement[]): string[] {
  const about = (id: string, name: string): string => `${id} about ${name}`;
  const known = advisories.map((one) => about(one.id, one.package));
  const stated = statements.map((one) => about(one.advisory, one.package));
  return [
    ...known.filter((one) => !stated.includes(one)).map((one) => `${one} has no statement in ${STATEMENTS}`),
    ...stated
      .filter((one) => !known.includes(one))
      .map((one) => `${STATEMENTS} has a statement on ${one}, which concerns nothing that is shipped: remove it`),
    ...stated.filter((one, i) => stated.indexOf(one) < i).map((one) => `${STATEMENTS} states ${one} twice`),
  ];
}

/**
 * The statements in OpenVEX about a product that contains these packages.
 * @param product its Package URL
 * @param packages Package URLs by name
 * @param time of the release, ISO 8601
 * @returns nothing without statements: OpenVEX demands at least one
 */
export function createOpenVex(
  statements: readonly Statement[],
  product: string,
  packages: ReadonlyMap<string, readonly string[]>,
  time: string,
): Record<string, unknown> | undefined {
  if (statements.length === 0) return undefined;
  const stated = statements.map((one) => ({
    vulnerability: { name: one.advisory },
    timestamp: one.time,
    products: [{ '@id': product, subcomponents: (packages.get(one.package) ?? []).map((purl) => ({ '@id': purl })) }],
    status: one.status,
    status_notes: one.notes,
    ...(one.justification === undefined ? {} : { justification: one.justification }),
    ...(one.action === undefined ? {} : { action_statement: one.action }),
  }));
  return {
    '@context': 'https://openvex.dev/ns/v0.2.0',
    '@id': `urn:uuid:${uuidOf(JSON.stringify([product, time, stated]))}`,
    author: 'The maintainers of Koppelvlak',
    timestamp: time,
    version: 1,
    statements: stated,
  };
}
