import type { DemoAnswer } from './demo-client.ts';

export class Transcript {
  passed = 0;
  failed = 0;
  #sections = 0;
  #area = '';
  readonly #write: (text: string) => void;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** @param area begins the names of its checks */
  section(title: string, area?: string): void {
    this.#sections += 1;
    this.#area = area === undefined ? '' : `${area}: `;
    this.#write(`\n${this.#sections}. ${title}\n`);
  }

  line(text = ''): void {
    this.#write(text === '' ? '\n' : `   ${text}\n`);
  }

  command(text: string): void {
    this.#write(`     $ ${text}\n`);
  }

  check(name: string, isRight: boolean, found?: string): void {
    if (isRight) this.passed += 1;
    else this.failed += 1;
    const detail = isRight || found === undefined ? '' : ` (found: ${found})`;
    this.line(`${isRight ? 'ok    ' : 'FAILED'} ${this.#area}${name}${detail}`);
  }

  /** Checks the status of an answer; shows the status and beginning of any other. */
  status(name: string, { status, bytes }: DemoAnswer, expected: number): void {
    this.check(name, status === expected, `${status} ${bytes.toString().slice(0, 300)}`);
  }

  /** Runs a part; an exception becomes a failed check, and the next part continues. */
  async part(name: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.check(name, false, error instanceof Error ? error.message : String(error));
    }
  }
}
