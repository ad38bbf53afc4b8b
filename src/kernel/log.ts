import { pino } from 'pino';

/** The part of a pino logger that ours is used through. */
export type Logger = pino.Logger;

/** The process's logger: JSON lines on the given stream (standard output when absent). */
export function createLogger(level: string, stream?: pino.DestinationStream): Logger {
  const options = {
    level,
    base: null,
    serializers: { err: (error: unknown) => logError(error) },
    formatters: { log: hideSecrets },
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  return hidingBindings(stream === undefined ? pino(options) : pino(options, stream));
}

/** Pino formats what is logged, not what a child logger is made with. */
function hidingBindings(logger: Logger): Logger {
  const { child } = logger;
  return Object.defineProperty(logger, 'child', {
    value(this: Logger, bindings: pino.Bindings, ...rest: unknown[]) {
      return Reflect.apply(child, this, [hideSecrets(bindings), ...rest]);
    },
  });
}

/** An error as it is logged: what happened and where, never what it was carrying. */
interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: LoggedError;
}

/** SQLSTATE classes whose messages repeat the value that was wrong (data exception, integrity constraint). */
const VALUE_CLASSES = ['22', '23'];
const SQLSTATE = /^[0-9A-Z]{5}$/;
const MAX_LOGGED_CAUSES = 5;

/**
 * Errors of `pg` carry their client (with keys of the session) and details with rows of the table; those of others may carry a
 * request. So only named parts are taken over, instead of leaving out what is known to be secret.
 */
export function logError(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: 'not an error' };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const holdsValue = code !== undefined && SQLSTATE.test(code) && VALUE_CLASSES.includes(code.slice(0, 2));
  // A host with several addresses fails with an error for each, and no message of its own.
  const told = error.message === '' ? reasonOf(error) : error.message;
  const message = holdsValue ? `(message hidden: it may repeat a value)${constraintOf(error)}` : told;
  const frames = error.stack?.split('\n').filter((line) => line.startsWith('    at '));
  return {
    type: error.name,
    message,
    ...(code === undefined ? {} : { code }),
    ...(frames === undefined ? {} : { stack: frames.join('\n') }),
    ...(error.cause === undefined || depth >= MAX_LOGGED_CAUSES ? {} : { cause: logError(error.cause, depth + 1) }),
  };
}

function constraintOf(error: Error): string {
  return 'constraint' in error && typeof error.constraint === 'string' ? ` constraint ${error.constraint}` : '';
}

/** Headers that may hold secrets or persons' identifiers; never logged, whoever hands them over. */
const SECRET_HEADERS = ['authorization', 'fsc-authorization', 'cookie', 'set-cookie', 'nlgov-adr-payload-sig'];

type Fields = Record<string, unknown>;

/**
 * What is to be logged, without the secrets in `headers` of its own or of a member. Copies only what it changes: pino's own `redact`
 * copies every field of every line, which takes several times as long as writing it.
 */
function hideSecrets(fields: Fields): Fields {
  let shown = hideHeaders(fields);
  for (const name of Object.keys(shown)) {
    const member = shown[name];
    // Of an error only named parts are logged, and headers are not among them; a copy would be no error any more.
    if (!isObject(member) || name === 'err') continue;
    const hidden = hideHeaders(member);
    if (hidden !== member) shown = { ...shown, [name]: hidden };
  }
  return shown;
}

function hideHeaders(holder: Fields): Fields {
  const { headers } = holder;
  if (!isObject(headers)) return holder;
  const secrets = SECRET_HEADERS.filter((name) => Object.hasOwn(headers, name));
  if (secrets.length === 0) return holder;
  return { ...holder, headers: { ...headers, ...Object.fromEntries(secrets.map((name) => [name, '[hidden]'])) } };
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

const MAX_REASON_CAUSES = 4;

/**
 * Why something failed, in one line for operators, down to the cause: `fetch failed: connect ECONNREFUSED 127.0.0.1:443`. A name with
 * several addresses fails with an error for each and no message of its own; what `fetch` throws says nothing but its cause does.
 */
export function reasonOf(error: unknown, depth = 0): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const own =
    error instanceof AggregateError && error.message === '' && error.errors.length > 0
      ? [...new Set(error.errors.map((one) => reasonOf(one, depth + 1)))].join('; ')
      : error.message || code || error.name;
  const named = code === undefined || own.includes(code) || !/^[A-Z][A-Z0-9_]+$/.test(code) ? own : `${own} (${code})`;
  if (error.cause === undefined || depth >= MAX_REASON_CAUSES) return named;
  const cause = reasonOf(error.cause, depth + 1);
  return named.includes(cause) ? named : `${named}: ${cause}`;
}

/** Why a port could not be had, naming the variable that chooses another; `undefined` when that is not what went wrong. */
export function portError(error: unknown, port: number, variable: string): Error | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const options = { cause: error };
  const choose = `set ${variable} to another one, or to 0 for a free one`;
  if (error.code === 'EADDRINUSE') return new Error(`port ${port} is taken; ${choose}`, options);
  if (error.code === 'EACCES') return new Error(`port ${port} may not be opened by this user; ${choose}`, options);
  return undefined;
}
