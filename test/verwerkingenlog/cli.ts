import { execFile } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { KEY } from './support.ts';

export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly error: string;
  readonly json: unknown;
}

/** Runs the program itself against a database. */
export function koppelvlak(
  databaseUrl: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(import.meta.dirname, '../../src/cli/main.ts'), ...args],
      { env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl, VERWERKINGENLOG_KEY: KEY, ...env } },
      (failure, out, error) => {
        const code = typeof failure?.code === 'number' ? failure.code : failure === null ? 0 : -1;
        resolve({ code, out, error, json: out.startsWith('{') || out.startsWith('[') ? JSON.parse(out) : undefined });
      },
    );
  });
}
