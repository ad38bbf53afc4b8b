/** The report of a check as one page, to be opened, sent or printed: no script, and nothing loaded from elsewhere. */
import type { CheckReport, MunicipalityCounts } from './delivery-check.ts';
import { type Finding, type Rule, ruleText, type Severity } from './findings.ts';
import { countColumns, countFindings, municipalityText, ruleName, summary } from './report-text.ts';

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

function findingsHtml(findings: readonly Finding[]): string {
  const rows = findings.map(
    ({ rule, severity, count }) =>
      `<tr><td class="text">${severityHtml(severity)}</td><th scope="row" class="text">${escaped(ruleName(rule))}</th><td class="text">${ruleHtml(rule)}</td><td>${count}</td></tr>`,
  );
  return `<table class="findings">
<thead><tr><th scope="col" class="text">Severity</th><th scope="col" class="text">Rule</th><th scope="col" class="text">It asks that</th><th scope="col">Times</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>`;
}

function placesHtml({ rule, severity, count, places }: Finding): string {
  const more = count - places.length;
  const items = places.map(
    ({ pointer, what }) =>
      `<li><code>${escaped(pointer || '/').replaceAll('/', '/<wbr>')}</code> ${withCode(what)}</li>`,
  );
  return `<h3>${severityHtml(severity)} ${escaped(ruleName(rule))}: ${ruleHtml(rule)}</h3>
<ul class="places">
${items.join('\n')}${more > 0 ? `\n<li>and ${more} more</li>` : ''}
</ul>`;
}

function severityHtml(severity: Severity): string {
  return `<span class="severity ${severity}">${severity}</span>`;
}

/** The text of a rule; names of members are between backticks. */
function ruleHtml(rule: Rule): string {
  return withCode(ruleText(rule));
}

function withCode(text: string): string {
  return escaped(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

function countsHtml(report: CheckReport): string {
  const { municipalities } = report;
  if (municipalities.length === 0) return '<h2>Counts</h2>\n<p>There are no records.</p>';
  const { own, ownCounts, title, groups } = countColumns(report);
  const [what = '', ...others] = own;
  const most = Math.max(...municipalities.map(({ records }) => records));
  const total = municipalities.reduce((sum, { records }) => sum + records, 0);
  const totals = groups.map((group) => sumOf(municipalities, group));
  const rows = municipalities.map((each) => {
    const [count = 0, ...rest] = ownCounts(each);
    return `<tr><th scope="row">${name(each)}</th>${cells([count])}<td class="bar">${bar(count, most)}</td>${cells(rest)}</tr>`;
  });
  const groupRows = municipalities.map(
    (each) => `<tr><th scope="row">${name(each)}</th>${cells(groups.map((group) => each.groups[group] ?? 0))}</tr>`,
  );
  return `<h2>${title}, all municipalities</h2>
<table class="bars whole">
<tbody>
${groups.map((group, index) => `<tr><th scope="row">${escaped(group)}</th>${cells([totals[index] ?? 0])}<td class="bar">${bar(totals[index] ?? 0, Math.max(...totals))}</td></tr>`).join('\n')}
</tbody>
</table>
<h2>Counts per municipality</h2>
<table class="bars">
<thead><tr><th scope="col">Municipality</th><th scope="col">${what}</th><th class="bar" aria-hidden="true"></th>${heads(others)}</tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
<tfoot><tr><th scope="row">${municipalities.length} in all</th><td>${total}</td><td class="bar"></td>${others.map(() => '<td></td>').join('')}</tr></tfoot>
</table>
<h2>${title} and municipality</h2>
<table class="groups">
<thead><tr><th scope="col">Municipality</th>${heads(groups)}</tr></thead>
<tbody>
${groupRows.join('\n')}
</tbody>
</table>`;
}

function sumOf(municipalities: readonly MunicipalityCounts[], group: string): number {
  return municipalities.reduce((sum, { groups }) => sum + (groups[group] ?? 0), 0);
}

function name(counts: MunicipalityCounts): string {
  return escaped(municipalityText(counts));
}

function heads(names: readonly string[]): string {
  return names.map((each) => `<th scope="col">${escaped(each)}</th>`).join('');
}

function cells(counts: readonly number[]): string {
  return counts.map((count) => `<td>${count}</td>`).join('');
}

function bar(count: number, most: number): string {
  return count === 0 ? '' : `<span style="width:${((count / most) * 100).toFixed(1)}%"></span>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
