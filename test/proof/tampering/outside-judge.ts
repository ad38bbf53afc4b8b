/** An outsider with Go's packages, who has the last published checkpoint and is shown the current contents of the database. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const DIRECTORY = join(import.meta.dirname, '../../fixtures/proof/judge');

/** The contents of the database; bytes are base64. */
export interface Evidence {
  /** The verifier key of the log. */
  readonly key: string;
  /** The checkpoint kept outside. */
  readonly published: string;
  /** The one in the database. */
  readonly head: string;
  /** By path. */
  readonly tiles: Readonly<Record<string, string>>;
  /** From the bundles, leaf by leaf. */
  readonly entries: readonly string[];
  /** Recomputed from the stored records. */
  readonly records: readonly ClaimedLeaf[];
  readonly removals: readonly (ClaimedLeaf & { readonly names: readonly number[] })[];
  readonly proofs: readonly ServedProof[];
}

export interface ClaimedLeaf {
  /** `null`: the record has no link to a leaf. */
  readonly index: number | null;
  /** `null`: it cannot be recomputed. */
  readonly entry: string | null;
}

/** A record and its proof as currently served; parts are canonical JSON. */
export interface ServedProof {
  readonly parts: Readonly<Record<string, string>>;
  readonly proof: string;
}

/** The parts of the evidence that an honest log must pass. */
export const CHECKS = ['head', 'tiles', 'entries', 'records'] as const;
export type Check = (typeof CHECKS)[number];

/** Empty when accepted, otherwise the reason. */
export type Verdict = Readonly<Record<Check, string>> & { readonly proofs: readonly string[] };

export interface OutsideJudge {
  ask(evidence: Evidence): Promise<Verdict>;
  close(): Promise<void>;
}

/** Builds and starts the judge; undefined when Go is not on the path or cannot build it. */
export function startOutsideJudge(): OutsideJudge | undefined {
  const directory = mkdtempSync(join(tmpdir(), 'judge-'));
  const program = join(directory, 'judge');
  if (spawnSync('go', ['build', '-o', program, './outside'], { cwd: DIRECTORY }).status !== 0) {
    rmSync(directory, { recursive: true });
    return undefined;
  }
  const child = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async ask(evidence) {
      child.stdin.write(`${JSON.stringify(evidence)}\n`);
      const { value, done } = await answers.next();
      if (done === true) throw new Error('the judge failed');
      const verdict: Verdict = JSON.parse(value);
      return verdict;
    },
    async close() {
      child.stdin.end();
      await ended(child);
      rmSync(directory, { recursive: true });
    },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}
