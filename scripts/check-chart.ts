/**
 * Checks the chart: `helm lint`, and `helm template | kubeconform` with the default values, with one area and with everything switched on.
 * Where a Kubernetes API server is found, everything is also applied to it, in a namespace with Pod Security "restricted".
 *
 * Usage: node scripts/check-chart.ts. `helm` and `kubeconform` are looked for in PATH; KUBERNETES_SCHEMAS names a directory of JSON Schemas
 * such as `deployment-apps-v1.json` (the Python package kubernetes-validate has them), without which kubeconform fetches its own.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { parseAllDocuments, stringify } from 'yaml';
import { isRecord } from '../src/lib/json/json-value.ts';
import { type Cluster, hasCluster, startCluster } from './chart-cluster.ts';

const CHART = join(import.meta.dirname, '../deploy/helm');
/** What the manifests are made for; the chart works from 1.27. */
const KUBERNETES = '1.31.0';
const MONITORED = ['--api-versions', 'monitoring.coreos.com/v1/ServiceMonitor'];
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

function render(values: readonly string[]): string {
  return run('helm', ['template', 'koppelvlak', CHART, '--kube-version', KUBERNETES, ...values]);
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

/** The pods that the manifests lead to, as manifests of their own: Pod Security refuses pods, and only warns of what makes them. */
function podsOf(manifests: string): string[] {
  return parseAllDocuments(manifests).flatMap((document) => {
    const manifest: unknown = document.toJS();
    if (!isRecord(manifest) || !isRecord(manifest.spec) || !isRecord(manifest.metadata)) return [];
    const job = isRecord(manifest.spec.jobTemplate) ? manifest.spec.jobTemplate.spec : manifest.spec;
    const template = isRecord(job) ? job.template : undefined;
    if (!isRecord(template) || !isRecord(template.spec)) return [];
    const metadata = { name: `pod-of-${String(manifest.metadata.name)}` };
    // A controller would add the volume of each claim.
    const claims = Array.isArray(manifest.spec.volumeClaimTemplates) ? manifest.spec.volumeClaimTemplates : [];
    const claimed = claims.map((claim) => ({ name: claim.metadata.name, emptyDir: {} }));
    const own = Array.isArray(template.spec.volumes) ? template.spec.volumes : [];
    return [
      stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec: { ...template.spec, volumes: [...own, ...claimed] } }),
    ];
  });
}

/** A negative control: it may run as root. */
const ROOT_POD = stringify({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'as-root' },
  spec: { containers: [{ name: 'a', image: 'a' }] },
});

/** Applies what a set of values renders, in a namespace of its own. */
function apply({ kubectl }: Cluster, namespace: string, values: readonly string[]): void {
  kubectl(['create', 'namespace', namespace]);
  kubectl(['label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted']);
  const into = ['--namespace', namespace, 'apply', '--server-side', '--filename', '-'];
  const manifests = render(values);
  const applied = kubectl(into, manifests);
  for (const pod of podsOf(manifests)) kubectl(into, pod);
  process.stdout.write(`${namespace}: ${applied.trim().split('\n').length} applied, its pods admitted as restricted\n`);
  try {
    kubectl(into, ROOT_POD);
  } catch (error) {
    if (error instanceof Error && error.message.includes('violates PodSecurity "restricted')) return;
    throw error;
  }
  throw new Error('the server admits a pod that may run as root: it checks nothing');
}

const { KUBERNETES_SCHEMAS: given } = process.env;
const schemas = given === undefined ? undefined : relativeSchemas(given);
const location =
  schemas === undefined ? [] : ['-schema-location', join(schemas, '{{ .ResourceKind }}{{ .KindSuffix }}.json')];
let cluster: Cluster | undefined;

try {
  run('helm', ['lint', '--strict', CHART]);
  for (const values of [[], ONE_AREA, [...EVERYTHING, ...MONITORED]]) {
    // The operator's own kind has its schema in the operator.
    const args = ['-strict', '-summary', '-kubernetes-version', KUBERNETES, '-skip', 'ServiceMonitor', ...location];
    process.stdout.write(run('kubeconform', args, render(values)));
  }
  if (hasCluster()) {
    cluster = await startCluster();
    apply(cluster, 'defaults', []);
    apply(cluster, 'one-area', ONE_AREA);
    apply(cluster, 'everything', EVERYTHING);
  } else process.stdout.write('No kube-apiserver, etcd and kubectl in PATH: not applied to a server.\n');
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await cluster?.stop();
  if (schemas !== undefined) rmSync(schemas, { recursive: true, force: true });
}
