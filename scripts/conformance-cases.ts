/** Prints the cases of the conformance suites; with `--write` puts them into docs/conformance.md. */
import type { SuiteDescription } from '../conformance/case.ts';
import { SUITES } from '../conformance/suites.ts';
import { writePart } from './generated-part.ts';

/** Every case with its level, source and title in Dutch and English, as Markdown. */
export function casesTable(): string {
  return SUITES.map(({ name, title, chapters }) =>
    [`## \`${name}\`: ${title.en}`, ...chapters.map(chapterTable)].join('\n\n'),
  ).join('\n\n');
}

function chapterTable({ title, cases }: SuiteDescription['chapters'][number]): string {
  const rows = cases.map(
    ({ id, level, source, title: { nl, en } }) =>
      `| ${id} | ${level} | ${[source.document, source.clause, `“${source.quote}”`].map(cell).join('<br>')} | ${cell(nl)}<br>*${cell(en)}* |`,
  );
  return [`### ${title.nl}`, '', '| case | level | source | what |', '|---|---|---|---|', ...rows].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

if (import.meta.main) {
  if (process.argv.includes('--write')) writePart('docs/conformance.md', 'cases', casesTable());
  else console.log(casesTable());
}
