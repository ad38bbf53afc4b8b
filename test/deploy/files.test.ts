/** docs/operations.md describes the contents of deploy/, which names existing settings only. */
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import process from 'node:process';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Setting } from '../../src/settings/kinds.ts';
import { readConfig, settingGroups } from '../../src/settings/read-config.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const files = globSync('deploy/**/*.*', { cwd: ROOT });
const settings = new Set(read('docs/settings.md').match(/(?<=\| `)[A-Z][A-Z0-9_]+(?=`)/g));
const has = (program: string): boolean => spawnSync(program, ['--help']).error === undefined;

describe('deploy', () => {
  it('has no file that docs/operations.md does not name', () => {
    const operations = read('docs/operations.md');
    // The chart counts as one thing, whatever its files.
    const named = files.map((file) => (file.startsWith('deploy/helm/') ? 'deploy/helm' : file));
    expect(named.length).toBeGreaterThan(15);
    expect([...new Set(named)].filter((file) => !operations.includes(file))).toEqual([]);
  });

  it('names only settings that exist', () => {
    const chart = globSync('deploy/{helm,systemd,organisations,env}/**/*.{yaml,service,conf,json,env}', { cwd: ROOT })
      .map(read)
      .join('\n');
    const areas = 'SHUTDOWN|DATABASE|VERWERKINGENLOG|GEGEVENS|OAUTH|MANAGEMENT|RAADSFEED|AGGREGATOR|FSC';
    const named = chart.match(new RegExp(`\\b(?:${areas})_[A-Z0-9_]*[A-Z0-9]\\b`, 'g')) ?? [];
    expect(settings.size).toBeGreaterThan(50);
    expect(named.length).toBeGreaterThan(10);
    const secretFile = /_FILE$/;
    expect(named.filter((name) => !settings.has(name) && !settings.has(name.replace(secretFile, '')))).toEqual([]);
  });

  const secrets = {
    NODE_ENV: 'production',
    DATABASE_URL: 'postgres://koppelvlak_service:x@db/koppelvlak',
    DATABASE_MIGRATE: 'false',
    VERWERKINGENLOG_KEY: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
  };
  // Any existing file will do: keys are read later.
  const keys = {
    GEGEVENS_TRUST_ANCHORS: join(ROOT, 'LICENSE'),
    GEGEVENS_SIGNING_KEY: join(ROOT, 'LICENSE'),
    GEGEVENS_SIGNING_CHAIN: join(ROOT, 'LICENSE'),
  };

  it('has a chart whose settings and secrets start the service', () => {
    const { settings: values }: { settings: Record<string, string> } = parse(read('deploy/helm/values.yaml'));
    expect(() => readConfig({ ...values, ...secrets, ...keys }, 'serve')).not.toThrow();
  });

  it('has a chart with a place for every secret setting', () => {
    const { secrets: places }: { secrets: Record<string, unknown> } = parse(read('deploy/helm/values.yaml'));
    const all = Object.values(settingGroups).flatMap((group) => Object.values<Setting<unknown>>(group));
    expect(Object.keys(places).sort()).toEqual(
      all
        .filter(({ secret }) => secret)
        .map(({ variable }) => variable)
        .sort(),
    );
  });

  it('has an environment file for each interface that, with its secrets, is enough to start the service', () => {
    const files = globSync('deploy/env/*.env', { cwd: ROOT });
    expect(files.length).toBe(3);
    for (const file of files) {
      const env = parseEnv(read(file));
      const more = {
        raadsfeed: { VERWERKINGENLOG_KEY: '' },
        verwerkingenlog: {},
        gegevens: { ...keys, FSC_TOKEN_CERTIFICATES: join(ROOT, 'LICENSE') },
      }[basename(file, '.env')];
      expect(() => readConfig({ ...env, ...secrets, ...more }, 'serve'), file).not.toThrow();
    }
  });

  it('has settings of two organisations that start the service', () => {
    for (const name of ['gm0001', 'gm0002']) {
      const env = parseEnv(read(`deploy/organisations/${name}.env`));
      expect(readConfig({ ...env, ...secrets }, 'serve').server.organisation).toBe(name);
    }
  });

  it.runIf(has('helm') && has('kubeconform') && process.env.KUBERNETES_SCHEMAS !== undefined)(
    'renders a valid chart',
    () => {
      const script = join(ROOT, 'scripts/check-chart.ts');
      const { status, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
      expect(status, stderr).toBe(0);
    },
  );

  it('reloads units only where keys are reloaded: elsewhere the signal would stop the service', () => {
    const units = globSync('deploy/{systemd,organisations}/**/*.{service,conf}', { cwd: ROOT });
    expect(units.filter((unit) => read(unit).includes('ExecReload='))).toEqual([
      'deploy/systemd/koppelvlak.service.d/gegevens.conf',
    ]);
  });

  it.runIf(has('systemd-analyze'))('has units that systemd accepts and rates as little exposed', () => {
    for (const path of [
      'systemd/koppelvlak.service',
      'systemd/koppelvlak-prune.service',
      'organisations/koppelvlak@.service',
    ]) {
      const unit = join(ROOT, 'deploy', path);
      const name = basename(path);
      // The program's path depends on the machine where it is installed.
      const { stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
      expect(stderr.split('\n').filter((line) => line.includes(name) && !line.includes('is not executable'))).toEqual(
        [],
      );
      const security = spawnSync('systemd-analyze', ['security', '--offline=true', unit], { encoding: 'utf8' }).stdout;
      const [, level] = /Overall exposure level for \S+: ([\d.]+)/.exec(security) ?? [];
      expect(Number(level)).toBeLessThan(2);
    }
  });
});
