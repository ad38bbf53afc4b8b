import { reasonOf } from './reason.ts';

/** An error as it is logged: what happened and where, never what it was carrying. */
export interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: LoggedError;
}

/** SQLSTATE classes whose messages repeat the value that was wrong (data exception, integrity constraint). */
const VALUE_CLASSES = ['22', '23'];
const SQLSTATE = /^[0-9A-Z]{5}$/;
const MAX_CAUSES = 5;

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
    ...(error.cause === undefined || depth >= MAX_CAUSES ? {} : { cause: logError(error.cause, depth + 1) }),
  };
}

function constraintOf(error: Error): string {
  return 'constraint' in error && typeof error.constraint === 'string' ? ` constraint ${error.constraint}` : '';
}
