import { UsageError } from '../../../cli/run-command.ts';

/** @throws {UsageError} when the value of an option cannot be used */
export function asUsage<Value>(option: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error) throw new UsageError(`${option}: ${error.message}`);
    throw error;
  }
}
