/**
 * Downloads the client generators and their clients' dependencies for `test/generated-clients/`, which is skipped
 * without them: `npm run client-generators`. It needs Maven, a JDK, Python 3 and Go; none of it is part of the product.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

/** The folder of the generators; `CLIENT_GENERATORS` names another. */
export const GENERATORS = process.env.CLIENT_GENERATORS ?? join(homedir(), '.cache/koppelvlak/client-generators');

const OPENAPI_GENERATOR = 'org.openapitools:openapi-generator-cli:7.25.0';
const JAVA = [
  'com.fasterxml.jackson.core:jackson-annotations:2.21',
  'com.fasterxml.jackson.core:jackson-core:2.21.5',
  'com.fasterxml.jackson.core:jackson-databind:2.21.5',
  'com.fasterxml.jackson.datatype:jackson-datatype-jsr310:2.21.5',
  'org.openapitools:jackson-databind-nullable:0.2.11',
  'com.google.code.findbugs:jsr305:3.0.2',
  'jakarta.annotation:jakarta.annotation-api:1.3.5',
];
const PYTHON = ['openapi-python-client==0.29.1', 'pydantic==2.14.4', 'python-dateutil==2.9.0', 'urllib3==2.8.0'];
const GO = ['golang.org/x/oauth2@v0.38.0', 'gopkg.in/validator.v2@v2.0.1'];

/** Absolute paths in the folder. */
export const tools = {
  jar: join(GENERATORS, 'openapi-generator-cli.jar'),
  javaLibraries: join(GENERATORS, 'java'),
  python: join(GENERATORS, 'venv/bin/python'),
  pythonClient: join(GENERATORS, 'venv/bin/openapi-python-client'),
  goModule: join(GENERATORS, 'go'),
  goModules: join(GENERATORS, 'go-modules'),
  /** Written last, to mark completion. */
  ready: join(GENERATORS, 'ready'),
};

export const isReady = (): boolean => existsSync(tools.ready);

function run(command: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}): void {
  execFileSync(command, args, { cwd: tools.goModule, stdio: 'inherit', env: { ...process.env, ...environment } });
}

function fetchAll(): void {
  mkdirSync(tools.goModule, { recursive: true });
  const copy = (artifact: string, folder: string, ...more: readonly string[]): void =>
    run('mvn', ['-q', '-B', 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`, ...more]);
  copy(OPENAPI_GENERATOR, GENERATORS, '-Dmdep.stripVersion=true');
  for (const artifact of JAVA) copy(artifact, tools.javaLibraries);
  run('python3', ['-m', 'venv', join(GENERATORS, 'venv')]);
  run(tools.python, ['-m', 'pip', 'install', '--quiet', ...PYTHON]);
  if (!existsSync(join(tools.goModule, 'go.mod'))) run('go', ['mod', 'init', 'clients']);
  run('go', ['get', ...GO], { GOMODCACHE: tools.goModules, GOFLAGS: '-modcacherw' });
  writeFileSync(tools.ready, '');
}

if (import.meta.main) fetchAll();
