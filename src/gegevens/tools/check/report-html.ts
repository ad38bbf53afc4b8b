import { reportPage } from '../../../lib/report-page.ts';
import { type Html, html, withCode } from '../../../lib/template.ts';
import type { CheckReport, Finding } from './findings.ts';
import { countFindings, countsTable, summary } from './report-text.ts';
import type { ReportWords } from './report-words.ts';

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
  const title = words.title(variant.toUpperCase());
  const result = summary(report, words) + (countFindings(report, 'blocking') > 0 ? words.blocked : '');
  const about: readonly (readonly [string, string])[] = [
    [words.checked, sources.join(', ')],
    [words.period, period === undefined ? words.unknown : words.between(period.start, period.end)],
    [words.model, `${variant.toUpperCase()} ${model}`],
    [words.made, words.at(made)],
    [words.result, result],
  ];
  const content = html`${countsHtml(report, words)}
<h2>${words.findings}</h2>
${findings.length === 0 ? html`<p>${words.nothing}</p>` : findings.map((finding) => findingHtml(finding, words))}`;
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
