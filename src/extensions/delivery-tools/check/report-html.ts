/** The report of a check as one page, to be opened, sent or printed: no script, and nothing loaded from elsewhere. */
import type { CheckReport } from './delivery-check.ts';
import {
  COUNTS,
  countFindings,
  type Finding,
  groupNames,
  municipalityText,
  ruleName,
  ruleText,
  type Severity,
  summary,
} from './report-text.ts';

/** Black on white, so that it prints; what matters is said in words and lengths, never by a colour alone. */
const STYLE = `
  @page { size: A4; margin: 14mm 12mm 16mm; @bottom-right { content: counter(page) " / " counter(pages); font: 8pt sans-serif; } }
  * { box-sizing: border-box; }
  body { font: 10pt/1.4 system-ui, "Segoe UI", "DejaVu Sans", Arial, sans-serif; color: #111; background: #fff; margin: 0 auto; padding: 1.5rem; max-width: 60rem; }
  h1 { font-size: 1.5rem; margin: 0 0 .25rem; }
  h2 { font-size: 1.1rem; margin: 1.75rem 0 .5rem; break-after: avoid; }
  h3 { font-size: .95rem; margin: 0 0 .25rem; break-after: avoid; }
  p { margin: .25rem 0; }
  dl.about { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: .75rem 0; }
  dl.about dt { color: #444; } dl.about dd { margin: 0; overflow-wrap: anywhere; }
  table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
  thead { display: table-header-group; } tfoot { display: table-row-group; } tr, table.whole { break-inside: avoid; }
  th, td { padding: .15rem .5rem; border-bottom: 1px solid #bbb; text-align: right; vertical-align: baseline; }
  thead th { border-bottom: 2px solid #111; vertical-align: bottom; font-weight: 600; }
  th:first-child, th.text, td.text { text-align: left; }
  table.bars th:first-child { width: 11rem; } table.bars th, table.bars td { white-space: nowrap; width: 1%; }
  table.bars .bar { width: auto; }
  tfoot th, tfoot td { border-top: 2px solid #111; border-bottom: 0; font-weight: 600; }
  table.groups { font-size: 8pt; }
  table.groups th, table.groups td { padding: .15rem .25rem; }
  .bar span { display: block; height: .75rem; min-width: 1px; background: #4a6fa5; border: 1px solid #111; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .severity { display: inline-block; border: 1px solid #111; padding: 0 .4rem; font-weight: 700; }
  .severity.blocking { background: #111; color: #fff; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  ul.places { margin: .3rem 0 1rem; padding-left: 1.1rem; font-size: 7.5pt; columns: 2; column-gap: 1.5rem; }
  ul.places li { break-inside: avoid; overflow-wrap: anywhere; }
  code { font-family: ui-monospace, "DejaVu Sans Mono", Consolas, monospace; }
  footer { margin-top: 1rem; font-size: 8.5pt; color: #444; }
  @media print { body { padding: 0; max-width: none; font-size: 8.5pt; line-height: 1.25; } th, td { padding-top: .05rem; padding-bottom: .05rem; } ul.places { font-size: 6.5pt; } h2 { margin-top: 1.1rem; } h3 { font-size: 9.5pt; } }
`;

interface Subject {
  /** What was checked: the names of files, or what is stored. */
  readonly sources: readonly string[];
  readonly model: string;
  readonly made: Date;
}

export function reportHtml(report: CheckReport, { sources, model, made }: Subject): string {
  const { period, variant, findings } = report;
  const dates = period === undefined ? 'unknown' : `${period.start} to ${period.end}`;
  const title = `Check of a delivery, ${variant.toUpperCase()}`;
  const about: readonly (readonly [string, string])[] = [
    ['Checked', sources.join(', ')],
    ['Period', dates],
    ['Model', `${variant.toUpperCase()} ${model}`],
    ['Made', `${made.toISOString().slice(0, 16).replace('T', ' ')} UTC`],
    ['Result', `${summary(report)}${countFindings(report, 'blocking') > 0 ? ': not ready to be delivered' : ''}`],
  ];
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
<dl class="about">
${about.map(([name, text]) => `<dt>${escaped(name)}</dt><dd>${escaped(text)}</dd>`).join('\n')}
</dl>
<h2>Findings</h2>
${findings.length === 0 ? '<p>Nothing was found that breaks a rule.</p>' : findingsHtml(findings)}
${countsHtml(report)}
${findings.length === 0 ? '' : `<h2>Places of the findings</h2>\n${findings.map(placesHtml).join('\n')}`}
</main>
<footer><p>A place is a JSON Pointer: numbers in it count from 0. Of a finding at most 100 places are listed. No data of persons is in this report.</p></footer>
</body>
</html>
`;
}

/** @param head the cells of the row of names; @param rows each the cells of a row */
function tableHtml(kind: string, head: string, rows: readonly string[], foot = ''): string {
  const body = rows.map((row) => `<tr>${row}</tr>`).join('\n');
  return `<table class="${kind}">
${head === '' ? '' : `<thead><tr>${head}</tr></thead>\n`}<tbody>
${body}
</tbody>${foot === '' ? '' : `\n<tfoot><tr>${foot}</tr></tfoot>`}
</table>`;
}

function findingsHtml(findings: readonly Finding[]): string {
  const rows = findings.map(
    ({ rule, severity, count }) =>
      `<td class="text">${severityHtml(severity)}</td><th scope="row" class="text">${escaped(ruleName(rule))}</th><td class="text">${withCode(ruleText(rule))}</td><td>${count}</td>`,
  );
  const heads = ['Severity', 'Rule', 'It asks that'].map((name) => `<th scope="col" class="text">${name}</th>`);
  return tableHtml('findings', `${heads.join('')}<th scope="col">Times</th>`, rows);
}

function placesHtml({ rule, severity, count, places }: Finding): string {
  const more = count - places.length;
  const items = places.map(
    ({ pointer, what }) =>
      `<li><code>${escaped(pointer || '/').replaceAll('/', '/<wbr>')}</code> ${withCode(what)}</li>`,
  );
  return `<h3>${severityHtml(severity)} ${escaped(ruleName(rule))}: ${withCode(ruleText(rule))}</h3>
<ul class="places">
${items.join('\n')}${more > 0 ? `\n<li>and ${more} more</li>` : ''}
</ul>`;
}

function severityHtml(severity: Severity): string {
  return `<span class="severity ${severity}">${severity}</span>`;
}

/** Names of members are between backticks. */
function withCode(text: string): string {
  return escaped(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

function countsHtml(report: CheckReport): string {
  const { variant, municipalities } = report;
  if (municipalities.length === 0) return '<h2>Counts</h2>\n<p>There are no records.</p>';
  const { title } = COUNTS[variant].groups;
  const [records, ...others] = COUNTS[variant].columns;
  const groups = groupNames(report);
  const counts = municipalities.map((each) => each.records);
  const totals = groups.map((group) => municipalities.reduce((sum, each) => sum + (each.groups[group] ?? 0), 0));
  const perMunicipality = municipalities.map((each) => {
    const rest = cells(others.map(({ of }) => each[of]));
    return `${rowHead(municipalityText(each))}${bar(each.records, Math.max(...counts))}${rest}`;
  });
  const total = counts.reduce((sum, count) => sum + count, 0);
  const foot = `${rowHead(`${municipalities.length} in all`)}<td>${total}</td><td class="bar"></td>${others.map(() => '<td></td>').join('')}`;
  const head = `${heads(['Municipality', records?.head ?? ''])}<th class="bar" aria-hidden="true"></th>${heads(others.map((other) => other.head))}`;
  return `<h2>${title}, all municipalities</h2>
${tableHtml(
  'bars whole',
  '',
  groups.map((group, index) => `${rowHead(group)}${bar(totals[index] ?? 0, Math.max(...totals))}`),
)}
<h2>Counts per municipality</h2>
${tableHtml('bars', head, perMunicipality, foot)}
<h2>${title} and municipality</h2>
${tableHtml(
  'groups',
  heads(['Municipality', ...groups]),
  municipalities.map(
    (each) => `${rowHead(municipalityText(each))}${cells(groups.map((group) => each.groups[group] ?? 0))}`,
  ),
)}`;
}

function heads(names: readonly string[]): string {
  return names.map((each) => `<th scope="col">${escaped(each)}</th>`).join('');
}

function rowHead(text: string): string {
  return `<th scope="row">${escaped(text)}</th>`;
}

function cells(counts: readonly number[]): string {
  return counts.map((count) => `<td>${count}</td>`).join('');
}

/** A count, and a bar of its length. */
function bar(count: number, most: number): string {
  const drawn = count === 0 ? '' : `<span style="width:${((count / most) * 100).toFixed(1)}%"></span>`;
  return `${cells([count])}<td class="bar">${drawn}</td>`;
}

const ENTITIES = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
]);

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES.get(character) ?? character);
}
