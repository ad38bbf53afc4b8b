/** The linter's report on each contract by the Dutch API Design Rules, with the project's exceptions. */
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import process from 'node:process';
import { parse } from 'yaml';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { runToEnd } from '../run.ts';
import { digestOf, readJson } from './files.ts';
import { type Report, records } from './report.ts';

const RULES = 'openapi/ruleset/adr.yaml';

export const designRules: Report = {
  file: 'design-rules.json',
  make: ({ sources }) => ({
    standard: Object(JSON.parse(readFileSync(join(sources, 'openapi/ruleset/official.json'), 'utf8'))).standard,
    // The project's rules, with the exceptions.
    ruleset: { file: RULES, sha256: digestOf(join(sources, RULES)) },
    official: checkOfficial(sources),
    exceptions: records(parse(readFileSync(join(sources, '.spectral.yaml'), 'utf8')).overrides).map(
      ({ files, rules }) => ({
        where: Array.isArray(files) ? files.join(', ') : '',
        rules: Object.keys(Object(rules)),
      }),
    ),
    contracts: checkContracts(sources),
  }),
  faults: ({ folder, sources }) => {
    const report = readJson(folder, 'design-rules.json');
    if (!isRecord(report) || !Array.isArray(report.contracts)) return ['design-rules.json: has no list of contracts'];
    const contracts = records(report.contracts);
    const files = globSync('openapi/*.yaml', { cwd: sources });
    const unknown = contracts.map(({ file }) => String(file)).filter((file) => !files.includes(file));
    const isRefused = isRecord(report.official) && report.official.passed !== true;
    return [
      ...(isRefused ? ['the official ruleset was not passed'] : []),
      ...unknown.map((file) => `${file} is not in the package`),
      ...files.flatMap((file) => {
        const own = contracts.find((one) => one.file === file);
        if (own === undefined) return [`${file} was not judged`];
        if (own.sha256 !== digestOf(join(sources, file))) return [`the judged ${file} differs from the packed one`];
        if (!Array.isArray(own.findings)) return [`${file} has no result`];
        return own.findings.map((finding) => `${file}: ${String(finding)}`);
      }),
    ].map((fault) => `design-rules.json: ${fault}`);
  },
};

/** @throws {Error} when the linter cannot run */
function checkContracts(root: string): object[] {
  const files = globSync('openapi/*.yaml', { cwd: root }).sort();
  const { stdout, stderr } = runToEnd('spectral', ['lint', '--quiet', '--format=json', ...files], root);
  const found: unknown = JSON.parse(stdout === '' ? 'null' : stdout);
  if (!Array.isArray(found)) throw new Error(`spectral lint: ${stderr.trim()}`);
  return files.map((file) => ({
    file,
    sha256: digestOf(join(root, file)),
    findings: records(found)
      // Below a warning are hints.
      .filter(({ severity, source }) => Number(severity) <= 1 && basename(String(source)) === basename(file))
      .map(({ code, path, message }) => {
        const place = Array.isArray(path) ? path.join('/') : '';
        return `${String(code)} at ${place}: ${String(message)}`;
      }),
  }));
}

/**
 * The ruleset of the standard's owner, where `ADR_RULESET` names a copy: its digest, and whether every contract passed.
 */
function checkOfficial(root: string): object | string {
  const { ADR_RULESET: file } = process.env;
  if (file === undefined || file === '') return 'not run: ADR_RULESET names no copy';
  const { status } = runToEnd(process.execPath, ['scripts/official-ruleset.ts', file], root);
  return { sha256: digestOf(file), passed: status === 0 };
}
