import { type Html, html } from '../../src/lib/template.ts';
import type { Outcome } from '../case.ts';
import type { ConformanceReport, ReportedCase } from './report.ts';

/** @see https://github.com/testmoapp/junitxml for the form that builds read */
export function reportJunit({ cases, suite, subject }: ConformanceReport): string {
  const shown = ({ outcome, expected }: ReportedCase): Outcome =>
    outcome === 'not-judged' || expected ? 'skipped' : outcome;
  const count = (outcome: Outcome): number => cases.filter((one) => shown(one) === outcome).length;
  const inside = (one: ReportedCase): Html | undefined => {
    const outcome = shown(one);
    if (outcome === 'failed') return html`<failure message="${one.reason}">${one.again}</failure>`;
    if (outcome === 'inconclusive') return html`<error message="${one.reason}"/>`;
    return outcome === 'skipped' ? html`<skipped message="${one.reason}"/>` : undefined;
  };
  const counts = html`tests="${cases.length}" failures="${count('failed')}" errors="${count('inconclusive')}" skipped="${count('skipped')}"`;
  return html`<?xml version="1.0" encoding="UTF-8"?>
<testsuites ${counts}>
  <testsuite name="${suite} ${subject}" ${counts}>
${cases.map((one) => html`    <testcase classname="${suite}.${one.chapter}" name="${one.id} ${one.title}">${inside(one)}</testcase>\n`)}  </testsuite>
</testsuites>
`.markup;
}

/** A badge, 20 pixels high, with its message as text. */
export function reportBadge({ conforms, suite, cases }: ConformanceReport): string {
  const musts = cases.filter(
    ({ level, outcome }) => level === 'must' && (outcome === 'passed' || outcome === 'failed'),
  );
  const passed = musts.filter(({ outcome }) => outcome === 'passed').length;
  const [left, right] = [suite, `${passed}/${musts.length} must`];
  const width = (text: string): number => text.length * 7 + 12;
  const [leftWidth, rightWidth] = [width(left), width(right)];
  const text = (x: number, words: string): Html => html`<text x="${x}" y="14">${words}</text>`;
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${leftWidth + rightWidth}" height="20" role="img" aria-label="${left}: ${right}">
<title>${left}: ${right}</title>
<rect width="${leftWidth}" height="20" fill="#333"/><rect x="${leftWidth}" width="${rightWidth}" height="20" fill="${conforms ? '#176317' : '#a11212'}"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">${text(6, left)}${text(leftWidth + 6, right)}</g>
</svg>
`.markup;
}
