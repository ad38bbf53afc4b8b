/** The file cannot be cut: its brackets, commas or sizes are wrong. The message is for operators. */
export class CutError extends Error {
  readonly line: number;
  constructor(message: string, line: number) {
    super(message);
    this.name = 'CutError';
    this.line = line;
  }
}
