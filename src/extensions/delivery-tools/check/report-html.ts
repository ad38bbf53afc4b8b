/** The report of a check as one page, to be opened, sent or printed: no script, and nothing loaded from elsewhere. */
import type { CheckReport } from './delivery-check.ts';
import { countFindings, countsTable, type Finding } from './report-text.ts';
import type { ReportWords } from './report-words.ts';

/** Black on white, so that it prints; what matters is said in words and lengths, never by a colour alone. */
const STYLE = `
  @page { size: A4; margin: 14mm 12mm; }
  body { font: 10pt/1.4 system-ui, Arial, sans-serif; color: #111; background: #fff; margin: 0 auto; padding: 1.5rem; max-width: 60rem; }
  h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.1rem; margin: 1.75rem 0 .5rem; } h3 { font-size: .95rem; margin: 1rem 0 .25rem; }
  h2, h3 { break-after: avoid; }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; } dd { margin: 0; overflow-wrap: anywhere; }
  table { border-collapse: collapse; width: 100%; font-size: 8pt; font-variant-numeric: tabular-nums; }
  thead { display: table-header-group; } tr { break-inside: avoid; }
  th, td { padding: .15rem .25rem; border-bottom: 1px solid #bbb; text-align: right; vertical-align: bottom; }
  thead th { border-bottom: 2px solid #111; } th:first-child { text-align: left; }
  .bar { width: 20%; } .bar span { display: block; height: .75rem; min-width: 1px; background: #4a6fa5; border: 1px solid #111; print-color-adjust: exact; }
  .severity { border: 1px solid #111; padding: 0 .4rem; } .blocking { background: #111; color: #fff; print-color-adjust: exact; }
  ul { margin: .3rem 0 1rem; padding-left: 1.1rem; font-size: 7.5pt; columns: 2; } li { break-inside: avoid; overflow-wrap: anywhere; }
`;

interface Subject {
  /** What was checked: the names of files, or what is stored. */
  readonly sources: readonly string[];
  readonly model: string;
  readonly made: Date;
}

export function reportHtml(report: CheckReport, { sources, model, made }: Subject, words: ReportWords): string {
  const { period, variant, findings } = report;
  const title = words.title(variant.toUpperCase());
  const [blocking, warnings] = [countFindings(report, 'blocking'), countFindings(report, 'warning')];
  const about: readonly (readonly [string, string])[] = [
    [words.checked, sources.join(', ')],
    [words.period, period === undefined ? words.unknown : words.between(period.start, period.end)],
    [words.model, `${variant.toUpperCase()} ${model}`],
    [words.made, words.at(made)],
    [words.result, findings.length === 0 ? words.nothing : words.summary(blocking, warnings)],
  ];
  return `<!DOCTYPE html>
<html lang="${words.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<dl>
${about.map(([name, text]) => `<dt>${name}</dt><dd>${escaped(text)}</dd>`).join('\n')}
</dl>
${countsHtml(report, words)}
<h2>${words.findings}</h2>
${findings.length === 0 ? `<p>${words.nothing}</p>` : findings.map((finding) => findingHtml(finding, words)).join('\n')}
</main>
<footer><p>${words.footer}</p></footer>
</body>
</html>
`;
}

function findingHtml({ rule, severity, count, places }: Finding, words: ReportWords): string {
  const more = count - places.length;
  const items = places.map(
    ({ pointer, what }) => `<li><code>${escaped(pointer || '/')}</code> ${withCode(words.what(what))}</li>`,
  );
  return `<h3><span class="severity ${severity}">${words.severity[severity]}</span> ${words.ruleName(rule)}, ${words.times(count)}: ${withCode(words.ruleText(rule))}</h3>
<ul>
${items.join('\n')}${more > 0 ? `\n<li>${words.more(more)}</li>` : ''}
</ul>`;
}

/** Names of members are between backticks. */
function withCode(text: string): string {
  return escaped(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

/** A row for each municipality, with a bar for its records. */
function countsHtml(report: CheckReport, words: ReportWords): string {
  const { head, rows } = countsTable(report, words.municipality);
  if (rows.length === 0) return `<h2>${words.counts}</h2>\n<p>${words.noRecords}</p>`;
  const most = Math.max(...rows.map(([, records]) => Number(records)));
  const lines = rows.map(([name = '', ...counts]) => {
    const part = Number(counts[0]) / most;
    const bar = part > 0 ? `<span style="width:${(part * 100).toFixed(1)}%"></span>` : '';
    const cells = counts.map((count) => `<td>${count}</td>`).join('');
    return `<tr><th scope="row">${escaped(name)}</th><td class="bar">${bar}</td>${cells}</tr>`;
  });
  const heads = head.map(words.column).toSpliced(1, 0, '');
  return `<h2>${words.countsPer}</h2>
<table>
<thead><tr>${heads.map((name) => `<th scope="col">${escaped(name)}</th>`).join('')}</tr></thead>
<tbody>
${lines.join('\n')}
</tbody>
</table>
<p>${words.last[report.variant]}</p>`;
}

function escaped(text: string): string {
  const entities = new Map([
    ['&', '&amp;'],
    ['<', '&lt;'],
    ['>', '&gt;'],
    ['"', '&quot;'],
    ["'", '&#39;'],
  ]);
  return text.replaceAll(/[&<>"']/g, (character) => entities.get(character) ?? character);
}
