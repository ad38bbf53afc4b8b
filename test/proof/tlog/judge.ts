/** Go's own packages as a judge: run where Go is installed, and replayed from recorded answers elsewhere. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const DIRECTORY = join(import.meta.dirname, '../../fixtures/proof/judge');

export interface Question {
  /** Leaves of the largest tree; leaf i is the entry "entry i". */
  readonly size: number;
  readonly roots?: readonly number[];
  /** Index, size. */
  readonly inclusion?: readonly (readonly [number, number])[];
  /** Old size, new size. */
  readonly consistency?: readonly (readonly [number, number])[];
  readonly check?: readonly { kind: 'inclusion' | 'consistency'; a: number; b: number; proof: readonly string[] }[];
  readonly tiles?: readonly number[];
  readonly seeds?: Readonly<Record<string, string>>;
  readonly sign?: readonly string[];
  readonly open?: readonly { key: string; note: string }[];
}

export interface Answer {
  readonly roots: readonly string[];
  readonly inclusion: readonly (readonly string[])[];
  readonly consistency: readonly (readonly string[])[];
  readonly check: readonly boolean[];
  /** SHA-256 of each tile, in hexadecimal. */
  readonly tiles: Readonly<Record<string, string>>;
  readonly keys: Readonly<Record<string, string>>;
  readonly signed: readonly Readonly<Record<string, string>>[];
  readonly opened: readonly string[];
}

/** True when Go is on the path and can build the judge; otherwise only recorded answers are compared. */
export const hasGo = spawnSync('go', ['build', '-o', '/dev/null', '.'], { cwd: DIRECTORY }).status === 0;

/** Added to titles when the judge is unavailable. */
export const WITHOUT_GO = hasGo ? '' : ' (Go is not on the path: recorded answers only)';

export function askGo(question: Question): Answer {
  const { status, stdout, stderr } = spawnSync('go', ['run', '.'], {
    cwd: DIRECTORY,
    input: JSON.stringify(question),
    maxBuffer: 2 ** 28,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the judge failed: ${stderr}`);
  const answer: Answer = JSON.parse(stdout);
  return answer;
}

export function recorded(): { readonly question: Question; readonly answer: Answer } {
  return JSON.parse(readFileSync(join(DIRECTORY, 'recorded.json'), 'utf8'));
}
