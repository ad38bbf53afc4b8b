/**
 * Checks the chart with its default values, with one area and with everything enabled: `helm lint`, `helm template |
 * kubeconform`. To check against a cluster's admission rules: `helm template koppelvlak deploy/helm | kubectl apply
 * --dry-run=server --warnings-as-errors -f -`.
 *
 * Usage: node scripts/check-chart.ts. It needs `helm` and `kubeconform` on the path; KUBERNETES_SCHEMAS is
 * kubeconform's `-schema-location`, which otherwise downloads the schemas.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';

const CHART = join(import.meta.dirname, '../deploy/helm');
/** The version that the manifests target; the chart works from 1.27. */
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

function check(command: string, args: readonly string[], input?: string): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', input });
  if (error !== undefined) throw new Error(`${command}: ${error.message}`);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`);
  return stdout;
}

function render(...values: readonly string[]): string {
  return check('helm', ['template', 'koppelvlak', CHART, '--kube-version', KUBERNETES, ...values]);
}

try {
  const { KUBERNETES_SCHEMAS: schemas } = process.env;
  const location = schemas === undefined ? [] : ['-schema-location', schemas];
  check('helm', ['lint', '--strict', CHART]);
  const monitored = render(...EVERYTHING, '--api-versions', 'monitoring.coreos.com/v1/ServiceMonitor');
  for (const manifests of [render(), render(...ONE_AREA), monitored]) {
    // The Prometheus operator's own type has its schema in the operator.
    const args = ['-strict', '-summary', '-kubernetes-version', KUBERNETES, '-skip', 'ServiceMonitor', ...location];
    process.stdout.write(check('kubeconform', args, manifests));
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
