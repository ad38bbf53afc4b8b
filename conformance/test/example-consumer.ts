/** The example consumer, run in this process so that it follows all feeds at once, optionally with a part of its text replaced. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Consumer, type HeldResource, heldResource } from '../raadsfeed-consumer/consumer.ts';

export const CONSUMER_MJS = join(import.meta.dirname, '../../examples/conformance/consumer.mjs');

/** Texts of the example and their replacements. */
export type Replacements = readonly (readonly [text: string, by: string])[];

interface ExampleModule {
  answerTo(message: { readonly feed: string }): Promise<{ readonly state: readonly unknown[] }>;
}

export async function exampleConsumer(replacements: Replacements = []): Promise<Consumer> {
  let source = await readFile(CONSUMER_MJS, 'utf8');
  const loop = source.indexOf('for await (const line of createInterface');
  source = `${source.slice(0, loop)}export { answerTo };\n`;
  for (const [text, by] of replacements) {
    if (source.split(text).length !== 2) throw new Error(`the example does not have ${text} once`);
    source = source.replace(text, () => by);
  }
  const directory = await mkdtemp(join(tmpdir(), 'koppelvlak-example-'));
  const file = join(directory, 'consumer.mjs');
  await writeFile(file, source);
  const { answerTo }: ExampleModule = await import(pathToFileURL(file).href);
  return {
    atOnce: true,
    pauseMs: 100,
    async read({ url }): Promise<readonly HeldResource[]> {
      const { state } = await answerTo({ feed: url });
      return state.map(heldResource);
    },
    close: () => rm(directory, { recursive: true, force: true }),
  };
}
