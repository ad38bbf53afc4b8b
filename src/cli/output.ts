import type { Terminal } from '../kernel/terminal.ts';

/** Where a command writes: results to standard output, progress and faults to standard error. */
export interface Output {
  /** True when one machine-readable result is wanted. */
  readonly json: boolean;
  /** A line for people; nothing with `--json`. */
  line(text: string): void;
  /** The one result: printed as JSON with `--json`, else through `people`. */
  result(value: unknown, people: () => void): void;
  /** A line about what is going on, on standard error. */
  progress(text: string): void;
}

export function createOutput({ stdout, stderr }: Pick<Terminal, 'stdout' | 'stderr'>, json: boolean): Output {
  const write = (text: string): void => {
    stdout.write(`${text}\n`);
  };
  return {
    json,
    line: (text) => {
      if (!json) write(text);
    },
    result: (value, people) => {
      if (json) write(JSON.stringify(value));
      else people();
    },
    progress: (text) => {
      stderr.write(`${text}\n`);
    },
  };
}

/** Rows under a heading, in columns as wide as their widest cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((cell, i) => Math.max(cell.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const render = (row: readonly string[]): string =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd();
  return [render(head), render(widths.map((width) => '-'.repeat(width))), ...rows.map(render)].join('\n');
}
