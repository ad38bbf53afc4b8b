/** The rules of docs/architecture.md, read from the source itself. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { floorOf, readImports, roomOf, upwardImports } from '../scripts/architecture.ts';
import { TEST_SCRIPTS } from '../scripts/evidence/tests.ts';
import { SUPPLIERS } from '../src/raadsfeed/aggregator/source.ts';
import { LONGEST } from './support/longest-first.ts';

const ROOT = join(import.meta.dirname, '..');
const AREAS = ['gegevens', 'verwerkingenlog', 'raadsfeed'];

interface Source {
  /** From the root of the repository: `src/plugins/contract.ts`. */
  readonly path: string;
  readonly text: string;
  /** Our modules that it imports, as paths from the root. */
  readonly ours: readonly string[];
  /** External modules that it imports: `fastify`, `node:fs`. */
  readonly packages: readonly string[];
}

function read(pattern: string): Source[] {
  return globSync(pattern, { cwd: ROOT }).map((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8');
    const specifiers = [...text.matchAll(/\b(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, specifier]) =>
      String(specifier),
    );
    const ours = specifiers
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => relative(ROOT, resolve(ROOT, dirname(path), specifier)));
    return { path, text, ours, packages: specifiers.filter((specifier) => !specifier.startsWith('.')) };
  });
}

const isTest = (path: string): boolean => path.startsWith('conformance/test/');
const programs = read('{src,conformance}/**/*.ts');
const source = programs.filter(({ path }) => !isTest(path));
const everything = [...programs, ...read('{test,bench,scripts,examples}/**/*.ts')];

/** Files under `from` that import our modules from outside `may`. */
function strays(from: RegExp, may: RegExp): string[] {
  return source
    .filter(({ path }) => from.test(path))
    .flatMap(({ path, ours }) => ours.filter((target) => !may.test(target)).map((target) => `${path} -> ${target}`));
}

/** Files under `from` that import one of these packages. */
function users(from: RegExp, packages: RegExp): string[] {
  return source
    .filter(({ path }) => from.test(path))
    .flatMap(({ path, packages: used }) =>
      used.filter((name) => packages.test(name)).map((name) => `${path} -> ${name}`),
    );
}

it('reads imports of every form', () => {
  expect(source.length).toBeGreaterThan(50);
  const cli = source.find(({ path }) => path === 'src/cli/service.ts');
  expect(cli?.ours).toContain('src/demo/run-demo.ts');
  expect(cli?.packages).toContain('commander');
});

describe('the rooms of the source', () => {
  it('import downward only', () => {
    expect(upwardImports(readImports()).map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
  });

  it('each have a floor', () => {
    expect(source.map(({ path }) => path).filter((path) => floorOf(roomOf(path)) < 0)).toEqual([]);
  });
});

describe('the direction of imports', () => {
  it('lets libraries and the conformance suites use no Fastify and no Postgres', () => {
    expect(users(/^(src\/lib|conformance)\//, /^(fastify|@fastify\/|pg)/)).toEqual([]);
  });

  it('lets the signatures import only themselves and the JSON library', () => {
    expect(strays(/^src\/lib\/jades\//, /^src\/lib\/(jades|json)\//)).toEqual([]);
  });

  it("lets the tree of the proofs import only itself and Node's own packages", () => {
    const pure = source.filter(({ path }) => path.startsWith('src/proof/tlog/'));
    expect(pure.length).toBeGreaterThan(3);
    expect(strays(/^src\/proof\/tlog\//, /^src\/proof\/tlog\//)).toEqual([]);
    // `Buffer.from('30…')` looks like an import: only package names count.
    const packages = pure.flatMap(({ packages: used }) => used.filter((name) => /^[@a-z]/.test(name)));
    expect(new Set(packages)).toEqual(new Set(['node:crypto']));
  });

  it('keeps a leaf of a proof pure', () => {
    expect(strays(/^src\/proof\/record\.ts/, /^src\/(proof\/tlog\/|lib\/(json\/|hmac\.ts|scheduling\.ts))/)).toEqual(
      [],
    );
  });

  it.each(AREAS)('keeps the stores of %s away from its routes, and its domain from both', (area) => {
    expect(
      strays(new RegExp(`^src/${area}/store/`), new RegExp(`^src/(?!plugins/|${area}/(routes|exchange)/)`)),
    ).toEqual([]);
    // In area A the domain has two folders: the models, and reading files.
    const domain = area === 'gegevens' ? '(model|import)' : 'domain';
    const may = new RegExp(
      `^src/(contracts/|lib/|settings/|plugins/processing-|proof/proof-log|${area}/(${domain}/|problems\\.ts|settings\\.ts))`,
    );
    expect(source.some(({ path }) => new RegExp(`^src/${area}/${domain}/`).test(path))).toBe(true);
    expect(strays(new RegExp(`^src/${area}/${domain}/`), may)).toEqual([]);
  });

  it('keeps the models of deliveries free of file reading', () => {
    expect(strays(/^src\/gegevens\/model\//, /^src\/(contracts|settings|lib|gegevens\/(model|settings))/)).toEqual([]);
  });

  it('lets the catalogues of problems import the problem type only', () => {
    expect(strays(/^src\/\w+\/problems\.ts$/, /^src\/lib\/problem\.ts$/)).toEqual([]);
  });

  it('lets the package for other applications import libraries, contracts, and the writer of the feed only', () => {
    // Publishing to the feed uses the area's own writer, which needs no server.
    const may =
      /^src\/(client|settings|database|plugins\/processing-|proof|lib|contracts|raadsfeed\/(domain|store|writer))/;
    expect(strays(/^src\/client\//, may)).toEqual([]);
  });

  it('keeps the search index of the pages free of pages', () => {
    const may =
      /^src\/(settings\/|database\/|lib\/|raadsfeed\/(pages\/search\/|follow-index|(domain|store)\/|feed\/head\.ts))/;
    expect(strays(/^src\/raadsfeed\/pages\/search\//, may)).toEqual([]);
  });

  it.each(Object.keys(SUPPLIERS))(
    'keeps the adapter of %s free of the database, of feeds and of other suppliers',
    (name) => {
      // The suppliers' shared code, except what reads and writes the database.
      const shared = String.raw`source\.ts|resource-key\.ts|supplier/(?!publish-window|read-supplier)[a-z-]+\.ts`;
      const may = new RegExp(`^src/(settings/|lib/|raadsfeed/aggregator/(${name}/|${shared}))`);
      expect(strays(new RegExp(`^src/raadsfeed/aggregator/${name}/`), may)).toEqual([]);
    },
  );

  it('names every plugin, and its dependencies', () => {
    const plugins = source.flatMap(({ path, text }) =>
      text
        .split(/= fp(?:<\w+>)?\(/)
        .slice(1)
        .map((rest) => ({ path, rest })),
    );
    expect(plugins.length).toBeGreaterThan(20);
    const nameless = plugins.filter(({ rest }) => !/\{\s*name: '[\w-]+'/.test(rest)).map(({ path }) => path);
    expect(nameless).toEqual([]);
    const alone = ['service', 'connections', 'operations', 'routes', 'json-body', 'verwerkingsheaders'];
    const needing = plugins.filter(({ rest }) => !/dependencies: \[/.test(rest));
    const names = needing.map(({ rest }) => String(/\{\s*name: '([\w-]+)'/.exec(rest)?.[1]));
    expect(names.filter((name) => !alone.includes(name))).toEqual([]);
  });

  it('keeps test support out of the source', () => {
    expect(strays(/^src\//, /^(src\/|package\.json$)/)).toEqual([]);
  });

  it('keeps web and database libraries out of domains, and web libraries out of stores', () => {
    const domains = /\/domain\/|^src\/gegevens\/(model|import)\/|^src\/gegevens\/tools\/check\/(?!check-d)/;
    expect(users(domains, /^(fastify|@fastify\/|pg|undici)/)).toEqual([]);
    expect(users(/\/store\//, /^(fastify|@fastify\/)/)).toEqual([]);
  });

  it('lets only the tracing plugin import OpenTelemetry, which is loaded only when an operator enables traces', () => {
    const tracer = /^(@opentelemetry\/|@fastify\/otel$)/;
    expect(users(/^src\/(?!plugins\/tracing\/plugin\.ts)/, tracer)).toEqual([]);
    expect(users(/^src\/plugins\/tracing\/plugin\.ts/, tracer)).not.toEqual([]);
  });

  it('signs people in on the pages for citizens only', () => {
    expect(users(/^src\/(?!verwerkingenlog\/inzage\/)/, /^(openid-client|@fastify\/cookie)/)).toEqual([]);
  });
});

describe('one place for each thing', () => {
  it('reads the environment in the configuration only', () => {
    const readers = source.filter(({ path, text }) => !path.startsWith('src/settings/') && /process\.env\b/.test(text));
    expect(readers.map(({ path }) => path)).toEqual([]);
  });

  it('writes to the console nowhere', () => {
    expect(source.filter(({ text }) => /\bconsole\./.test(text)).map(({ path }) => path)).toEqual([]);
  });

  it('writes error bodies in the problem reply only', () => {
    const writers = source.filter(
      ({ path, text }) => path.startsWith('src/') && text.includes("'application/problem+json"),
    );
    const others = writers.filter(({ path }) => !path.startsWith('src/plugins/'));
    expect(others.map(({ path }) => path)).toEqual([]);
  });

  it('keeps SQL statements out of routes, domains and the shared plugins', () => {
    const statement = /`\s*(select|insert into|update|delete from)\s/i;
    const found = source.filter(
      ({ path, text }) =>
        /\/(routes|domain|inzage)\/(?!store\/)|^src\/(plugins|lib|gegevens\/(model|import|exchange))\//.test(path) &&
        statement.test(text),
    );
    expect(found.map(({ path }) => path)).toEqual([]);
  });
});

describe('form', () => {
  it('begins its slow tests with files that exist', () => {
    expect(LONGEST.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('runs the tests of every project for the evidence of a release', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const ran = TEST_SCRIPTS.flatMap((name) => [...scripts[name].matchAll(/--project (\w+)/g)]);
    const projects = readFileSync(join(ROOT, 'vitest.config.ts'), 'utf8').matchAll(/name: '(\w+)'/g);
    const names = (found: Iterable<RegExpMatchArray>): string[] =>
      [...found].map(([, name]) => String(name)).toSorted();
    expect(names(ran)).toEqual(names(projects));
  });

  it('keeps files within 400 lines', () => {
    // Except generated ones.
    const written = everything.filter(({ path }) => !path.startsWith('src/contracts/'));
    const long = written.filter(({ text }) => text.split('\n').length - 1 > 400);
    expect(long.map(({ path, text }) => `${path}: ${text.split('\n').length - 1}`)).toEqual([]);
  });

  it('names files in kebab-case, and none as a catch-all', () => {
    const odd = everything.filter(
      ({ path }) => !/^([a-z0-9-]+\/)*[a-z0-9-]+((\.(slow|release|mutants))?\.test|\.d)?\.ts$/.test(path),
    );
    expect(odd.map(({ path }) => path)).toEqual([]);
    const chance = source.filter(({ path }) => /\/(utils?|helpers?|misc|common|index)\.ts$/.test(path));
    expect(chance.map(({ path }) => path)).toEqual([]);
  });

  it('has no suppressions of the compiler or linter, and no to-dos', () => {
    // Split, so that this file does not match itself.
    const marks = ['@ts', '-|biome', '-ignore|eslint', '-disable|\\b(TO', 'DO|FIX', 'ME|XX', 'X|HA', 'CK)\\b'].join('');
    const found = everything.filter(({ text }) => new RegExp(marks).test(text)).map(({ path }) => path);
    expect(found).toEqual([]);
  });

  it('overrides no type check: the linter refuses `any` and a non-null `!`, and no cast goes over `unknown`', () => {
    const linter = readFileSync(join(ROOT, 'biome.json'), 'utf8');
    for (const rule of ['noExplicitAny', 'noNonNullAssertion', 'noConsole'])
      expect(linter).toContain(`"${rule}": "error"`);
    const casts = new RegExp('\\bas (unknown as|an' + 'y)\\b');
    expect(everything.filter(({ text }) => casts.test(text)).map(({ path }) => path)).toEqual([]);
  });

  it('has no test that is switched off', () => {
    const off = new RegExp(`\\b(it|test|describe)\\.(only|${'sk' + 'ip'}|todo|fails)\\b`);
    expect(everything.filter(({ text }) => off.test(text)).map(({ path }) => path)).toEqual([]);
  });

  it('exports by name', () => {
    const nameless = source.filter(({ text }) => /^export default\b/m.test(text));
    expect(nameless.map(({ path }) => path)).toEqual([]);
  });
});
