/**
 * Runs the cases for a requester: plays suppliers with keys made for the run, and drives the requester or waits for its
 * requests.
 */
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { UsageError } from '../../src/lib/command-error.ts';
import { loadModel } from '../../src/lib/exchange-model/model.ts';
import { createGuardedFetch } from '../../src/lib/outbound/guarded-fetch.ts';
import { createMask } from '../mask.ts';
import { restartedProgram, wordsOf } from '../protocol.ts';
import { makeKeys } from '../requester/keys.ts';
import { SCENARIO_NAMES } from '../requester/scenarios.ts';
import { requesterSubject, waitForRequests } from '../requester/subject.ts';
import { REQUESTER } from '../requester/suite.ts';
import { type ReceivedRequest, startSuppliers } from '../requester/suppliers.ts';
import { saveExchange } from '../saved-exchanges.ts';
import { readTrust } from '../signature/trust.ts';
import { type SuiteOptions, testSuite } from './test-suite.ts';
import { asUsage, readJoined, type ToolContext } from './tool.ts';

export interface RequesterOptions extends SuiteOptions {
  readonly variant?: 'shv' | 'vs';
  readonly model?: string;
  readonly keys: string;
  readonly trust?: string;
  readonly command?: string;
  readonly port: number;
  readonly wait: number;
}

const ANSWER_MS = 120_000;
const QUIET_MS = 10_000;

/** @throws {UsageError} when there is nothing to test */
export async function testRequester(context: ToolContext, options: RequesterOptions): Promise<void> {
  const { variant, port, command } = options;
  if (variant === undefined) throw new UsageError('--variant is needed: shv or vs');
  const words = command === undefined ? undefined : wordsOf(command);
  const model = asUsage('--model', () => loadModel(variant, options.model));
  const directory = resolve(options.keys);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const { interrupted: signal, terminal, proxy } = context;
  const token = randomBytes(24).toString('base64url');
  const keys = await makeKeys(directory);
  const network = createGuardedFetch({ allowPrivate: true, proxy });
  const suppliers = await startSuppliers({ keys, model, port, token });
  const program = words && restartedProgram({ command: words, env: terminal.env, timeoutMs: ANSWER_MS, signal });
  try {
    const anchors = await readJoined(options.trust === undefined ? [keys.root] : [keys.root, options.trust]);
    const trust = asUsage('--trust', () => readTrust({ anchors, at: new Date(), fetch: network.fetch, signal }));
    await testSuite(context, {
      suite: REQUESTER,
      options,
      tested: command ?? 'a requester',
      words: [],
      waitMs: program === undefined ? options.wait * 1000 : SCENARIO_NAMES.length * ANSWER_MS,
      needs: { secrets: [token] },
      open: async (client, say) => {
        const needs = { client, model, keys, suppliers, trust, token, program };
        if (program !== undefined) return requesterSubject(needs);
        // The token is valid for this run only.
        say(`trust ${keys.root}, send the token ${token}, and request the quarter 2026-01-01 to 2026-03-31:`);
        for (const name of SCENARIO_NAMES) say(`  ${suppliers.addressOf(name)}`);
        await waitForRequests(suppliers, { waitMs: options.wait * 1000, quietMs: QUIET_MS, signal });
        if (suppliers.received.length === 0) throw new UsageError('the requester sent no requests');
        return requesterSubject(needs);
      },
    });
    if (options.save !== undefined) await saveRequests(suppliers.received, options.save, token);
  } finally {
    await program?.close();
    await Promise.all([suppliers.close(), keys.close(), network.close()]);
  }
}

/** Saved like other suites' exchanges; an answer's status identifies it. */
async function saveRequests(received: readonly ReceivedRequest[], directory: string, token: string): Promise<void> {
  const mask = createMask([token]);
  for (const [index, { shown, message }] of received.entries()) {
    const exchange = { ...shown, sentBody: message.body, body: Buffer.alloc(0), json: undefined };
    await saveExchange(directory, index + 1, exchange, mask);
  }
}
