/**
 * Checks the chart: `helm lint`, and `helm template | kubeconform` with the default values, with one area, and with
 * everything switched on.
 *
 * Usage: node scripts/check-chart.ts. `helm` and `kubeconform` are looked for in PATH; KUBERNETES_SCHEMAS names a directory of JSON Schemas
 * such as `deployment-apps-v1.json` (the Python package kubernetes-validate has them), without which kubeconform fetches its own.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

const CHART = join(import.meta.dirname, '../deploy/helm');
/** What the manifests are made for; the chart works from 1.27. */
const KUBERNETES = '1.31.0';
const EVERYTHING = [
  'autoscaling.enabled=true',
  'prune.feed.enabled=true',
  'serviceMonitor.enabled=true',
  'networkPolicy.metricsFrom[0].podSelector.matchLabels.app=prometheus',
  'imagePullSecrets[0].name=registry',
  'proof.enabled=true',
  'extraEnv[0].name=TZ,extraEnv[0].value=Europe/Amsterdam',
  'extraVolumes[0].name=theme,extraVolumes[0].configMap.name=theme',
  'extraVolumeMounts[0].name=theme,extraVolumeMounts[0].mountPath=/theme',
].flatMap((value) => ['--set', value]);
const ONE_AREA = ['shv', 'vs', 'verwerkingenlog'].flatMap((area) => ['--set', `areas.${area}=false`]);

function run(command: string, args: readonly string[], input?: string): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', input });
  if (error !== undefined) throw new Error(`${command}: ${error.message}`);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`);
  return stdout;
}

/** A copy of the schemas that refer to each other as files beside each other, as kubeconform wants it. */
function relativeSchemas(from: string): string {
  const to = mkdtempSync(join(tmpdir(), 'kv-schemas-'));
  for (const name of readdirSync(from).filter((file) => file.endsWith('.json'))) {
    const { $id: _, ...schema } = JSON.parse(readFileSync(join(from, name), 'utf8'));
    writeFileSync(join(to, name), JSON.stringify(schema).replaceAll('"/api/_definitions.json', '"_definitions.json'));
  }
  return to;
}

const { KUBERNETES_SCHEMAS: given } = process.env;
const schemas = given === undefined ? undefined : relativeSchemas(given);
const location =
  schemas === undefined ? [] : ['-schema-location', join(schemas, '{{ .ResourceKind }}{{ .KindSuffix }}.json')];

try {
  run('helm', ['lint', '--strict', CHART]);
  for (const values of [[], ONE_AREA, [...EVERYTHING, '--api-versions', 'monitoring.coreos.com/v1/ServiceMonitor']]) {
    const manifests = run('helm', ['template', 'koppelvlak', CHART, '--kube-version', KUBERNETES, ...values]);
    // The operator's own kind has its schema in the operator.
    const args = ['-strict', '-summary', '-kubernetes-version', KUBERNETES, '-skip', 'ServiceMonitor', ...location];
    process.stdout.write(run('kubeconform', args, manifests));
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  if (schemas !== undefined) rmSync(schemas, { recursive: true, force: true });
}
