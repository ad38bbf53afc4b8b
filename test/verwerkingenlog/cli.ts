import { callProgram } from '../support/program.ts';
import { KEY } from './support.ts';

export interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
  readonly json: unknown;
}

/** Runs the program against a database. */
export async function koppelvlak(
  databaseUrl: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Outcome> {
  const given = { DATABASE_URL: databaseUrl, VERWERKINGENLOG_KEY: KEY, ...env };
  const { status: code, stdout: out, stderr: error } = await callProgram(args, given);
  return { code, out, error, json: out.startsWith('{') || out.startsWith('[') ? JSON.parse(out) : undefined };
}
