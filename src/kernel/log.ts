import { pino } from 'pino';
import { hideSecrets } from './hide-secrets.ts';
import { logError } from './log-error.ts';

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
