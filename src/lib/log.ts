import { pino } from 'pino';
import { isRecord } from './json/json-value.ts';

export type Logger = Pick<
  pino.BaseLogger,
  'level' | 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'
>;

/** Headers that may hold secrets or personal identifiers; never logged. */
const SECRET_HEADERS = ['authorization', 'fsc-authorization', 'cookie', 'set-cookie', 'nlgov-adr-payload-sig'];
/** Also in the bindings of a child logger. `*` would cover every member, but copies all members of every line: 16 us for a line instead of 2. */
const SECRET_PATHS = SECRET_HEADERS.flatMap((name) => [`headers["${name}"]`, `request.headers["${name}"]`]);

export function createLogger(level: string, stream?: pino.DestinationStream): pino.Logger {
  const options = {
    level,
    base: null,
    formatters: { log: hideInMembers },
    serializers: { err: (error: unknown) => logError(error) },
    redact: { paths: SECRET_PATHS, censor: '[hidden]' },
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  return stream === undefined ? pino(options) : pino(options, stream);
}

/** Hides them in the `headers` of any member of a line, and copies only such a member. Of `err` only listed members are logged. */
function hideInMembers(line: Record<string, unknown>): Record<string, unknown> {
  let shown = line;
  for (const [name, member] of Object.entries(line)) {
    if (name === 'err' || !isRecord(member) || !isRecord(member.headers)) continue;
    const { headers } = member;
    const hidden = SECRET_HEADERS.filter((header) => headers[header] !== undefined).map((header) => [
      header,
      '[hidden]',
    ]);
    shown = { ...shown, [name]: { ...member, headers: { ...headers, ...Object.fromEntries(hidden) } } };
  }
  return shown;
}

interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: LoggedError;
}

/** SQLSTATE classes whose messages repeat the wrong value (data exception, integrity constraint). */
const VALUE_CLASSES = ['22', '23'];
const SQLSTATE = /^[0-9A-Z]{5}$/;
const MAX_LOGGED_CAUSES = 5;

/** Errors of `pg` carry their client (with session keys) and rows; others may carry a request. So only listed members are logged. */
export function logError(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: 'not an error' };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const message = hiddenMessage(error, code) ?? (error.message === '' ? reasonOf(error) : error.message);
  const frames = error.stack?.split('\n').filter((line) => line.startsWith('    at '));
  return {
    type: error.name,
    message,
    ...(code === undefined ? {} : { code }),
    ...(frames === undefined ? {} : { stack: frames.join('\n') }),
    ...(error.cause === undefined || depth >= MAX_LOGGED_CAUSES ? {} : { cause: logError(error.cause, depth + 1) }),
  };
}

/** Replaces the message of an error that may repeat stored data; undefined for others. */
function hiddenMessage(error: Error, code: string | undefined): string | undefined {
  const holdsValue = code !== undefined && SQLSTATE.test(code) && VALUE_CLASSES.includes(code.slice(0, 2));
  return holdsValue ? `(message hidden: it may repeat a value)${constraintOf(error)}` : undefined;
}

function constraintOf(error: Error): string {
  return 'constraint' in error && typeof error.constraint === 'string' ? ` constraint ${error.constraint}` : '';
}

const MAX_REASON_CAUSES = 4;

/** The reason of a failure in one line for operators, down to the cause: `fetch failed: connect ECONNREFUSED 127.0.0.1:443`. */
export function reasonOf(error: unknown, depth = 0): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const parts = error.message === '' ? partsOf(error) : [];
  const own =
    parts.length > 0
      ? [...new Set(parts.map((part) => reasonOf(part, depth + 1)))].join('; ')
      : hiddenMessage(error, code) || error.message || code || error.name;
  const named = code === undefined || own.includes(code) || !/^[A-Z][A-Z0-9_]+$/.test(code) ? own : `${own} (${code})`;
  if (error.cause === undefined || depth >= MAX_REASON_CAUSES) return named;
  const cause = reasonOf(error.cause, depth + 1);
  return named.includes(cause) ? named : `${named}: ${cause}`;
}

/** Each address of a host may have failed, or the release (`await using`) after a failure. */
function partsOf(error: Error): readonly unknown[] {
  if (error instanceof SuppressedError) return [error.suppressed, error.error];
  return error instanceof AggregateError ? error.errors : [];
}

/** The error of a port that cannot be opened, naming the variable to change; `undefined` for other errors. */
export function portError(error: unknown, port: number, variable: string): Error | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const options = { cause: error };
  const choose = `set ${variable} to another port, or to 0 for a free one`;
  if (error.code === 'EADDRINUSE') return new Error(`port ${port} is taken; ${choose}`, options);
  if (error.code === 'EACCES') return new Error(`port ${port} may not be opened by this user; ${choose}`, options);
  return undefined;
}
