/**
 * Checks the chart with the default values, with one area and with everything switched on: `helm lint`, `helm template | kubeconform`, and with
 * `--context NAME` (of kubectl, for a cluster such as kind makes) whether the server would admit it all under Pod Security "restricted".
 *
 * Usage: node scripts/check-chart.ts [--context NAME]. `helm` and `kubeconform` are looked for in PATH; KUBERNETES_SCHEMAS is the
 * `-schema-location` of kubeconform, which fetches the schemas otherwise.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';

const CHART = join(import.meta.dirname, '../deploy/helm');
/** The version that the manifests are made for; the chart works from 1.27. */
const KUBERNETES = '1.31.0';
const NAMESPACE = 'koppelvlak-chart-check';
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

function render(...values: readonly string[]): string {
  return run('helm', ['template', 'koppelvlak', CHART, '--kube-version', KUBERNETES, ...values]);
}

/** Nothing is made but an empty namespace, which is gone afterwards. */
function admit(context: string, manifests: readonly string[]): void {
  const kubectl = (args: readonly string[], input?: string): string =>
    run('kubectl', ['--context', context, ...args], input);
  kubectl(['create', 'namespace', NAMESPACE]);
  try {
    // The server refuses pods, and only warns of what would make them.
    kubectl(['label', 'namespace', NAMESPACE, 'pod-security.kubernetes.io/warn=restricted']);
    const apply = ['--namespace', NAMESPACE, 'apply', '--server-side', '--dry-run=server', '--warnings-as-errors'];
    for (const one of manifests) process.stdout.write(kubectl([...apply, '--filename', '-'], one));
  } finally {
    kubectl(['delete', 'namespace', NAMESPACE]);
  }
}

try {
  const { context } = parseArgs({ options: { context: { type: 'string' } } }).values;
  const { KUBERNETES_SCHEMAS: schemas } = process.env;
  const location = schemas === undefined ? [] : ['-schema-location', schemas];
  run('helm', ['lint', '--strict', CHART]);
  const monitored = render(...EVERYTHING, '--api-versions', 'monitoring.coreos.com/v1/ServiceMonitor');
  for (const manifests of [render(), render(...ONE_AREA), monitored]) {
    // The operator's own kind has its schema in the operator.
    const args = ['-strict', '-summary', '-kubernetes-version', KUBERNETES, '-skip', 'ServiceMonitor', ...location];
    process.stdout.write(run('kubeconform', args, manifests));
  }
  if (context !== undefined) admit(context, [render(), render(...ONE_AREA), render(...EVERYTHING)]);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
