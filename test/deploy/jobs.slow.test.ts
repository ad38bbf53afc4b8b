/** Each job of each deployment runs with only the environment from its file: without proof logs, and with them. */
import { spawnSync } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { type EmbeddedPostgres, startEmbedded } from '../../src/embedded-postgres/start.ts';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { createLogger } from '../../src/lib/log.ts';
import { run as runStatements } from '../embedded-postgres/support.ts';
import { databaseHome } from '../support/database-home.ts';
import { callProgram, startProgram } from '../support/program.ts';
import { withDatabase } from '../support/with-database.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string): Promise<string> => readFile(join(ROOT, path), 'utf8');
const hasHelm = spawnSync('helm', ['version']).status === 0;
const PROOF_KEY = Buffer.alloc(32, 7).toString('base64');

/** A command with its environment. */
interface Job {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

interface Deployment {
  readonly service: Job;
  readonly migrate: Job;
  readonly jobs: readonly Job[];
}

let dir: string;
let server: EmbeddedPostgres;
let secrets: Readonly<Record<string, string>>;

const login = (name: string): string =>
  withDatabase(server.url, 'koppelvlak').replace('user=koppelvlak', `user=${name}`);

beforeAll(async () => {
  dir = await databaseHome();
  server = await startEmbedded({ dir, log: createLogger('silent'), settings: { fsync: 'off' } });
  const sealing = await callProgram(['proof', 'key', '--sealing'], { PROOF_KEY });
  secrets = {
    DATABASE_URL: login('koppelvlak_service'),
    DATABASE_MIGRATION_URL: login('koppelvlak_eigenaar'),
    DATABASE_PRUNE_URL: login('koppelvlak_retentie'),
    VERWERKINGENLOG_KEY: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
    PROOF_KEY,
    PROOF_SEALING_KEY: sealing.stdout.trim().split('=').slice(1).join('=') || sealing.stdout.trim(),
  };
});
afterAll(async () => {
  await server?.stop();
  await rm(dir, { recursive: true, force: true });
});

/** A fresh database with the logins of deploy/sql/roles.sql. */
async function newDatabase(): Promise<void> {
  const administrator = withDatabase(server.url, 'postgres');
  const roles = ['dienst', 'opschoner', 'eigenaar', 'service', 'retentie'].map((name) => `koppelvlak_${name}`);
  await runStatements(administrator, 'drop database if exists koppelvlak with (force)');
  await runStatements(administrator, ...roles.map((role) => `drop role if exists ${role}`));
  const statements = (await read('deploy/sql/roles.sql'))
    .replaceAll(/^--.*$/gm, '')
    .replaceAll(/:'(\w+)'/g, "'$1'")
    .split(';');
  await runStatements(administrator, ...statements.filter((one) => one.trim() !== ''));
}

/** `NAME_FILE` variables as the deployment mounts them, with each secret in a file here. */
async function withSecretFiles(env: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    const variable = name.replace(/_FILE$/, '');
    if (variable === name) {
      found[name] = value;
      continue;
    }
    const secret = /DATABASE_MIGRATION_URL|migration/.test(value) ? 'DATABASE_MIGRATION_URL' : variable;
    const path = join(dir, secret);
    await writeFile(path, secrets[secret] ?? '');
    found[name] = path;
  }
  return found;
}

/** docker-compose.yml, with the variables of its `.env`. */
async function compose(proof: boolean): Promise<Deployment> {
  const { services } = parse(await read('docker-compose.yml'));
  const given: Record<string, string> = {
    AREAS: 'verwerkingenlog,raadsfeed',
    PUBLIC_BASE_URL: 'https://koppelvlak.example',
    OAUTH_ISSUER: 'https://auth.example',
    OAUTH_AUDIENCE: 'https://koppelvlak.example',
    OAUTH_CLIENT_OINS: 'client=00000099000000001000',
    GEGEVENS_SUPPLIER_CODE: 'VOORBEELD',
    VERWERKINGENLOG_KEY: secrets.VERWERKINGENLOG_KEY ?? '',
    ...(proof ? { PROOF_KEY, PROOF_SEALING_KEY: secrets.PROOF_SEALING_KEY ?? '' } : {}),
  };
  const job = (name: string, args: readonly string[]): Job => {
    const environment: Record<string, unknown> = services[name].environment;
    const env = Object.entries(environment).map(([variable, value]) => {
      const text = String(value)
        .replaceAll(/\$\{(\w+):?[?-]?([^}]*)\}/g, (_, key: string, otherwise: string) => given[key] ?? otherwise)
        .replace(/^postgres:\/\/(\w+):.*$/, (_, user: string) => login(user));
      return [variable, variable === 'PROOF_STATE' ? join(dir, 'compose-state.json') : text];
    });
    return { args, env: Object.fromEntries(env) };
  };
  return {
    service: job('koppelvlak', ['serve']),
    migrate: job('migrate', ['migrate']),
    jobs: [job('retention', services.retention.command)],
  };
}

/** Units with their drop-ins for the processing log, and for proof logs. */
async function systemd(proof: boolean): Promise<Deployment> {
  const settings = parseEnv(await read('deploy/env/verwerkingenlog.env'));
  const job = async (unit: string, dropIns: readonly string[]): Promise<Job> => {
    const texts = await Promise.all(
      [`${unit}.service`, ...dropIns.map((name) => `${unit}.service.d/${name}.conf`)].map((name) =>
        read(`deploy/systemd/${name}`),
      ),
    );
    const lines = texts.join('\n').split('\n');
    const variables = lines
      .flatMap((line) => /^Environment=(.*)$/.exec(line)?.[1]?.split(' ') ?? [])
      .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1).replace('%S', dir)]);
    const credentials = new Set(lines.flatMap((line) => /^LoadCredential=([^:]+):/.exec(line)?.[1] ?? []));
    for (const [name = '', value = ''] of variables)
      if (value.startsWith('%d/')) expect(credentials, name).toContain(value.slice(3));
    const [, command = ''] = /^ExecStart=\S+ (.*)$/m.exec(texts[0] ?? '') ?? [];
    const env = await withSecretFiles({ ...settings, ...Object.fromEntries(variables) });
    return { args: command.split(' '), env };
  };
  const proofs = proof ? ['proof'] : [];
  return {
    service: await job('koppelvlak', ['verwerkingenlog', ...proofs]),
    migrate: { args: ['migrate'], env: { DATABASE_URL: secrets.DATABASE_MIGRATION_URL ?? '' } },
    jobs: [await job('koppelvlak-prune', proofs)],
  };
}

/** The chart as rendered by `helm template`. */
async function chart(proof: boolean): Promise<Deployment> {
  const values = ['areas.shv=false', 'areas.vs=false', 'prune.feed.enabled=true', `proof.enabled=${proof}`];
  const { stdout, status, stderr } = spawnSync(
    'helm',
    [
      'template',
      'koppelvlak',
      join(ROOT, 'deploy/helm'),
      '--kube-version',
      '1.31.0',
      ...values.flatMap((value) => ['--set', value]),
    ],
    { encoding: 'utf8' },
  );
  expect(status, stderr).toBe(0);
  const found = new Map<string, Job>();
  for (const document of parseAllDocuments(stdout)) {
    const manifest: unknown = document.toJS();
    if (!isRecord(manifest)) continue;
    const { kind, metadata, spec } = manifest as { kind: string; metadata: { name: string }; spec: never };
    const pod = podOf(kind, spec);
    if (pod === undefined) continue;
    const [container] = pod.spec.containers;
    if (container === undefined) throw new Error(`${metadata.name} has no container`);
    const mounted = new Set(
      pod.spec.volumes.flatMap(({ projected }) => projected?.sources.map(({ secret }) => secret.items[0]?.path) ?? []),
    );
    const env = Object.fromEntries(container.env.map(({ name, value }) => [name, value]));
    for (const value of Object.values(env))
      if (value.startsWith('/secrets/')) expect(mounted, metadata.name).toContain(value.slice('/secrets/'.length));
    if ('PROOF_STATE' in env) env.PROOF_STATE = join(dir, 'chart-state.json');
    found.set(kind === 'Job' || kind === 'CronJob' ? metadata.name : 'service', {
      args: container.args ?? ['feed', 'prune', '--before', '2000-01-01'],
      env: await withSecretFiles({ ...env, MANAGEMENT_PORT: '0', PORT: '0', HOST: '127.0.0.1' }),
    });
  }
  const job = (name: string): Job => {
    const one = found.get(name);
    if (one === undefined) throw new Error(`the chart has no ${name}`);
    return one;
  };
  return {
    service: job('service'),
    migrate: job('koppelvlak-migrate'),
    jobs: [job('koppelvlak-log-prune'), job('koppelvlak-feed-prune')],
  };
}

interface PodTemplate {
  readonly spec: {
    readonly containers: readonly {
      readonly args?: readonly string[];
      readonly env: readonly { readonly name: string; readonly value: string }[];
    }[];
    readonly volumes: readonly {
      readonly projected?: {
        readonly sources: readonly { readonly secret: { readonly items: readonly { readonly path: string }[] } }[];
      };
    }[];
  };
}

function podOf(kind: string, spec: { template: PodTemplate; jobTemplate: { spec: { template: PodTemplate } } }) {
  if (kind === 'CronJob') return spec.jobTemplate.spec.template;
  return ['Job', 'Deployment', 'StatefulSet'].includes(kind) ? spec.template : undefined;
}

/** Starts the service as deployed, which starts its proof logs, and stops it. */
async function serveOnce({ env }: Job, proof: boolean): Promise<void> {
  const running = startProgram(['serve'], {
    ...env,
    HOST: '127.0.0.1',
    PORT: '0',
    MANAGEMENT_HOST: '127.0.0.1',
    MANAGEMENT_PORT: '0',
    SHUTDOWN_DRAIN_MS: '0',
  });
  try {
    await expect.poll(() => running.output().stdout + running.output().stderr).toContain('listening');
    const logs = () => runStatements(secrets.DATABASE_MIGRATION_URL ?? '', 'select from proof.logs');
    // Each served log has a proof log.
    const areas = (env.AREAS ?? '').split(',').length;
    if (proof) await expect.poll(async () => (await logs()).length).toBe(areas);
  } finally {
    running.child.kill('SIGTERM');
    await running.ended;
  }
}

describe.each([
  ['docker-compose.yml', compose],
  ['the systemd units', systemd],
  ...(hasHelm ? [['the chart', chart] as const] : []),
] as const)('%s', (_, deployment) => {
  it.each([false, true])('runs every job; with proof logs: %s', async (proof) => {
    await newDatabase();
    const { migrate, service, jobs } = await deployment(proof);
    for (const { args, env } of [migrate, migrate]) expect(await callProgram(args, env)).toMatchObject({ status: 0 });
    await serveOnce(service, proof);
    for (const { args, env } of jobs) {
      const ended = await callProgram(args, env);
      expect(ended.status, `${args.join(' ')}: ${ended.stderr}`).toBe(0);
      if (!proof) continue;
      const { PROOF_SEALING_KEY: _key, PROOF_SEALING_KEY_FILE: _file, ...without } = env;
      const refused = await callProgram(args, without);
      expect(refused, 'the log is kept').toMatchObject({
        status: 1,
        stderr: expect.stringMatching(/PROOF_SEALING_KEY/),
      });
    }
  });
});
