import type { AppOptions } from '../../src/app.ts';
import { createLogger } from '../../src/lib/log.ts';
import type { Clock } from '../../src/lib/time.ts';
import { type Service, serve } from '../../src/serve.ts';
import { readConfig } from '../../src/settings/read-config.ts';
import { createDatabase } from './database.ts';
import { splitOverrides } from './overrides.ts';

/** `VERWERKINGENLOG_KEY` of tests; without one a key is made in the home of whoever runs them. */
export const LOG_KEY = `test:${Buffer.alloc(32, 5).toString('base64')}`;

export interface TestServer extends Service {
  /** Lines that the server has logged, parsed. */
  readonly logged: Record<string, unknown>[];
}

export interface TestServerOptions {
  /** Environment of the server, as an operator would set it, and constants (`overrides.ts`); ports and database are added. */
  readonly env: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  /** Shares another server's database (several instances); absent: a new database. */
  readonly databaseUrl?: string;
  /** Registers these instead of the interfaces that the environment names. */
  readonly register?: NonNullable<AppOptions['register']>;
}

/** The real server on free loopback ports, on its own database; `stop` also drops the database. */
export async function startServer(options: TestServerOptions): Promise<TestServer> {
  const own = options.databaseUrl === undefined ? await createDatabase() : undefined;
  const logged: Record<string, unknown>[] = [];
  const log = createLogger('info', { write: (line) => void logged.push(JSON.parse(line)) });
  const { env, overrides } = splitOverrides({
    NODE_ENV: 'test',
    PORT: '0',
    MANAGEMENT_PORT: '0',
    DATABASE_URL: options.databaseUrl ?? own?.url ?? '',
    VERWERKINGENLOG_KEY: options.env.NODE_ENV === 'production' ? '' : LOG_KEY,
    // A busy machine must not cause 503 here.
    ...(options.env.NODE_ENV === 'production'
      ? {}
      : { 'server.overloadEventLoopDelayMs': '0', 'server.requestTimeoutMs': '45000' }),
    ...options.env,
  });
  try {
    const service = await serve({
      config: readConfig(env, options.register === undefined ? 'serve' : 'tool', overrides),
      log,
      ...(options.register === undefined ? {} : { register: options.register }),
      ...(options.clock === undefined ? {} : { clock: options.clock }),
    });
    let stopping: Promise<void> | undefined;
    const stop = (): Promise<void> => {
      stopping ??= service.stop().then(() => own?.drop());
      return stopping;
    };
    return { ...service, stop, logged };
  } catch (error) {
    await own?.drop();
    throw error;
  }
}
