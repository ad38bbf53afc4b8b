/** Prints the cases of the conformance suites; with `--write` puts them into docs/conformance.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SuiteDescription } from '../conformance/case.ts';
import { SUITES } from '../conformance/suites.ts';

const PAGE = join(import.meta.dirname, '../docs/conformance.md');
const BEGIN = '<!-- cases: written by `npm run docs` -->';

/** Every case with its level, its source and what it tests in Dutch and English, as Markdown. */
function casesTable(): string {
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

/** The page with the cases as they must be: they are its end. @throws when it has no place for them */
export function withCases(page: string): string {
  const [before, ...rest] = page.split(BEGIN);
  if (before === undefined || rest.length !== 1) throw new Error('docs/conformance.md has no place for the cases');
  return `${before}${BEGIN}\n\n${casesTable()}\n`;
}

if (import.meta.main) {
  if (process.argv.includes('--write')) writeFileSync(PAGE, withCases(readFileSync(PAGE, 'utf8')));
  else console.log(casesTable());
}
