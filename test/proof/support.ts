/** Servers with proof logs, and checks of their proofs as an outsider would do them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { systemClock } from '../../src/lib/time.ts';
import { openDisclosure } from '../../src/proof/record.ts';
import { checkpointIn, FormatError, parseVerifierKey } from '../../src/proof/tlog/note.ts';
import { parseProof, verifyProof } from '../../src/proof/tlog/proof-file.ts';
import { createProofWriters } from '../../src/proof/writer.ts';
import type { Outcome } from '../../src/raadsfeed/store/publish.ts';
import { createPublisher } from '../../src/raadsfeed/writer/publisher.ts';
import { readConfig } from '../../src/settings/read-config.ts';
import { changeOf, type FeedServer, startFeed } from '../raadsfeed/support.ts';

/** Nobody's secret. */
export const PROOF_KEY = Buffer.alloc(32, 9).toString('base64');

export interface StateFile {
  readonly path: string;
  /** Settings of a service that keeps its proof logs with this file. */
  readonly env: Record<string, string>;
  remove(): void;
}

export function stateFile(): StateFile {
  const directory = mkdtempSync(join(tmpdir(), 'proof-'));
  const path = join(directory, 'state.json');
  return {
    path,
    env: { NODE_ENV: 'test', PROOF_KEY, PROOF_STATE: path, 'proof.intervalSeconds': '1' },
    remove: () => rmSync(directory, { recursive: true }),
  };
}

export interface ProofFeed extends FeedServer {
  readonly state: StateFile;
  /** Publishes with the log's key. */
  prove(lines: readonly object[]): Promise<Outcome[]>;
  /** A text below `/proof/v1`, with its status. */
  get(path: string): Promise<{ status: number; text: string; headers: Headers }>;
}

export async function startProofFeed(env: Record<string, string> = {}): Promise<ProofFeed> {
  const state = stateFile();
  const feed = await startFeed({ ...state.env, ...env });
  const config = readConfig({ AREAS: 'raadsfeed', ...state.env }, 'tool');
  const publisher = createPublisher({ pool: feed.pool, clock: systemClock, proof: createProofWriters(config) });
  return {
    ...feed,
    state,
    prove: (lines) => publisher.publish(lines.map(changeOf)),
    get: (path) => getText(`${feed.server.url}/proof/v1${path}`),
    async stop() {
      await feed.stop();
      state.remove();
    },
  };
}

export async function getText(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string; headers: Headers }> {
  const answer = await fetch(url, { headers });
  return { status: answer.status, text: await answer.text(), headers: answer.headers };
}

/** Waits until the log at this address has this many leaves. */
export async function hasLeaves(address: string, size: number): Promise<string> {
  let note = '';
  await expect
    .poll(
      async () => {
        note = (await getText(`${address}/checkpoint`)).text;
        return checkpointIn(note).size;
      },
      { interval: 50 },
    )
    .toBeGreaterThanOrEqual(size);
  return note;
}

/** The proof's verdict on these parts, for somebody with only the verifier key. */
export function judge(proofText: string, parts: Readonly<Record<string, unknown>>, verifierKey: string) {
  const proof = parseProof(proofText);
  try {
    const { entry } = openDisclosure(parts, proof.extra);
    return { isProven: true, ...verifyProof(proof, entry, [parseVerifierKey(verifierKey.trim())]) };
  } catch (error) {
    if (error instanceof FormatError) return { isProven: false, reason: error.message };
    throw error;
  }
}
