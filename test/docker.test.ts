import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { isRecord } from '../src/lib/json/json-value.ts';
import { settingGroups } from '../src/settings/read-config.ts';

const ROOT = join(import.meta.dirname, '..');
const composeText = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8');
const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
const REQUIRED = {
  POSTGRES_PASSWORD: 'abc123',
  OWNER_PASSWORD: 'abc234',
  SERVICE_PASSWORD: 'abc345',
  RETENTION_PASSWORD: 'abc456',
  PUBLIC_BASE_URL: 'https://koppelvlak.example',
  OAUTH_ISSUER: 'https://auth.example',
  OAUTH_AUDIENCE: 'https://koppelvlak.example',
  OAUTH_CLIENT_OINS: 'client=00000099000000001000',
  GEGEVENS_SUPPLIER_CODE: 'VOORBEELD',
  VERWERKINGENLOG_KEY: `k1:${'A'.repeat(43)}=`,
  KEYS_DIRECTORY: './keys',
};

function service(name: string): Record<string, unknown> {
  const compose: unknown = parse(composeText);
  const services = isRecord(compose) && isRecord(compose.services) ? compose.services : {};
  const found = services[name];
  if (!isRecord(found)) throw new Error(`no service ${name}`);
  return found;
}

function environmentOf(name: string): Record<string, unknown> {
  const { environment } = service(name);
  return isRecord(environment) ? environment : {};
}

/** The program that reads compose files, if the machine has one: a docker plugin, or a separate program. */
function composeProgram(): [string, ...string[]] | undefined {
  const candidates: [string, ...string[]][] = [['docker', 'compose'], ['docker-compose']];
  return candidates.find(([program, ...words]) => spawnSync(program, [...words, 'version']).status === 0);
}

describe('docker-compose.yml', () => {
  it('has no default for secrets and site-specific values', () => {
    for (const [, name, operator] of composeText.matchAll(/\$\{(\w+)(:[?-])?/g)) {
      if (name === undefined) continue;
      const isFree = ['AREAS', 'TRUST_PROXY', 'PORT', 'PROOF_KEY', 'PROOF_SEALING_KEY'].includes(name);
      expect(operator, name).toBe(isFree ? ':-' : ':?');
      expect(isFree || name in REQUIRED, name).toBe(true);
    }
    expect(composeText).not.toMatch(/PASSWORD: *['"]?[A-Za-z0-9]/);
  });

  it('sets only variables that the service knows', () => {
    const known = Object.values(settingGroups).flatMap((group) => Object.values(group).map(({ variable }) => variable));
    for (const name of ['koppelvlak', 'migrate', 'retention']) {
      expect(Object.keys(environmentOf(name)).filter((variable) => !known.includes(variable))).toEqual([]);
    }
  });

  it('gives each service the login that it needs, and the owner’s only to the one that migrates', () => {
    const loginOf = (name: string, variable: string): string | undefined =>
      /^postgres:\/\/(\w+):\$\{\w+:\?[^}]+\}@/.exec(String(environmentOf(name)[variable]))?.[1];
    expect(loginOf('migrate', 'DATABASE_URL')).toBe('koppelvlak_eigenaar');
    expect(loginOf('koppelvlak', 'DATABASE_URL')).toBe('koppelvlak_service');
    expect(loginOf('retention', 'DATABASE_URL')).toBe('koppelvlak_service');
    expect(loginOf('retention', 'DATABASE_PRUNE_URL')).toBe('koppelvlak_retentie');
    for (const name of ['koppelvlak', 'retention']) {
      expect(JSON.stringify(environmentOf(name))).not.toMatch(/OWNER_PASSWORD|POSTGRES_PASSWORD|eigenaar/);
    }
    expect(JSON.stringify(environmentOf('koppelvlak'))).not.toContain('RETENTION_PASSWORD');
  });

  it('gives the service a read-only root, no privileges, and waits for a healthy database', () => {
    expect(service('koppelvlak')).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      depends_on: { migrate: { condition: 'service_completed_successfully' } },
    });
    expect(service('migrate')).toMatchObject({
      command: ['migrate'],
      depends_on: { postgres: { condition: 'service_healthy' } },
    });
    expect(service('postgres').volumes).toContain('postgres-data:/var/lib/postgresql');
    for (const [, path] of composeText.matchAll(/- (\.\/[\w./-]+):/g))
      expect(existsSync(join(ROOT, String(path)))).toBe(true);
    expect(service('postgres')).toHaveProperty('healthcheck.test');
  });

  const program = composeProgram();
  it.skipIf(program === undefined)('is valid for docker, and refused without the required variables', () => {
    const [name = '', ...words] = program ?? [];
    const run = (env: Record<string, string>) =>
      spawnSync(name, [...words, 'config'], {
        cwd: ROOT,
        encoding: 'utf8',
        env: { PATH: process.env.PATH ?? '', ...env },
      });
    expect(run(REQUIRED).status).toBe(0);
    for (const missing of Object.keys(REQUIRED)) {
      const rest = Object.fromEntries(Object.entries(REQUIRED).filter(([key]) => key !== missing));
      expect(run(rest).status, `without ${missing}`).not.toBe(0);
    }
  });
});

describe('the image', () => {
  it('runs as a non-root user, has a health check, and copies only the files that serving needs', () => {
    const lines = dockerfile.split('\n');
    expect(lines.filter((line) => line.startsWith('FROM'))).toHaveLength(2);
    expect(lines).toContain('USER node');
    expect(lines.indexOf('USER node')).toBeLessThan(lines.findIndex((line) => line.startsWith('ENTRYPOINT')));
    expect(dockerfile).toContain('HEALTHCHECK');
    // The operator's page shows the runbook; other documents are left out.
    const copied = lines.filter((line) => line.startsWith('COPY') && !line.includes(' docs/runbook.md ')).join(' ');
    for (const absent of ['test', 'bench', 'docs', 'scripts', ' . ']) expect(copied).not.toContain(absent);
    const ignore = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n');
    expect(ignore[0]).toBe('*');
    for (const line of ignore.slice(1).filter((entry) => entry !== '')) {
      expect(globSync(line.replace(/^!/, ''), { cwd: ROOT }), line).toHaveLength(1);
    }
  });

  it('has a health check that Node can run', () => {
    const script = /CMD \["node", "-e", "(.+)"\]/.exec(dockerfile)?.[1] ?? '';
    expect(script).not.toBe('');
    const check = () =>
      execFileSync(process.execPath, ['-e', script], { env: { MANAGEMENT_PORT: '1' }, stdio: 'pipe' });
    expect(check, 'nothing listens there').toThrow();
  });
});
