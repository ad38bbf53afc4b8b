/** What the linter says of each contract by the Dutch API Design Rules, with the exceptions that the project makes. */
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import process from 'node:process';
import { parse } from 'yaml';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { sha256 } from './files.ts';
import { runToEnd } from './run.ts';

const RULES = 'openapi/ruleset/adr.yaml';

export interface DesignRulesReport {
  readonly standard: string;
  /** The rules as the project writes them down, with the exceptions. */
  readonly ruleset: { readonly file: string; readonly sha256: string };
  /** The ruleset of the standard's owner, where `ADR_RULESET` names a copy: its digest, and whether every contract passed. */
  readonly official: { readonly sha256: string; readonly passed: boolean } | 'not run: ADR_RULESET names no copy';
  readonly exceptions: readonly { readonly where: string; readonly rules: readonly string[] }[];
  readonly contracts: readonly {
    readonly file: string;
    readonly sha256: string;
    readonly findings: readonly string[];
  }[];
}

/** @param root of a checkout with its packages @throws {Error} when the linter cannot run */
export function checkDesignRules(root: string): DesignRulesReport {
  const files = globSync('openapi/*.yaml', { cwd: root }).sort();
  const { stdout, stderr } = runToEnd('spectral', ['lint', '--quiet', '--format=json', ...files], root);
  const found: unknown = JSON.parse(stdout === '' ? 'null' : stdout);
  if (!Array.isArray(found)) throw new Error(`spectral lint: ${stderr.trim()}`);
  // Below a warning are hints.
  const findings = found.filter(isRecord).filter(({ severity }) => Number(severity) <= 1);
  const standard: unknown = JSON.parse(readFileSync(join(root, 'openapi/ruleset/official.json'), 'utf8'));
  return {
    standard: isRecord(standard) ? String(standard.standard) : '',
    ruleset: { file: RULES, sha256: sha256(readFileSync(join(root, RULES))) },
    official: checkOfficial(root),
    exceptions: exceptionsOf(readFileSync(join(root, '.spectral.yaml'), 'utf8')),
    contracts: files.map((file) => ({
      file,
      sha256: sha256(readFileSync(join(root, file))),
      findings: findings
        .filter(({ source }) => basename(String(source)) === basename(file))
        .map(
          ({ code, path, message }) =>
            `${String(code)} at ${Array.isArray(path) ? path.join('/') : ''}: ${String(message)}`,
        ),
    })),
  };
}

function checkOfficial(root: string): DesignRulesReport['official'] {
  const { ADR_RULESET: file } = process.env;
  if (file === undefined || file === '') return 'not run: ADR_RULESET names no copy';
  const { status } = runToEnd(process.execPath, ['scripts/official-ruleset.ts', file], root);
  return { sha256: sha256(readFileSync(file)), passed: status === 0 };
}

function exceptionsOf(settings: string): DesignRulesReport['exceptions'] {
  const value: unknown = parse(settings);
  const overrides = isRecord(value) && Array.isArray(value.overrides) ? value.overrides.filter(isRecord) : [];
  return overrides.map(({ files, rules }) => ({
    where: Array.isArray(files) ? files.join(', ') : '',
    rules: isRecord(rules) ? Object.keys(rules) : [],
  }));
}

/** Contracts that do not pass, or are not those of the package at `packed`. */
export function faultsOfDesignRules(report: unknown, packed: string): string[] {
  if (!isRecord(report) || !Array.isArray(report.contracts)) return ['has no list of contracts'];
  const contracts = report.contracts.filter(isRecord);
  const files = globSync('openapi/*.yaml', { cwd: packed });
  const official =
    isRecord(report.official) && report.official.passed !== true ? ['the official ruleset was not passed'] : [];
  const unknown = contracts.map(({ file }) => String(file)).filter((file) => !files.includes(file));
  return [
    ...official,
    ...unknown.map((file) => `${file} is not in the package`),
    ...files.flatMap((file) => {
      const own = contracts.find((one) => one.file === file);
      if (own === undefined) return [`${file} was not judged`];
      if (own.sha256 !== sha256(readFileSync(join(packed, file)))) return [`another ${file} was judged than is packed`];
      return Array.isArray(own.findings)
        ? own.findings.map((finding) => `${file}: ${String(finding)}`)
        : [`${file} has no result`];
    }),
  ];
}
