/** The report of a check: for programs, as text for a terminal, and as a page to read, send or print. */
import { table } from '../../../lib/output.ts';
import { reportPage } from '../../../lib/report-page.ts';
import { type Html, html, withCode } from '../../../lib/template.ts';
import type { BlockingFinding } from '../../store/forced-imports.ts';
import { type CheckReport, type Column, columnOf, type Finding, type Place, SHOWN_PLACES } from './findings.ts';
import { type ReportWords, reportWords, type Severity } from './report-words.ts';

const WORDS = reportWords.en;

export interface Report {
  readonly text: string;
  readonly json: unknown;
  /** How often something blocks a delivery, and what. */
  readonly blocking: number;
  readonly blockers: readonly BlockingFinding[];
}

/** @param withCounts also what the office counts */
export function describeReport(report: CheckReport, withCounts = true): Report {
  const json = reportJson(report);
  const { period, findings } = json;
  return {
    text: reportText(report, withCounts),
    json: withCounts ? json : { period, findings },
    blocking: countFindings(report, 'blocking'),
    blockers: findings.flatMap(({ severity, rule, count, places }) =>
      severity === 'blocking' ? [{ rule, count, places }] : [],
    ),
  };
}

export function reportJson({ variant, period, municipalities, findings }: CheckReport) {
  const name = variant === 'shv' ? 'personsPerStep' : 'signalsPerKind';
  return {
    period: period ?? null,
    municipalities: municipalities.map(({ gemeentecode, counts, groups }) => ({
      gemeentecode,
      ...counts,
      [name]: groups,
    })),
    findings: findings.map(({ rule, severity, count, places }) => ({
      rule,
      severity,
      count,
      /** JSON Pointers; at most a hundred. */
      places: places.map(({ pointer }) => pointer),
      ...(places.some(({ row }) => row !== undefined) ? { rows: places.map(({ row }) => row ?? null) } : {}),
    })),
  };
}

function countsTable({ municipalities }: CheckReport, nameOf: ReportWords['municipality']) {
  const columns = Object.keys(municipalities[0]?.counts ?? {});
  const groups = [...new Set(municipalities.flatMap((each) => Object.keys(each.groups)))];
  return {
    head: ['municipality', ...columns, ...groups],
    rows: municipalities.map(({ gemeentecode, counts, groups: own }) => [
      nameOf(gemeentecode),
      ...columns.map((name) => String(counts[name] ?? 0)),
      ...groups.map((name) => String(own[name] ?? 0)),
    ]),
  };
}

function reportText(report: CheckReport, withCounts: boolean): string {
  const { period, findings } = report;
  const { head, rows } = countsTable(report, WORDS.municipality);
  const counts = [
    period === undefined ? 'period unknown' : WORDS.between(period.start, period.end),
    '',
    rows.length === 0 ? 'No records.' : table(head, rows),
    '',
  ];
  return [...(withCounts ? counts : []), ...findings.flatMap(findingLines), summary(report)].join('\n');
}

function findingLines({ rule, severity, count, columns }: Finding): string[] {
  const shown = [...columns.values()].flatMap(columnLines).slice(0, SHOWN_PLACES);
  const more = count - shown.reduce((sum, line) => sum + line.count, 0);
  return [
    `${severity.padEnd(8)} ${WORDS.ruleName(rule)}, ${WORDS.times(count)}: ${WORDS.ruleText(rule)}`,
    ...shown.map(({ text }) => `  ${text}`),
    ...(more > 0 ? [`  ${WORDS.more(more)}`] : []),
  ];
}

/** A line for each place of a column, or one for all when there are many. */
function columnLines({ count, places }: Column): { readonly text: string; readonly count: number }[] {
  const [first] = places;
  if (first === undefined || count === places.length)
    return places.map((place) => ({ text: `${placeText(place)}  ${place.what}`, count: 1 }));
  const text = `${columnOf(first.pointer)}  ${first.what}, ${WORDS.times(count)}; first at ${placeText(first)}`;
  return [{ text, count }];
}

function placeText({ pointer, row }: Place): string {
  return [...(row === undefined ? [] : [WORDS.row(row)]), pointer || '/'].join('  ');
}

export function countFindings({ findings }: CheckReport, severity: Severity): number {
  return findings.reduce((sum, finding) => sum + (finding.severity === severity ? finding.count : 0), 0);
}

export function summary(report: CheckReport, words = WORDS): string {
  if (report.findings.length === 0) return words.nothing;
  return words.summary(countFindings(report, 'blocking'), countFindings(report, 'warning'));
}

const STYLE = `
  h2 { font-size: 1.1rem; margin: 1.75rem 0 .5rem; } h3 { font-size: .95rem; margin: 1rem 0 .25rem; }
  table { font-size: 8pt; font-variant-numeric: tabular-nums; }
  th, td { padding: .15rem .25rem; border-bottom: 1px solid #bbb; text-align: right; vertical-align: bottom; }
  th:first-child { text-align: left; }
  .bar { width: 20%; } .bar span { display: block; height: .75rem; min-width: 1px; background: #4a6fa5; border: 1px solid #111; print-color-adjust: exact; }
  .severity { border: 1px solid #111; padding: 0 .4rem; } .blocking { background: #111; color: #fff; print-color-adjust: exact; }
  ul { margin: .3rem 0 1rem; padding-left: 1.1rem; font-size: 7.5pt; columns: 2; } li { break-inside: avoid; overflow-wrap: anywhere; }
`;

export interface Subject {
  /** What was checked: names of files, or the stored leveringen. */
  readonly sources: readonly string[];
  readonly model: string;
  readonly made: Date;
}

export function reportHtml(report: CheckReport, { sources, model, made }: Subject, words: ReportWords): string {
  const { period, variant, findings } = report;
  const about: readonly (readonly [string, string])[] = [
    [words.checked, sources.join(', ')],
    [words.period, period === undefined ? words.unknown : words.between(period.start, period.end)],
    [words.model, `${variant.toUpperCase()} ${model}`],
    [words.made, words.at(made)],
    [words.result, summary(report, words) + (countFindings(report, 'blocking') > 0 ? words.blocked : '')],
  ];
  const content = html`${countsHtml(report, words)}
<h2>${words.findings}</h2>
${findings.length === 0 ? html`<p>${words.nothing}</p>` : findings.map((finding) => findingHtml(finding, words))}`;
  const title = words.title(variant.toUpperCase());
  return reportPage({ language: words.language, title, style: STYLE, about, content, footer: words.footer });
}

function findingHtml({ rule, severity, count, places }: Finding, words: ReportWords): Html {
  const more = count - places.length;
  const items = places.map(
    ({ pointer, what, row }) =>
      html`<li>${row !== undefined && html`${words.row(row)} `}<code>${pointer || '/'}</code> ${withCode(words.what(what))}</li>\n`,
  );
  return html`<h3><span class="severity ${severity}">${words.severity[severity]}</span> ${words.ruleName(rule)}, ${words.times(count)}: ${withCode(words.ruleText(rule))}</h3>
<ul>
${items}${more > 0 && html`<li>${words.more(more)}</li>\n`}</ul>
`;
}

/** A row for each municipality, with a bar for its records. */
function countsHtml(report: CheckReport, words: ReportWords): Html {
  const { head, rows } = countsTable(report, words.municipality);
  if (rows.length === 0) return html`<h2>${words.counts}</h2>\n<p>${words.noRecords}</p>`;
  const most = Math.max(...rows.map(([, records]) => Number(records)));
  const lines = rows.map(([name = '', ...counts]) => {
    const part = Number(counts[0]) / most;
    const bar = part > 0 && html`<span style="width:${(part * 100).toFixed(1)}%"></span>`;
    return html`<tr><th scope="row">${name}</th><td class="bar">${bar}</td>${counts.map((count) => html`<td>${count}</td>`)}</tr>\n`;
  });
  const heads = head.map(words.column).toSpliced(1, 0, '');
  return html`<h2>${words.countsPer}</h2>
<table>
<thead><tr>${heads.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>
${lines}</tbody>
</table>
<p>${words.last[report.variant]}</p>`;
}
