import { UsageError } from '../../src/lib/command-error.ts';
import { reasonOf } from '../../src/lib/log.ts';
import { createGuardedFetch } from '../../src/lib/outbound/guarded-fetch.ts';
import { readContract } from '../contract.ts';
import { readMessages, type SignedMessage } from '../signature/message.ts';
import { SIGNATURES } from '../signature/suite.ts';
import { readTrust } from '../signature/trust.ts';
import { type SuiteOptions, testSuite } from './test-suite.ts';
import { asUsage, readBytes, readText, type ToolContext } from './tool.ts';

export interface SignatureOptions extends SuiteOptions {
  readonly trust?: string;
  readonly crl?: readonly string[];
  readonly online?: boolean;
  readonly at?: Date;
}

/**
 * @param files with one signed message each
 * @throws {UsageError} when there is nothing to test
 */
export async function testMessages(
  context: ToolContext,
  files: readonly string[],
  options: SignatureOptions,
): Promise<void> {
  const { trust: roots, crl = [], online, at = new Date() } = options;
  if (files.length === 0) throw new UsageError('a file with a signed message is needed');
  if (roots === undefined) throw new UsageError('--trust is needed');
  if (online && crl.length > 0) throw new UsageError('--online and --crl exclude each other');
  const network = createGuardedFetch({ allowPrivate: context.allowPrivate, proxy: context.proxy });
  try {
    const [anchors, lists] = await Promise.all([readText(roots), Promise.all(crl.map(readBytes))]);
    const messages: SignedMessage[] = [];
    for (const file of files) {
      const found = await readMessages(file).catch((error: unknown) => {
        throw error instanceof UsageError ? error : new UsageError(`${file} cannot be read: ${reasonOf(error)}`);
      });
      messages.push(...found);
    }
    const fetch = online ? network.fetch : undefined;
    const trust = asUsage('--trust', () => readTrust({ anchors, at, lists, fetch, signal: context.interrupted }));
    await testSuite(context, {
      suite: SIGNATURES,
      options,
      tested: files.join(' '),
      words: files,
      open: async (client) => ({ client, values: {}, fault: readContract('gegevens.yaml'), messages, trust }),
    });
  } finally {
    await network.close();
  }
}
