/**
 * Known vulnerabilities in the shipped packages, as the registry reports them (`npm audit`), and the project's
 * statement about each in OpenVEX 0.2.0. Statements are kept in docs/compliance/vex.json; each covers one advisory
 * about one package.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { type Lock, shippedFolder, shippedPackages } from '../locked-packages.ts';
import { runToEnd } from '../run.ts';
import { uuidOf } from '../sbom.ts';
import { readJson } from './files.ts';
import { lacking, type Report, records, type Subject, type Wishes } from './report.ts';

const STATEMENTS = 'docs/compliance/vex.json';

interface Statement {
  readonly advisory: string;
  readonly package: string;
  readonly status: string;
  /** For `not_affected`: the OpenVEX justification. */
  readonly justification?: string;
  /** For `affected`: what users should do. */
  readonly action?: string;
  /** How the status was established. */
  readonly notes: string;
  /** When the statement was made (ISO 8601). */
  readonly time: string;
}

const text = { type: 'string', minLength: 1 };
const STATEMENT = {
  type: 'object',
  required: ['advisory', 'package', 'status', 'notes', 'time'],
  additionalProperties: false,
  properties: {
    advisory: { type: 'string', pattern: '^(GHSA(-[0-9a-z]{4}){3}|npm-\\d+)$' },
    package: text,
    status: text,
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
  // With exactly the members that OpenVEX requires of the status. A version that is `fixed` needs no statement.
  anyOf: [
    { properties: { status: { const: 'not_affected' }, action: false }, required: ['justification'] },
    { properties: { status: { const: 'affected' }, justification: false }, required: ['action'] },
    { properties: { status: { const: 'under_investigation' }, justification: false, action: false } },
  ],
};
const validate = new Ajv2020({ allErrors: true, strict: false }).compile<{ statements: Statement[] }>({
  type: 'object',
  required: ['statements'],
  additionalProperties: false,
  properties: { statements: { type: 'array', items: STATEMENT } },
});

/** @throws {Error} naming the invalid statement */
function readStatements(sources: string): readonly Statement[] {
  const value: unknown = JSON.parse(readFileSync(join(sources, STATEMENTS), 'utf8'));
  if (validate(value)) return value.statements;
  const faults = (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  throw new Error(`${STATEMENTS}: ${faults.join('; ')}`);
}

export const advisories: Report = {
  file: 'advisories.json',
  make: ({ lock }, wishes) => reportOn(lock, wishes),
  faults: ({ folder, sources, note }) => {
    const report = readJson(folder, 'advisories.json');
    if (!isRecord(report) || typeof report.time !== 'string') return ['advisories.json is not a report'];
    if (report.asked !== true) {
      note(`advisories.json: the registry was not asked at ${report.time} (${String(report.reason)})`);
      return [];
    }
    if (!Array.isArray(report.advisories)) return ['advisories.json has no advisories'];
    note(`advisories.json: ${report.advisories.length} known at ${report.time}`);
    const known = report.advisories.map((one) => `${String(one?.id)} about ${String(one?.package)}`);
    const stated = readStatements(sources).map((one) => `${one.advisory} about ${one.package}`);
    return [
      ...lacking(known, stated).map((one) => `${one} has no statement in ${STATEMENTS}`),
      ...lacking(stated, known).map(
        (one) => `${STATEMENTS} has a statement about ${one}, which affects no shipped package: remove it`,
      ),
      ...stated.filter((one, i) => stated.indexOf(one) < i).map((one) => `${STATEMENTS} states ${one} twice`),
    ].map((fault) => `advisories.json: ${fault}`);
  },
};

/** @throws {Error} when the registry does not answer, unless `--offline` allows that */
function reportOn(lock: Lock, { audit, offline }: Wishes): object {
  const time = new Date().toISOString();
  if (offline) return { time, asked: false, reason: 'made with --offline' };
  if (audit !== undefined) {
    const given = readFileSync(audit, 'utf8');
    return { time: statSync(audit).mtime.toISOString(), asked: true, advisories: readAudit(given, lock) };
  }
  console.log('Asking the registry for known vulnerabilities …');
  try {
    return { time, asked: true, advisories: readAudit(askRegistry(lock), lock) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`the registry could not be asked for known vulnerabilities at ${time}: ${reason}
Give what \`npm audit --json\` prints elsewhere with --audit FILE, or leave them unknown with --offline.`);
  }
}

/**
 * Asks the registry about the shipped packages of the lock file.
 * @throws {Error} when it does not answer
 */
function askRegistry(lock: Lock): string {
  using folder = shippedFolder(lock);
  // npm also exits with 1 when it finds something. Its own cache might repeat an earlier answer of the registry.
  const words = ['audit', '--json', '--package-lock-only', `--cache=${folder.path}/cache`];
  const { stdout, stderr } = runToEnd('npm', words, folder.path);
  if (stdout === '') throw new Error(stderr.trim());
  return stdout;
}

/**
 * @param json the output of `npm audit --json`, development packages included
 * @returns advisories about shipped packages
 * @throws {Error} with npm's message when that is not a report
 */
function readAudit(json: string, lock: Lock): readonly object[] {
  const answer: unknown = JSON.parse(json);
  if (!isRecord(answer) || answer.auditReportVersion !== 2 || !isRecord(answer.vulnerabilities)) {
    const message = isRecord(answer) && typeof answer.message === 'string' ? answer.message : undefined;
    throw new Error(message ?? 'this is not a report of npm');
  }
  return records(Object.values(answer.vulnerabilities)).flatMap(({ name, via, nodes }) => {
    const entries = (Array.isArray(nodes) ? nodes : []).map((path) => {
      const entry = lock.packages[String(path)];
      if (entry !== undefined) return entry;
      throw new Error(`${String(path)} is not in the lock file: the answer is about another one`);
    });
    const versions = new Set(entries.flatMap((entry) => (entry.dev === true ? [] : String(entry.version))));
    if (versions.size === 0) return [];
    // A name in `via` is a package with its own entry.
    return records(via).map(({ source, title, severity, url }) => ({
      // Other advisories have only a number.
      id: /GHSA(-[0-9a-z]{4}){3}/.exec(String(url))?.[0] ?? `npm-${String(source)}`,
      package: String(name),
      versions: [...versions].sort(),
      title: String(title),
      severity: String(severity),
      url: String(url),
    }));
  });
}

/** No document without statements: OpenVEX requires at least one. */
export const openVex: Report = {
  file: 'openvex.json',
  make: createOpenVex,
  faults: (subject) => {
    const vex = createOpenVex(subject);
    const hasVex = existsSync(join(subject.folder, 'openvex.json'));
    if (vex === undefined) return hasVex ? [`openvex.json has statements that ${STATEMENTS} in the package lacks`] : [];
    if (!hasVex) return [`openvex.json is missing: ${STATEMENTS} of the package has statements`];
    const isSame = isDeepStrictEqual(readJson(subject.folder, 'openvex.json'), vex);
    return isSame ? [] : [`openvex.json lacks statements of ${STATEMENTS} in the package`];
  },
};

function createOpenVex({ sources, release, lock }: Subject): Record<string, unknown> | undefined {
  const product = `pkg:npm/${release.product}@${release.version}`;
  const packages = Map.groupBy(shippedPackages(lock), ({ name }) => name);
  const stated = readStatements(sources).map((one) => ({
    vulnerability: { name: one.advisory },
    timestamp: one.time,
    products: [
      { '@id': product, subcomponents: (packages.get(one.package) ?? []).map(({ purl }) => ({ '@id': purl })) },
    ],
    status: one.status,
    status_notes: one.notes,
    ...(one.justification === undefined ? {} : { justification: one.justification }),
    ...(one.action === undefined ? {} : { action_statement: one.action }),
  }));
  if (stated.length === 0) return undefined;
  return {
    '@context': 'https://openvex.dev/ns/v0.2.0',
    '@id': `urn:uuid:${uuidOf(JSON.stringify([product, release.committed, stated]))}`,
    author: 'The maintainers of Koppelvlak',
    timestamp: release.committed,
    version: 1,
    statements: stated,
  };
}
