/**
 * The table in docs/metrics.md. test/deploy/monitoring.test.ts compares it with a service's `/metrics` and, with
 * `--update`, writes it.
 */
import { withPart } from './generated-part.ts';

/**
 * The page with the metrics of an exposition.
 * @throws {Error} when it has no place for them
 */
export function withMetricsTable(page: string, exposition: string): string {
  const rows = [...exposition.matchAll(/^# HELP (koppelvlak_\S+) (.*)\n# TYPE \S+ (\S+)$/gm)]
    .map(([, name, help, type]) => `| \`${name}\` | ${type} | ${help} |`)
    .toSorted();
  return withPart(page, 'metrics', ['| metric | type | meaning |', '|---|---|---|', ...rows].join('\n'));
}
