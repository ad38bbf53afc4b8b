/** Alerts and dashboard use existing metrics; every alert has a paragraph in the runbook. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { withPart } from '../../scripts/generated-part.ts';
import { metricsTable } from '../../scripts/reference-tables.ts';
import { createAuthority } from '../../src/lib/authority/authority.ts';
import { openSupplier, type Supplier } from '../gegevens/support/supplier.ts';
import { KEY } from '../verwerkingenlog/support.ts';

const ROOT = join(import.meta.dirname, '../..');
const RULES = join(ROOT, 'deploy/prometheus/koppelvlak.rules.yml');
const METRICS_PAGE = join(ROOT, 'docs/metrics.md');
const TESTS = join(ROOT, 'deploy/prometheus/koppelvlak.test.yml');
/** Prometheus's own, for every target. */
const PROMETHEUS = ['up'];
const METRIC = /\b(?:koppelvlak|nodejs|process)_\w+|\bup\b/g;
const hasPromtool = spawnSync('promtool', ['--version']).error === undefined;

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly runbook: string };
}

const { groups }: { groups: { rules: Alert[] }[] } = parse(readFileSync(RULES, 'utf8'));
const alerts = groups.flatMap(({ rules }) => rules);
const dashboard: { panels: { targets?: { expr: string }[] }[] } = JSON.parse(
  readFileSync(join(ROOT, 'deploy/grafana/koppelvlak.json'), 'utf8'),
);

let dir: string;
let supplier: Supplier;
/** Names of series; for a histogram, its component series. */
let names: Set<string>;
let exposition: string;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'monitoring-'));
  const manager = await createAuthority({ dir, port: 0 });
  const bundle = join(dir, 'manager.pem');
  writeFileSync(bundle, readFileSync(manager.supplier.certificate));
  await manager.close();
  writeFileSync(join(dir, 'witnesses'), 'quorum none\n');
  supplier = await openSupplier({
    env: {
      PROOF_KEY: Buffer.alloc(32, 9).toString('base64'),
      PROOF_STATE: join(dir, 'state.json'),
      PROOF_WITNESSES: join(dir, 'witnesses'),
      AREAS: 'shv,vs,verwerkingenlog,raadsfeed',
      RAADSFEED_ROL: 'aggregator',
      VERWERKINGENLOG_KEY: KEY,
      VERWERKINGENLOG_PAGES: 'true',
      INZAGE_OIDC_ISSUER: 'http://127.0.0.1:9',
      INZAGE_OIDC_CLIENT_ID: 'inzage',
      INZAGE_OIDC_CLIENT_SECRET: 'x'.repeat(32),
      INZAGE_SESSION_KEY: Buffer.alloc(32, 9).toString('base64'),
      LDV_FORWARD_URL: 'http://127.0.0.1:9',
      FSC_TOKEN_CERTIFICATES: bundle,
      FSC_GROUP_ID: 'fsc-test',
      FSC_AUDIENCE: 'https://inway.example:443',
      FSC_PEER_ID: '00000099000000002000',
    },
  });
  exposition = await (await fetch(`${supplier.server.managementUrl}/metrics`)).text();
  const types = [...exposition.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type]) => ({ name, type }));
  names = new Set(
    types.flatMap(({ name, type }) =>
      type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => name + end) : [name],
    ),
  );
});
afterAll(async () => {
  await supplier?.close();
  rmSync(dir, { recursive: true, force: true });
});

function unknown(expressions: readonly string[]): string[] {
  const used = expressions.flatMap((expression) => expression.match(METRIC) ?? []);
  return [...new Set(used)].filter((name) => !names.has(name) && !PROMETHEUS.includes(name));
}

describe('metrics', () => {
  it('begin with koppelvlak_, except those that every Node process has', () => {
    expect([...names].filter((name) => !/^(?:koppelvlak|nodejs|process)_/.test(name))).toEqual([]);
  });

  it('are listed in docs/metrics.md without differences: otherwise run `npm run docs`', async () => {
    const page = withPart(readFileSync(METRICS_PAGE, 'utf8'), 'metrics', metricsTable(exposition));
    await expect(page).toMatchFileSnapshot(METRICS_PAGE);
  });

  it('in alerts exist', () => {
    expect(alerts.length).toBeGreaterThan(10);
    expect(unknown(alerts.map(({ expr }) => expr))).toEqual([]);
  });

  it('on the dashboard exist', () => {
    const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    expect(expressions.length).toBeGreaterThan(15);
    expect(unknown(expressions)).toEqual([]);
  });
});

describe('the rules', () => {
  it('each link to their own section of the runbook, and no section is without a rule', () => {
    const runbook = readFileSync(join(ROOT, 'docs/runbook.md'), 'utf8');
    const headings = [...runbook.matchAll(/^## (\S+)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(alerts.map(({ alert }) => alert));
    for (const { alert, annotations } of alerts) {
      expect(annotations.runbook).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
    }
  });

  it.runIf(hasPromtool)('are valid according to promtool, and fire on their conditions', () => {
    for (const args of [
      ['check', 'rules', RULES],
      ['test', 'rules', TESTS],
    ]) {
      const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
      expect(status, `${stdout}${stderr}`).toBe(0);
    }
  });

  it('are each tested', () => {
    const { tests }: { tests: { name: string }[] } = parse(readFileSync(TESTS, 'utf8'));
    const fire = tests.flatMap(({ name }) => /^(\S+) fires$/.exec(name)?.[1] ?? []);
    expect(fire.toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted());
  });
});
