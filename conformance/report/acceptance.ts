/** The end of a report on the data exchange: what both parties sign when they agree on it. */
import { type Html, html } from '../../src/lib/template.ts';
import { type ConformanceReport, verdictOf } from './report.ts';

/** Suites whose result two parties agree on. */
const AGREED: Readonly<Record<string, readonly [tested: string, other: string]>> = {
  gegevens: ['Supplier (tested)', 'Requester'],
  'gegevens-requester': ['Requester (tested)', 'Supplier or network operator'],
};
const FIELDS = ['Organisation', 'Name', 'Function', 'Date', 'Signature'];

/** The section for signatures; undefined for other suites. */
export function acceptance(report: ConformanceReport): Html | undefined {
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
  const blank = (): Html => html`<td class="blank"></td>`;
  return html`<section class="acceptance">
<h2>Acceptance</h2>
<ul>${terms.map((term) => html`<li>${term}</li>`)}</ul>
<p>Version of the tested software, agreements and remarks:</p>
<p class="remarks"></p>
<table><thead><tr><th scope="col">Party</th>${FIELDS.map((field) => html`<th scope="col">${field}</th>`)}</tr></thead><tbody>
${parties.map((party) => html`<tr><th scope="row">${party}</th>${FIELDS.map(blank)}</tr>`)}
</tbody></table>
</section>`;
}
