import { join } from 'node:path';
import {
  type CallOptions,
  callProgram,
  type Ended,
  type ProgramOptions,
  type Running,
  startProgram,
} from '../../test/support/program.ts';
import { runConformance } from '../program.ts';

/** The file of the program. */
export const MAIN = join(import.meta.dirname, '../main.ts');

type Environment = Readonly<Record<string, string>>;

/** As `startProgram`, for the program of the suites. */
export function startConformance(args: readonly string[], env: Environment, options: ProgramOptions = {}): Running {
  return startProgram(args, env, { ...options, main: MAIN });
}

/** As `callProgram`, for the program of the suites. */
export function callConformance(args: readonly string[], env: Environment, options: CallOptions = {}): Promise<Ended> {
  return callProgram(args, env, { ...options, run: runConformance });
}
