import { createDatabase } from '../support/database.ts';
import { callProgram, type Ended } from '../support/program.ts';

/** The program with its own database, as an operator of an aggregator runs it. */
export interface ProgramOnDatabase {
  readonly databaseUrl: string;
  readonly env: Readonly<Record<string, string>>;
  run(...words: string[]): Promise<Ended>;
  /** Runs it with `--json`; output other than one line of JSON is an error. */
  json(...words: string[]): Promise<{ status: number | null; stderr: string; result: unknown }>;
  drop(): Promise<void>;
}

export async function programOnDatabase(more: Readonly<Record<string, string>> = {}): Promise<ProgramOnDatabase> {
  const database = await createDatabase();
  const env = {
    DATABASE_URL: database.url,
    'database.connectTimeoutMs': '30000',
    RAADSFEED_ROL: 'aggregator',
    AGGREGATOR_ALLOW_PRIVATE: 'true',
    'raadsfeed.sourcesTimeoutMs': '2000',
    ...more,
  };
  const run = (...words: string[]): Promise<Ended> => callProgram(words, env);
  return {
    databaseUrl: database.url,
    env,
    run,
    async json(...words) {
      const { status, stdout, stderr } = await run(...words, '--json');
      return { status, stderr, result: stdout === '' ? undefined : JSON.parse(stdout) };
    },
    drop: () => database.drop(),
  };
}
