/** The calls for a running demo, as in `docs/conformance.md`. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const PAGE = join(import.meta.dirname, '../../docs/conformance.md');

interface DemoCall {
  readonly suite: string;
  /** The words of the whole call, without its report directory. */
  readonly words: readonly string[];
}

/**
 * @param file demo.json
 * @param home the demo's directory
 */
export async function demoCalls(file: Readonly<Record<string, unknown>>, home: string): Promise<readonly DemoCall[]> {
  const page = (await readFile(PAGE, 'utf8')).replaceAll(/ \\\n +/g, ' ');
  const calls = [...page.matchAll(/^ {4}npm run --silent conformance -- ((\S+) .+)$/gm)];
  return calls.map(([, call = '', suite = '']) => {
    const words = call
      .replace('--report verslag/', '')
      .trim()
      .split(/ +/)
      .map((word) =>
        word
          .replace('http://127.0.0.1:8080', String(file.baseUrl))
          .replace('http://127.0.0.1:8081', String(file.issuer))
          .replace(/^\.koppelvlak/, home),
      );
    // One case waits for the maximum age of a stream.
    const faster = ['--rate', '100', '--json', ...(suite === 'raadsfeed' ? ['--not', 'C-STR-09'] : [])];
    return { suite, words: [...words, ...faster] };
  });
}
