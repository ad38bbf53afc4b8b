/** Lists and their descriptions agree: routes and contracts, settings, problems, dependencies. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { picture, readImports } from '../scripts/architecture.ts';
import { withPart } from '../scripts/generated-part.ts';
import { casesTable, settingsTable } from '../scripts/reference-tables.ts';
import { buildApp } from '../src/app.ts';
import { createAuthority } from '../src/lib/authority/authority.ts';
import { createLogger } from '../src/lib/log.ts';
import { listOperations, readOpenapi } from '../src/lib/openapi-document.ts';
import { platformProblems } from '../src/plugins/problems.ts';
import type { RoutePolicy } from '../src/plugins/routes.ts';
import { shownValue } from '../src/settings/kinds.ts';
import { readConfig, settingGroups } from '../src/settings/read-config.ts';
import { createDatabase, type TestDatabase } from './support/database.ts';
import { LOG_KEY } from './support/server.ts';

const ROOT = join(import.meta.dirname, '..');
const CONTRACTS = {
  '/shv/v1': ['gegevens'],
  '/vs/v1': ['gegevens'],
  '/verwerkingenlog/v1': ['verwerkingenlog'],
  '/ldv/v1': ['ldv'],
  '/ori/v1': ['raadsfeed'],
};

/** Compares a page with its generated parts; `npm run docs` writes it instead. */
async function expectParts(document: string, parts: Readonly<Record<string, string>>): Promise<void> {
  const path = join(ROOT, 'docs', document);
  let page = await readFile(path, 'utf8');
  for (const [name, text] of Object.entries(parts)) page = withPart(page, name, text);
  await expect(page, 'run `npm run docs`').toMatchFileSnapshot(path);
}

let dir: string;
let database: TestDatabase;
let app: Awaited<ReturnType<typeof buildApp>>;
let routes: readonly RoutePolicy[];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'koppelvlak-catalogues-'));
  const authority = await createAuthority({ dir, port: 0 });
  await authority.close();
  database = await createDatabase();
  const env = {
    DATABASE_URL: database.url,
    OAUTH_ISSUER: 'http://127.0.0.1:9',
    OAUTH_AUDIENCE: 'koppelvlak',
    OAUTH_JWKS_URL: 'http://127.0.0.1:9/jwks',
    GEGEVENS_TRUST_ANCHORS: authority.root,
    GEGEVENS_SIGNING_KEY: authority.supplier.key,
    GEGEVENS_SIGNING_CHAIN: authority.supplier.chain,
    RAADSFEED_REGISTER: 'true',
    VERWERKINGENLOG_KEY: LOG_KEY,
  };
  // A busy machine must not cause 503 here.
  const config = readConfig(env, 'serve', { server: { overloadEventLoopDelayMs: 0 } });
  app = await buildApp({ config, log: createLogger('silent') });
  await app.ready();
  routes = app.routePolicies();
});
afterAll(async () => {
  await app.close();
  await database.drop();
  await rm(dir, { recursive: true, force: true });
});

describe('the routes', () => {
  it.each(Object.entries(CONTRACTS))('under %s are those of its contracts, with their access', (prefix, contracts) => {
    const operations = contracts.flatMap((contract) =>
      listOperations(readOpenapi(new URL(`../openapi/${contract}.yaml`, import.meta.url))),
    );
    const served = routes.filter(
      ({ url, operationId, method }) => url.startsWith(`${prefix}/`) && operationId !== undefined && method !== 'HEAD',
    );
    const key = (method: string, path: string): string =>
      `${method} ${path === '/' ? '' : path.replaceAll(/\{(\w+)\}/g, ':$1')}`;
    const byContract = operations.map(({ method, path, operationId, scopes }) => [
      key(method, path),
      operationId,
      scopes?.join(' ') ?? 'public',
    ]);
    const all = routes.filter(
      ({ url, operationId, method }) =>
        operationId !== undefined && method !== 'HEAD' && (url === prefix || url.startsWith(`${prefix}/`)),
    );
    const byServer = all.map(({ method, url, operationId, scopes, public: isPublic }) => [
      key(method, url.slice(prefix.length)).replace(/\/$/, ''),
      operationId,
      isPublic ? 'public' : scopes?.join(' '),
    ]);
    expect(served.length).toBeGreaterThan(0);
    expect(new Set(byServer.map(String))).toEqual(new Set(byContract.map(String)));
  });

  it.each(Object.entries(CONTRACTS))('under %s come with their contract', async (prefix, contracts) => {
    for (const contract of contracts) {
      const url = `${prefix}/openapi.json`;
      const { servers: _ours, ...served } = (await app.inject({ url })).json<Record<string, unknown>>();
      const { servers: _theirs, ...written } = readOpenapi(new URL(`../openapi/${contract}.yaml`, import.meta.url));
      // A variant's contract has its own wording and model; the test above compares the operations.
      if (contract === 'gegevens') expect(Object.keys(served)).toEqual(Object.keys(written));
      else expect(served).toEqual(written);
    }
  });

  it('that are in no contract are public, and only pages about the service itself', () => {
    const others = routes.filter(({ operationId, method }) => operationId === undefined && method !== 'HEAD');
    expect(others.length).toBeGreaterThan(0);
    for (const route of others) {
      expect(route.public, `${route.method} ${route.url}`).toBe(true);
      expect(route.method).toBe('GET');
      expect(route.url).toMatch(
        /^(\/|\/robots\.txt|\/stijl-:hash\.css|\/favicon(-[\w-]+)?\.(ico|svg)|\/problems\/:slug|\/\.well-known\/(council|ori)-feed|(\/[a-z]+)+\/v1\/(openapi\.json|docs.*))$/,
      );
    }
  });

  it('that change something or return personal data require a scope', () => {
    for (const { method, url, public: isPublic, scopes } of routes) {
      if (isPublic) expect(['GET', 'HEAD'], url).toContain(method);
      else expect(scopes?.length, url).toBeGreaterThan(0);
      if (/^\/(shv|vs|verwerkingenlog|ldv)\//.test(url) && !/\/(docs|openapi\.json)/.test(url))
        expect(isPublic, url).toBe(false);
    }
  });
});

describe('the problems', () => {
  it('have one meaning each, and a page that describes it', async () => {
    const { problemKinds: kinds } = app;
    expect(kinds.length).toBeGreaterThan(Object.keys(platformProblems).length);
    const meanings = new Map<string, string>();
    for (const { slug, status, title, explanation } of kinds) {
      expect(slug).toMatch(/^[a-z][a-z-]*[a-z]$/);
      expect(status, slug).toBeGreaterThanOrEqual(400);
      expect(title.length, slug).toBeGreaterThan(5);
      expect(explanation, slug).toMatch(/\.$/);
      const meaning = `${status} ${title}`;
      expect(meanings.get(slug) ?? meaning, slug).toBe(meaning);
      meanings.set(slug, meaning);
    }
    const address = await app.listen({ port: 0, host: '127.0.0.1' });
    for (const [slug, meaning] of meanings) {
      const page = await fetch(`${address}/problems/${slug}`);
      expect(page.status, slug).toBe(200);
      expect(await page.text(), slug).toContain(meaning);
    }
  });
});

describe('the cases of the conformance suites', () => {
  it('are listed in docs/conformance.md without differences', async () => {
    await expectParts('conformance.md', { cases: casesTable() });
  });
});

describe('the settings', () => {
  const all = Object.values(settingGroups).flatMap((group) => Object.values(group));

  it('have one variable each, and a description', () => {
    expect(new Set(all.map(({ variable }) => variable)).size).toBe(all.length);
    for (const { variable, description } of all) {
      expect(variable).toMatch(/^[A-Z][A-Z0-9_]+$/);
      expect(description, variable).toMatch(/[.)]$/);
    }
  });

  it('are listed in the tables of docs/settings.md without differences', async () => {
    await expectParts('settings.md', { settings: settingsTable() });
  });

  it('accept their own defaults', () => {
    const defaults = Object.fromEntries(
      all.flatMap(({ variable, fallback }) => {
        const text = shownValue(fallback);
        return text === '' ? [] : [[variable, text]];
      }),
    );
    expect(readConfig(defaults, 'tool')).toEqual(readConfig({}, 'tool'));
  });
});

describe('the package', () => {
  it('exports existing files, by the names that other applications use', async () => {
    const manifest: { exports: Record<string, string | Record<string, string>> } = JSON.parse(
      await readFile(join(ROOT, 'package.json'), 'utf8'),
    );
    for (const [name, target] of Object.entries(manifest.exports)) {
      const packed = typeof target === 'string' ? target : (target.default ?? '');
      expect(import.meta.resolve(name.replace('.', 'koppelvlak'))).toBe(pathToFileURL(join(ROOT, packed)).href);
      // Packed files are built from the source of the same name.
      const file = packed.replace(/^\.\/dist\/(.+)\.js$/, './src/$1.ts');
      if (typeof target !== 'string') expect(target['koppelvlak-source']).toBe(file);
      expect((await readFile(join(ROOT, file), 'utf8')).length, name).toBeGreaterThan(0);
    }
  });
});

describe('the dependencies', () => {
  it('each have their reason in docs/dependencies.md, and nothing else is listed', async () => {
    const manifest: Record<string, Record<string, string>> = JSON.parse(
      await readFile(join(ROOT, 'package.json'), 'utf8'),
    );
    const used = ['dependencies', 'optionalDependencies', 'devDependencies'].flatMap((kind) =>
      Object.keys(manifest[kind] ?? {}),
    );
    const text = await readFile(join(ROOT, 'docs/dependencies.md'), 'utf8');
    const described = [...text.matchAll(/^- `([^`]+)`: .{10,}$/gm)].map(([, name]) => String(name));
    expect(described.toSorted()).toEqual(used.toSorted());
  });

  it('are pinned to one version each', async () => {
    const manifest: Record<string, Record<string, string>> = JSON.parse(
      await readFile(join(ROOT, 'package.json'), 'utf8'),
    );
    for (const kind of ['dependencies', 'optionalDependencies', 'devDependencies']) {
      for (const [name, version] of Object.entries(manifest[kind] ?? {}))
        expect(version, name).toMatch(/^\d+\.\d+\.\d+[\w.-]*$/);
    }
  });
});

/** Our plugins in order of registration by Fastify, indented below the one that registered them; without timings. */
function pluginTree(): string {
  return app
    .printPlugins()
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', name] = /^([│├└─┬ ]*)([\w/-]+) \d+ ms$/.exec(line) ?? [];
      return name === undefined || indent.length > 6 ? [] : [`    ${' '.repeat(indent.length)}${name}\n`];
    })
    .join('');
}

it('shows the rooms and the plugins in the architecture: otherwise run `npm run docs`', async () => {
  await expectParts('architecture.md', { rooms: picture(readImports()), plugins: pluginTree().trimEnd() });
});
