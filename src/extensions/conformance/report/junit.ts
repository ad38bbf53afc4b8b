/** The report as JUnit for a build, and as a badge. */
import type { ConformanceReport, ReportedCase } from './report.ts';

/** @see https://github.com/testmoapp/junitxml for the form that builds read */
export function reportJunit({ cases, suite, subject }: ConformanceReport): string {
  const isFailure = (one: ReportedCase): boolean => one.outcome === 'failed' && one.expected !== true;
  const isSkipped = ({ outcome, expected }: ReportedCase): boolean =>
    outcome === 'skipped' || outcome === 'not-judged' || expected === true;
  const lines = cases.map((one) => {
    const reason = escaped(one.reason ?? '');
    const inside = isFailure(one)
      ? `<failure message="${reason}">${escaped(one.again ?? '')}</failure>`
      : one.outcome === 'inconclusive'
        ? `<error message="${reason}"/>`
        : isSkipped(one)
          ? `<skipped message="${reason}"/>`
          : '';
    return `    <testcase classname="${escaped(`${suite}.${one.chapter}`)}" name="${escaped(`${one.id} ${one.title}`)}">${inside}</testcase>`;
  });
  const count = (isMeant: (one: ReportedCase) => boolean): number => cases.filter(isMeant).length;
  const counts = `tests="${cases.length}" failures="${count(isFailure)}" errors="${count(({ outcome }) => outcome === 'inconclusive')}" skipped="${count(isSkipped)}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites ${counts}>
  <testsuite name="${escaped(`${suite} ${subject}`)}" ${counts}>
${lines.join('\n')}
  </testsuite>
</testsuites>
`;
}

/** A badge of 20 pixels high, with what it says as its text. */
export function reportBadge({ conforms, suite, cases }: ConformanceReport): string {
  const musts = cases.filter(
    ({ level, outcome }) => level === 'must' && (outcome === 'passed' || outcome === 'failed'),
  );
  const passed = musts.filter(({ outcome }) => outcome === 'passed').length;
  const [left, right] = [suite, `${passed}/${musts.length} must`];
  const width = (text: string): number => text.length * 7 + 12;
  const [leftWidth, rightWidth] = [width(left), width(right)];
  const text = (x: number, words: string): string => `<text x="${x}" y="14">${escaped(words)}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${leftWidth + rightWidth}" height="20" role="img" aria-label="${escaped(`${left}: ${right}`)}">
<title>${escaped(`${left}: ${right}`)}</title>
<rect width="${leftWidth}" height="20" fill="#333"/><rect x="${leftWidth}" width="${rightWidth}" height="20" fill="${conforms ? '#176317' : '#a11212'}"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">${text(6, left)}${text(leftWidth + 6, right)}</g>
</svg>
`;
}

/** Also without the characters that XML 1.0 does not have. */
export function escaped(text: string): string {
  const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return [...text.toWellFormed()]
    .filter((character) => character >= ' ' || '\t\n'.includes(character))
    .map((character) => entities[character] ?? character)
    .join('');
}
