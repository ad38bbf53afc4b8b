/** What the demo tells: sections, lines, and checks that are counted. */
export interface Transcript {
  section(title: string): void;
  line(text?: string): void;
  /** A command to try, on a line of its own so that it can be copied. */
  command(text: string): void;
  /** Names a check and how it went. */
  check(name: string, isRight: boolean, found?: string): void;
  /** Runs a part; what it throws becomes a failed check, and the next part goes on. */
  part(name: string, work: () => Promise<void>): Promise<void>;
  readonly passed: number;
  readonly failed: number;
}

/** @param write takes whole lines, with their end */
export function createTranscript(write: (text: string) => void): Transcript {
  let passed = 0;
  let failed = 0;
  let sections = 0;
  const transcript: Transcript = {
    get passed() {
      return passed;
    },
    get failed() {
      return failed;
    },
    section(title) {
      sections += 1;
      write(`\n${sections}. ${title}\n`);
    },
    line: (text = '') => write(text === '' ? '\n' : `   ${text}\n`),
    command: (text) => write(`     $ ${text}\n`),
    check(name, isRight, found) {
      if (isRight) passed += 1;
      else failed += 1;
      write(
        `   ${isRight ? 'ok    ' : 'FAILED'} ${name}${isRight || found === undefined ? '' : ` (found: ${found})`}\n`,
      );
    },
    async part(name, work) {
      try {
        await work();
      } catch (error) {
        transcript.check(name, false, error instanceof Error ? error.message : String(error));
      }
    },
  };
  return transcript;
}
