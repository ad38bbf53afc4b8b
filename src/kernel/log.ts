import { pino } from 'pino';
import { logError } from './log-error.ts';

/** The part of a pino logger that ours is used through. */
export type Logger = pino.Logger;

/** Headers that may hold secrets or persons' identifiers; never logged, whoever hands them over. */
const SECRET_PATHS = ['authorization', 'fsc-authorization', 'cookie', 'set-cookie', 'nlgov-adr-payload-sig'].flatMap(
  (name) => [`headers["${name}"]`, `*.headers["${name}"]`],
);

/** The process's logger: JSON lines on the given stream (standard output when absent). */
export function createLogger(level: string, stream?: pino.DestinationStream): Logger {
  const options = {
    level,
    base: null,
    serializers: { err: (error: unknown) => logError(error) },
    redact: { paths: SECRET_PATHS, censor: '[hidden]' },
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  return stream === undefined ? pino(options) : pino(options, stream);
}
