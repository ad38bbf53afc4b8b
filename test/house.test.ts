/** The rules of docs/architecture.md, read from the source itself. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const AREAS = ['gegevens', 'verwerkingenlog', 'raadsfeed'];

interface Source {
  /** From the root of the repository: `src/http/server.ts`. */
  readonly path: string;
  readonly text: string;
  /** What it imports of ours, as paths from the root. */
  readonly ours: readonly string[];
  /** What it imports of others: `fastify`, `node:fs`. */
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

const source = read('src/**/*.ts');
const everything = [...source, ...read('{test,bench,scripts,examples}/**/*.ts')];

/** Files under `from` whose imports of ours are not under one of `may`. */
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

describe('the direction of imports', () => {
  it('lets the types of the contracts import nothing', () => {
    expect(strays(/^src\/contracts\//, /^$/)).toEqual([]);
  });

  it('lets the kernel import only the types of a contract, and the embedded Postgres in one file', () => {
    expect(strays(/^src\/kernel\/(?!database\/open-database\.ts)/, /^src\/(kernel|contracts)\//)).toEqual([]);
    const may = /^src\/(kernel\/|embedded-postgres\/(connect|start)\.ts)/;
    expect(strays(/^src\/kernel\/database\/open-database\.ts/, may)).toEqual([]);
  });

  it('lets the embedded Postgres import the logger of the kernel only', () => {
    expect(strays(/^src\/embedded-postgres\//, /^src\/(embedded-postgres\/|kernel\/log\.ts)/)).toEqual([]);
  });

  it('lets the http layer import the kernel only', () => {
    expect(strays(/^src\/http\//, /^src\/(http|kernel)\//)).toEqual([]);
  });

  it('lets the search index import the kernel, and of the feed its domain, store and head', () => {
    expect(
      strays(
        /^src\/raadsfeed\/search\//,
        /^src\/(kernel\/|raadsfeed\/(search|domain|store)\/|raadsfeed\/feed\/head\.ts)/,
      ),
    ).toEqual([]);
  });

  it('lets only the area import the pages', () => {
    expect(strays(/^src\/(?!raadsfeed\/(area\.ts|pages\/))/, /^src\/(?!raadsfeed\/pages\/)/)).toEqual([]);
  });

  it('lets the reader of feeds import the kernel and the domain of the feed only', () => {
    expect(strays(/^src\/feed-client\//, /^src\/(feed-client|kernel|raadsfeed\/domain)\//)).toEqual([]);
  });

  it("lets the proof's tree import nothing of ours, and the proof import http and the kernel only", () => {
    expect(strays(/^src\/proof\/tree\//, /^src\/proof\/tree\//)).toEqual([]);
    const pure = source.filter(({ path }) => path.startsWith('src/proof/tree/'));
    // `Buffer.from('30…')` reads like an import: what is no name of a package does not count.
    const packages = pure.flatMap(({ packages: used }) => used.filter((name) => /^[@a-z]/.test(name)));
    expect(new Set(packages)).toEqual(new Set(['node:crypto']));
    expect(
      strays(/^src\/proof\/record\.ts/, /^src\/(proof\/tree\/|kernel\/(canonical-json|json-value|scheduling)\.ts)/),
    ).toEqual([]);
    expect(strays(/^src\/proof\//, /^src\/(proof|http|kernel)\//)).toEqual([]);
  });

  it('lets the signature library import nothing of ours', () => {
    expect(strays(/^src\/gegevens\/jades\//, /^src\/gegevens\/jades\//)).toEqual([]);
  });

  it.each(AREAS)('lets area %s import only itself, http and the kernel', (area) => {
    expect(
      strays(
        new RegExp(`^src/${area}/`),
        new RegExp(
          `^src/((${area}|http|kernel${area === 'raadsfeed' ? '|feed-client' : ''})/|contracts/(${area}${area === 'verwerkingenlog' ? '|ldv(-lezen)?' : ''})\\.ts$${area === 'raadsfeed' ? '|aggregator/aggregator\\.ts$' : ''})`,
        ),
      ),
    ).toEqual([]);
  });

  it('lets what is offered to DiWoo import the feed that it follows, and no pages or search', () => {
    const may = /^src\/(http|kernel|raadsfeed\/(diwoo|domain|feed|store))\//;
    expect(strays(/^src\/raadsfeed\/diwoo\//, may)).toEqual([]);
    // What decides is pure.
    expect(strays(/^src\/raadsfeed\/diwoo\/place-documents\.ts/, /^src\/raadsfeed\/diwoo\/offer\.ts/)).toEqual([]);
  });

  it('lets the aggregator import the kernel, the reader of feeds, and of the feed what publishes to it', () => {
    const may = /^src\/(aggregator|kernel|feed-client|raadsfeed\/(domain|writer|store))\//;
    expect(strays(/^src\/aggregator\//, may)).toEqual([]);
    // It is started where the feed is: nothing else of the feed knows of it.
    expect(strays(/^src\/raadsfeed\/(?!area\.ts)/, /^src\/(?!aggregator\/)/)).toEqual([]);
  });

  it('keeps the stores of the aggregator free of what reads sources', () => {
    const shapes = /source\.ts|resource-key\.ts|supplier\/(source-adapter|coverage)\.ts|notubiz\/call-limiter\.ts/;
    const may = new RegExp(
      `^src/(kernel/|feed-client/|raadsfeed/(domain|store)/|aggregator/(store/|${shapes.source}))`,
    );
    expect(strays(/^src\/aggregator\/store\//, may)).toEqual([]);
  });

  it("keeps a supplier's adapter free of the database and of feeds", () => {
    const may =
      /^src\/(kernel\/(?!database\/)|aggregator\/(notubiz\/|resource-key\.ts|supplier\/(source-adapter|windows)\.ts))/;
    expect(strays(/^src\/aggregator\/notubiz\//, may)).toEqual([]);
  });

  it.each(AREAS)('keeps the stores of %s away from its routes and from http', (area) => {
    const may = new RegExp(`^src/(kernel/|feed-client/|contracts/|${area}/(?!routes/|exchange/|plugin|area\\.ts))`);
    expect(strays(new RegExp(`^src/${area}/store/`), may)).toEqual([]);
  });

  it.each(AREAS)('keeps the domain of %s free of stores, routes and http', (area) => {
    // In area A the domain has three folders: what the models say, how a file is read, and how it is judged.
    const domain = area === 'gegevens' ? '(model|import|check)' : 'domain';
    const may = new RegExp(`^src/(contracts/|kernel/(?!database/)|${area}/(${domain}/|jades/|problems\\.ts))`);
    expect(source.some(({ path }) => new RegExp(`^src/${area}/${domain}/`).test(path))).toBe(true);
    expect(strays(new RegExp(`^src/${area}/${domain}/`), may)).toEqual([]);
  });

  it('lets the models of deliveries know nothing of how a file is read', () => {
    expect(strays(/^src\/gegevens\/model\//, /^src\/(contracts|kernel|gegevens\/model)\//)).toEqual([]);
  });

  it('keeps the pages for citizens to themselves: they read the log as the API does, and nothing of the area needs them', () => {
    const may =
      /^src\/(http|kernel|verwerkingenlog\/(inzage|domain|store))\/|verwerkingenlog\/(processing-log|routes\/person-page)\.ts$/;
    expect(strays(/^src\/verwerkingenlog\/inzage\//, may)).toEqual([]);
    expect(strays(/^src\/verwerkingenlog\/(?!inzage\/|area\.ts)/, /^src\/(?!verwerkingenlog\/inzage\/)/)).toEqual([]);
    expect(users(/^src\/(?!verwerkingenlog\/inzage\/)/, /^(openid-client|@fastify\/cookie)/)).toEqual([]);
  });

  it('lets the catalogues of problems import the kind of a problem only', () => {
    expect(strays(/^src\/\w+\/problems\.ts$/, /^src\/kernel\/problem\.ts$/)).toEqual([]);
  });

  it('lets the package for other applications import the kernel, the contracts, the writer of the feed and its seal only', () => {
    // Publishing to the feed is the area's own writer, made available: it needs no server. Nor does sealing, which signs nothing.
    const may = /^src\/((client|kernel|contracts|raadsfeed\/(domain|store|writer))\/|proof\/(keys|writer)\.ts$)/;
    expect(strays(/^src\/client\//, may)).toEqual([]);
  });

  it('keeps the server free of areas by name, and of the command line', () => {
    expect(strays(/^src\/http\/server\.ts$/, /^src\/(http|kernel)\//)).toEqual([]);
    expect(strays(/^src\/[^/]+\.ts$/, /^src\/(?!cli\/|demo\/)/)).toEqual([]);
  });

  it('lets nothing import the demo but the command line', () => {
    expect(strays(/^src\/(?!cli\/|demo\/)/, /^src\/(?!demo\/)/)).toEqual([]);
  });

  it('lets nothing import the command line', () => {
    expect(strays(/^src\/(?!cli\/)/, /^src\/(?!cli\/)/)).toEqual([]);
  });

  it('lets only the tracing import OpenTelemetry, and loads that only when it is asked for', () => {
    const tracer = /^(@opentelemetry\/|@fastify\/otel$)/;
    expect(users(/^src\/(?!tracing\.ts)/, tracer)).toEqual([]);
    expect(users(/^src\/tracing\.ts/, tracer)).not.toEqual([]);
    expect(strays(/^src\/tracing\.ts/, /^src\/(kernel|http)\//)).toEqual([]);
    const importers = source.filter(({ ours }) => ours.includes('src/tracing.ts'));
    expect(importers.map(({ path }) => path)).toEqual(['src/serve.ts']);
    const imports = importers[0]?.text.match(/^.*'\.\/tracing\.ts'.*$/gm) ?? [];
    expect(imports.filter((line) => !/^import type |await import\(/.test(line))).toEqual([]);
  });

  it('keeps test support out of the source', () => {
    expect(strays(/^src\//, /^(src\/|package\.json$)/)).toEqual([]);
  });

  it('keeps web and database libraries out of domains, and web libraries out of kernel and stores', () => {
    const domains = /\/domain\/|^src\/gegevens\/(model|import|check)\//;
    expect(users(domains, /^(fastify|@fastify\/|pg|undici)/)).toEqual([]);
    expect(users(/^src\/kernel\/|\/store\//, /^(fastify|@fastify\/)/)).toEqual([]);
  });
});

describe('one place for each thing', () => {
  it('reads the environment in the configuration only', () => {
    const readers = source.filter(
      ({ path, text }) => !path.startsWith('src/kernel/config/') && /process\.env\b/.test(text),
    );
    expect(readers.map(({ path }) => path)).toEqual([]);
  });

  it('writes to the console nowhere', () => {
    expect(source.filter(({ text }) => /\bconsole\./.test(text)).map(({ path }) => path)).toEqual([]);
  });

  it('writes error bodies in the problem reply only', () => {
    const writers = source.filter(
      ({ path, text }) => path.startsWith('src/') && text.includes("'application/problem+json"),
    );
    expect(writers.map(({ path }) => path).filter((path) => !path.startsWith('src/http/'))).toEqual([]);
  });

  it('keeps statements of SQL out of routes, domains and the http layer', () => {
    const statement = /`\s*(select|insert into|update|delete from)\s/i;
    const found = source.filter(
      ({ path, text }) =>
        /\/(routes|domain|inzage)\/|^src\/(http|gegevens\/(model|import|check|exchange))\//.test(path) &&
        statement.test(text),
    );
    expect(found.map(({ path }) => path)).toEqual([]);
  });
});

describe('form', () => {
  it('keeps files within 400 lines', () => {
    // But for what is generated.
    const written = everything.filter(({ path }) => !path.startsWith('src/contracts/'));
    const long = written.filter(({ text }) => text.split('\n').length - 1 > 400);
    expect(long.map(({ path, text }) => `${path}: ${text.split('\n').length - 1}`)).toEqual([]);
  });

  it('names files in kebab-case, and none for what belongs together only by chance', () => {
    const odd = everything.filter(({ path }) => !/^([a-z0-9-]+\/)*[a-z0-9-]+((\.slow)?\.test|\.d)?\.ts$/.test(path));
    expect(odd.map(({ path }) => path)).toEqual([]);
    const chance = source.filter(({ path }) => /\/(utils?|helpers?|misc|common|index)\.ts$/.test(path));
    expect(chance.map(({ path }) => path)).toEqual([]);
  });

  it('has no way round the compiler or the linter, and nothing left to be done', () => {
    // In pieces, so that this file does not find itself.
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
