/** Ends a run of the mutants with the failures on each, and one table of all suites. */
import process from 'node:process';
import type { Reporter, TestModule } from 'vitest/node';
import { LEVELS } from '../case.ts';
import { SUITES } from '../suites.ts';
import { MUTANTS } from './mutants/all.ts';

export class MutantsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const ran = modules.flatMap(({ children }) => [...children.allTests()].flatMap((test) => test.meta().mutant ?? []));
    const lines: string[] = [];
    const rows = [['suite', ...LEVELS, 'mutants', 'ran', 'survived', 'most others']];
    for (const { name, chapters } of SUITES) {
      const own = ran.filter(({ suite }) => suite === name);
      const others = own.map(({ kills, failed }) => failed.filter((id) => id !== kills));
      own.forEach(({ kills, what, failed }, i) => {
        const also = others[i]?.join(', ') ?? '';
        lines.push(`${failed.includes(kills) ? 'killed  ' : 'SURVIVED'} ${kills} ${what}${also && ` (also ${also})`}`);
      });
      const levels = chapters.flatMap(({ cases }) => cases.map(({ level }) => level));
      const survived = own.filter(({ kills, failed }) => !failed.includes(kills)).length;
      rows.push([
        name,
        ...[...LEVELS.map((level) => levels.filter((one) => one === level).length), MUTANTS[name]?.length ?? 0].map(
          String,
        ),
        ...[own.length, survived, Math.max(0, ...others.map(({ length }) => length))].map(String),
      ]);
    }
    const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
    const table = rows.map((row) =>
      row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  '),
    );
    process.stdout.write(`\n${[...lines, '', ...table].join('\n')}\n`);
  }
}

export default MutantsReporter;
