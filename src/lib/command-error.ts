/** A command failed; the message gives the reason to people. */
export class CommandError extends Error {
  override readonly name: string = 'CommandError';
}

/** The command was called with wrong arguments: exit status 2. */
export class UsageError extends CommandError {
  override readonly name = 'UsageError';
}

export const OUTPUT_CLOSED = 'the reader of the output has closed it';
