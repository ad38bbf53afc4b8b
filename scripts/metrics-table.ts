/** The table of docs/metrics.md, from what a service shows at `/metrics`. test/deploy/monitoring.test.ts compares it and, with `--update`, writes it. */
const BEGIN = '<!-- metrics: written by `npm run docs` -->';
const END = '<!-- end of metrics -->';

/** The page with the metrics of an exposition. @throws when it has no place for them */
export function withMetricsTable(page: string, exposition: string): string {
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error('docs/metrics.md has no place for the table');
  const rows = [...exposition.matchAll(/^# HELP (koppelvlak_\S+) (.*)\n# TYPE \S+ (\S+)$/gm)]
    .map(([, name, help, type]) => `| \`${name}\` | ${type} | ${help} |`)
    .toSorted();
  return [`${before}${BEGIN}\n`, '| metric | type | meaning |', '|---|---|---|', ...rows, `\n${END}${after}`].join(
    '\n',
  );
}
