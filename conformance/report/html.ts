import { reportPage } from '../../src/lib/report-page.ts';
import { type Html, html, withCode } from '../../src/lib/template.ts';
import { OUTCOMES, type Outcome } from '../case.ts';
import {
  type ConformanceReport,
  countsByLevel,
  isWrong,
  noLongerFailing,
  type ReportedCase,
  verdictOf,
} from './report.ts';

const STYLE = `
  h2 { font-size: 1.15rem; margin: 1.75rem 0 .5rem; } h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
  p, .text { overflow-wrap: anywhere; } .id { white-space: nowrap; width: 6rem; } .level { width: 3.5rem; } .result { width: 7rem; }
  .reason { display: block; color: #444; padding-left: .8rem; }
  th, td { padding: .2rem .4rem; border-bottom: 1px solid #999; text-align: left; vertical-align: top; }
  .outcome { border: 1px solid #111; padding: 0 .4rem; white-space: nowrap; } .failed { background: #111; color: #fff; print-color-adjust: exact; }
  pre { font-size: 8pt; white-space: pre-wrap; overflow-wrap: anywhere; border-left: 3px solid #666; padding-left: .6rem; margin: .3rem 0; }
  .acceptance { break-inside: avoid; } .remarks { border: 1px solid #999; height: 20mm; } .acceptance .blank { border: 1px solid #999; height: 16mm; min-width: 20mm; }
  @media (max-width: 30rem) { body { padding: .5rem; } dl { display: block; } dt { font-weight: bold; } table { font-size: 7.5pt; } th, td { padding: .1rem .2rem; } .id, .level, .result { width: auto; } .outcome { white-space: normal; padding: 0 .1rem; } .acceptance .blank { min-width: 0; } .acceptance th { overflow-wrap: anywhere; } }
  summary { cursor: pointer; } @media print { details::details-content { content-visibility: visible; block-size: auto; } }
`;

export function reportHtml(report: ConformanceReport): string {
  const { cases, suite, subject } = report;
  const wrong = cases.filter(isWrong);
  const title = `Conformance report: ${suite}`;
  const passing = noLongerFailing(report);
  const counts = countsByLevel(cases).map(
    ([level, ...numbers]) =>
      html`<tr><th scope="row">${level}</th>${numbers.map((number) => html`<td>${number}</td>`)}</tr>`,
  );
  const about: readonly (readonly [string, string])[] = [
    ['Tested', subject],
    ['Suite', `${suite}, version ${report.version}`],
    [
      'When',
      `${report.started.slice(0, 16).replace('T', ' ')} to ${report.ended.slice(11, 16)} UTC, ${report.requests} requests`,
    ],
    [
      'Options',
      Object.entries(report.options)
        .map(([name, value]) => `--${name} ${String(value)}`)
        .join(' ') || 'none',
    ],
    ['Result', verdictOf(report)],
  ];
  const content = html`<h2>Summary</h2>
${tableOf(['level', ...OUTCOMES.map(named)], counts)}
${passing !== undefined && html`<p>${passing}</p>`}
<h2>Failures</h2>
${wrong.length === 0 ? html`<p>Nothing failed.</p>` : wrong.map(fault)}
<h2>All cases</h2>
${[...new Set(cases.map(({ chapter }) => chapter))].map((chapter) => chapterTable(chapter, cases))}
${acceptance(report)}`;
  const footer = 'Secrets and numbers that may identify a person are masked, and bodies are truncated.';
  return reportPage({ language: 'en', title, style: STYLE, about, content, footer });
}

const named = (outcome: Outcome): string => outcome.replace('-', ' ');

function outcome(name: Outcome, isExpected = false): Html {
  return html`<span class="outcome ${name}">${named(name)}${isExpected ? ', expected' : ''}</span>`;
}

function tableOf(heads: readonly string[], rows: readonly Html[]): Html {
  return html`<table><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead><tbody>
${rows}
</tbody></table>`;
}

function fault(one: ReportedCase): Html {
  const { document, clause, quote } = one.source;
  const exchanges = one.exchanges.map(({ request, sent, sentBody, status, headers, body }) => {
    const lines = (all: Readonly<Record<string, string>>): string[] =>
      Object.entries(all).map(([name, value]) => `${name}: ${value}`);
    return html`<pre>${[request, ...lines(sent), ...(sentBody === undefined ? [] : ['', sentBody]), '', String(status), ...lines(headers), '', body].join('\n')}</pre>`;
  });
  const again = one.again !== undefined && html`<p>To reproduce it:</p><pre>${one.again}</pre>`;
  return html`<h3>${outcome(one.outcome, one.expected)} ${one.id}, ${one.level}: ${withCode(one.title)}</h3>
<p>${withCode(one.reason ?? '')}</p>
<p>${document}, ${clause}: <q>${quote}</q></p>
${again}
${exchanges.length > 0 && html`<details><summary>Requests and answers</summary>${exchanges}</details>`}`;
}

/** The reason for an outcome; of a case that judges nothing, the observation. */
function reason({ level, outcome, reason: text }: ReportedCase): Html | undefined {
  if (text === undefined) return undefined;
  return html`<span class="reason">${level === 'open' && outcome === 'passed' && 'Seen: '}${withCode(text)}</span>`;
}

function chapterTable(chapter: string, cases: readonly ReportedCase[]): Html {
  const rows = cases
    .filter((one) => one.chapter === chapter)
    .map(
      (one) =>
        html`<tr><th scope="row" class="id">${one.id}</th><td class="level">${one.level}</td><td class="text">${withCode(one.title)}${reason(one)}</td><td class="result">${outcome(one.outcome, one.expected)}</td></tr>`,
    );
  const title = cases.find((one) => one.chapter === chapter)?.chapterTitle ?? '';
  return html`<h3>${chapter}: ${title}</h3>
${tableOf(['case', 'level', 'title', 'outcome'], rows)}`;
}

/** Suites whose result two parties agree on. */
const AGREED: Readonly<Record<string, readonly [tested: string, other: string]>> = {
  gegevens: ['Supplier (tested)', 'Requester'],
  'gegevens-requester': ['Requester (tested)', 'Supplier or network operator'],
};
const FIELDS = ['Organisation', 'Name', 'Function', 'Date', 'Signature'];

/** The section for signatures; undefined for other suites. */
function acceptance(report: ConformanceReport): Html | undefined {
  const { suite, cases, conforms, subject, version } = report;
  const parties = AGREED[suite];
  if (parties === undefined) return undefined;
  const announced = cases.filter(({ expected }) => expected === true).map(({ id }) => id);
  const terms = [
    `The tested implementation is called ${subject} here, with the suite ${suite} of version ${version}.`,
    conforms
      ? verdictOf(report)
      : 'At least one must case failed: by signing, the parties accept that until the date below.',
    announced.length === 0 ? 'No failures were announced.' : `Announced failures: ${announced.join(', ')}.`,
  ];
  const blanks = FIELDS.map(() => html`<td class="blank"></td>`);
  const rows = parties.map((party) => html`<tr><th scope="row">${party}</th>${blanks}</tr>`);
  return html`<section class="acceptance">
<h2>Acceptance</h2>
<ul>${terms.map((term) => html`<li>${term}</li>`)}</ul>
<p>Version of the tested software, agreements and remarks:</p>
<p class="remarks"></p>
${tableOf(['Party', ...FIELDS], rows)}
</section>`;
}
