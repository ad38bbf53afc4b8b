/** Commands, options, settings, scripts and files named in the documents exist. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createConformance } from '../conformance/program.ts';
import { createProgram } from '../src/cli/program.ts';
import type { Terminal } from '../src/lib/terminal.ts';
import { settingGroups } from '../src/settings/read-config.ts';

const ROOT = join(import.meta.dirname, '..');
// The changelog and the decisions also name things of the past.
const documents = globSync(['*.md', 'docs/*.md', 'docs/compliance/*.md'], { cwd: ROOT }).filter(
  (path) => path !== 'CHANGELOG.md',
);
const texts = documents.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')] as const);

/** The lines of code blocks, continued ones joined, and the code within sentences. */
function codeOf(text: string): string[] {
  const blocks = [...text.matchAll(/^```[^\n]*\n([\s\S]*?)^```/gm), ...text.matchAll(/((?:^ {4}\S.*\n)+)/gm)];
  const lines = blocks.flatMap(([, block = '']) => block.replace(/\\\n\s*/g, '').split('\n'));
  const prose = text.replace(/^```[\s\S]*?^```/gm, '');
  return [...lines, ...[...prose.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)].map((line) => line.trim());
}

const code = texts.flatMap(([from, text]) => codeOf(text).map((line) => ({ from, line })));

const terminal: Terminal = {
  env: {},
  stdin: new PassThrough(),
  stdout: new PassThrough(),
  stderr: new PassThrough(),
  exit: () => undefined,
  once() {
    return this;
  },
  off() {
    return this;
  },
};
const service = createProgram(terminal);
const conformance = createConformance(terminal);
const GROUPS = service.commands.filter(({ commands }) => commands.length > 0).map((command) => command.name());

interface Call {
  readonly program: Command;
  readonly words: readonly string[];
}

/** The program called on a line, and its arguments: `koppelvlak feed publish FILE`, or within a sentence `feed publish`. */
function callOf(line: string): Call | undefined {
  const suite = /(?:koppelvlak-conformance|npm run (?:--silent )?conformance --) ([a-z-].*)$/.exec(line)?.[1];
  const named = /(?:^|[\s/])koppelvlak(?: --)? ((?!serve\.|conformance\/)[a-z-].*)$/.exec(line)?.[1];
  const short = new RegExp(`^(?:${GROUPS.join('|')}) [a-z][a-z-]+(?: .*)?$`).test(line) ? line : undefined;
  const text = suite ?? named ?? short;
  if (text === undefined) return undefined;
  return { program: suite === undefined ? service : conformance, words: text.replace(/\s#.*$/, '').split(/\s+/) };
}

/** The command that the words name, or the word that is not a command. */
function resolve({ program, words }: Call): Command | string {
  let command = program;
  for (const word of words) {
    if (command.commands.length === 0 || word.startsWith('-')) break;
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined) return word;
    command = next;
  }
  return command;
}

describe('the documents name', () => {
  const calls = code.flatMap(({ from, line }) => {
    const call = callOf(line);
    return call === undefined ? [] : [{ from, line, call }];
  });

  it('commands that exist', () => {
    expect(calls.length).toBeGreaterThan(60);
    const unknown = calls.filter(({ call }) => typeof resolve(call) === 'string');
    expect(unknown.map(({ from, line }) => `${from}: ${line}`)).toEqual([]);
  });

  it('options that their commands have', () => {
    const faults = calls.flatMap(({ from, line, call }) => {
      const command = resolve(call);
      if (typeof command === 'string') return [];
      const own = [...command.options, ...call.program.options].flatMap(({ long, short }) => [long, short]);
      const known = new Set<unknown>([...own, '--help', '-h']);
      const given = call.words.filter((word) => /^--?[a-z]/.test(word)).map((word) => word.replace(/[=`,;.].*$/, ''));
      return given.filter((option) => !known.has(option)).map((option) => `${from}: ${option} of ${line}`);
    });
    expect(faults).toEqual([]);
  });

  it('settings that exist', () => {
    const NO_SETTINGS = [
      // Variables of the tests.
      ...['TEST_CITUS_URL', 'TEST_CITUS_KILL', 'TEST_CITUS_START'],
      'ADR_RULESET',
      'ON_ERROR_STOP',
      'SECURITY_HEADERS',
      'NODE_EXTRA_CA_CERTS',
      ...['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_CERTIFICATE', 'OTEL_EXPORTER_OTLP_COMPRESSION'],
      ...['POSTGRES_PASSWORD', 'OWNER_PASSWORD', 'SERVICE_PASSWORD', 'RETENTION_PASSWORD', 'KEYS_DIRECTORY'],
      ...['OWNER_URL', 'ADMIN_URL'],
      'KOPPELVLAK_APPLICATIE_SECRET',
    ];
    const all = Object.values(settingGroups).flatMap((group) => Object.values(group));
    const known = new Set([...all.map(({ variable }) => variable), ...NO_SETTINGS]);
    const secret = new Set(all.filter((setting) => setting.secret).map(({ variable }) => `${variable}_FILE`));
    const named = code.flatMap(({ from, line }) =>
      [...line.matchAll(/(?<![\w/…-])(?!ERR(?:OR)?_|PROTOCOL_)[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w…])/g)].map(
        ([name]) => ({ from, name }),
      ),
    );
    expect(named.length).toBeGreaterThan(150);
    expect(named.filter(({ name }) => !known.has(name) && !secret.has(name))).toEqual([]);
  });

  it('scripts of package.json, benchmarks and drills that exist', () => {
    const { scripts }: { scripts: object } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const programs = globSync('bench/*.ts', { cwd: ROOT }).map((file) => basename(file, '.ts'));
    const named = code.flatMap(({ from, line }) =>
      [...line.matchAll(/npm run (?:--silent )?([a-z][\w:-]*)(?:(?: --)? ([a-z][a-z-]*))?/g)].map(
        ([, script = '', name]) => ({ from, script, name }),
      ),
    );
    expect(named.length).toBeGreaterThan(40);
    const gone = named.filter(({ script, name }) => {
      if (!Object.keys(scripts).includes(script)) return true;
      if (name === undefined || (script !== 'bench' && script !== 'drill')) return false;
      return !programs.includes(script === 'drill' ? `drill-${name}` : name);
    });
    expect(gone).toEqual([]);
  });

  it('files that exist', () => {
    const directories = 'src|conformance|deploy|scripts|openapi|examples|migrations|docs|test|bench|tools|\\.ci';
    const path = new RegExp(`(?<![\\w/.-])(?:${directories})/[\\w./*@-]*[\\w/]`, 'g');
    const named = code.flatMap(({ from, line }) => [...line.matchAll(path)].map(([found]) => ({ from, found })));
    expect(named.length).toBeGreaterThan(100);
    const gone = named.filter(({ found }) =>
      found.includes('*') ? globSync(found, { cwd: ROOT }).length === 0 : !existsSync(join(ROOT, found)),
    );
    expect(gone).toEqual([]);
  });
});
