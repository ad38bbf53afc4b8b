/**
 * Attempts by someone with all rights on the database: each in a transaction that is judged before it is rolled back. `proof verify` must
 * report all of them, and an outsider with the last published checkpoint must refuse them.
 */
import type pg from 'pg';
import type { ProofLogName, StoredProof } from '../../../src/proof/proof-log.ts';
import { type ProofFault, verifyLog } from '../../../src/proof/verify.ts';
import { anyLogTries } from './any-log.ts';
import type { Tampered, Try } from './common.ts';
import { DELIVERIES, DELIVERY_TRIES } from './deliveries.ts';
import { collectEvidence, type ReadLog, storedProofs } from './evidence.ts';
import { FEED, FEED_TRIES } from './feed.ts';
import { CHECKS, type OutsideJudge, type Verdict } from './outside-judge.ts';
import { PROCESSING, PROCESSING_TRIES } from './processing.ts';

export interface Tampering {
  /** A connection of the database owner. */
  readonly db: pg.PoolClient;
  readonly proofKey: Uint8Array;
  readonly logOf: (log: ProofLogName) => ReadLog;
  /** The last published note of a log, from outside the database. */
  readonly published: (log: ProofLogName) => string | undefined;
  /** Absent: there is no outsider to ask. */
  readonly judge: OutsideJudge | undefined;
  readonly report?: ((line: string) => void) | undefined;
}

/** The findings of `proof verify`, and the judge's verdict with the proofs of these records. */
interface Judged {
  readonly faults: readonly ProofFault[];
  readonly verdict: Verdict | undefined;
}

async function judgeLog(
  { db, proofKey, logOf, published, judge }: Tampering,
  log: ProofLogName,
  names: readonly string[],
): Promise<Judged> {
  const faults: ProofFault[] = [];
  const note = published(log);
  const records: StoredProof[] = [];
  await verifyLog({
    db,
    log,
    proofKey,
    records: kept(storedProofs(db, logOf(log)), records),
    published: () => note,
    found: (fault) => faults.push(fault),
    signal: new AbortController().signal,
  });
  if (judge === undefined || note === undefined) return { faults, verdict: undefined };
  return { faults, verdict: await judge.ask(await collectEvidence(db, logOf(log), note, records, names)) };
}

async function* kept<T>(items: AsyncIterable<T>, all: T[]): AsyncGenerator<T> {
  for await (const item of items) {
    all.push(item);
    yield item;
  }
}

/** Faults before anything was changed: none, also according to the judge. */
export async function judgeUntouched(tampering: Tampering, logs: readonly ProofLogName[]): Promise<string[]> {
  const wrong: string[] = [];
  const samples = { verwerkingen: PROCESSING, leveringen: DELIVERIES, raadsfeed: FEED };
  for (const log of logs) {
    const names = tampering.judge === undefined ? [] : [(await samples[log].choose(tampering.db)).name];
    const { faults, verdict } = await judgeLog(tampering, log, names);
    wrong.push(...faults.map(({ name, fault }) => `${name}: ${fault}`));
    if (verdict === undefined) continue;
    wrong.push(
      ...CHECKS.filter((check) => verdict[check] !== '').map((check) => `${log}: ${check}: ${verdict[check]}`),
    );
    if (verdict.proofs.join() !== '') wrong.push(`${log}: ${names.join()}: ${verdict.proofs.join()}`);
  }
  return wrong;
}

/**
 * Makes this many changes, each undone after it was judged.
 * @returns those that were not reported, or were accepted outside
 */
export async function runTampering(tampering: Tampering, changes: number): Promise<string[]> {
  const { db, proofKey, report = () => undefined } = tampering;
  const triesOf = (log: ProofLogName, own: Readonly<Record<string, Try>>, any: Readonly<Record<string, Try>>) =>
    Object.entries({ ...own, ...any }).map(([name, act]) => ({ log, name: `${log}: ${name}`, act }));
  const tries = [
    ...triesOf('verwerkingen', PROCESSING_TRIES, anyLogTries(PROCESSING, proofKey)),
    ...triesOf('leveringen', DELIVERY_TRIES, anyLogTries(DELIVERIES, proofKey)),
    ...triesOf('raadsfeed', FEED_TRIES, anyLogTries(FEED, proofKey)),
  ];
  const missed: string[] = [];
  for (let i = 0; i < changes; i += 1) {
    const chosen = tries[i % tries.length];
    if (chosen === undefined) continue;
    await db.query('begin');
    try {
      const tampered = await chosen.act(db);
      const judged = await judgeLog(tampering, chosen.log, tampered.forged ?? []);
      const wrong = faultsOf(tampered, judged);
      missed.push(...wrong.map((fault) => `${chosen.name}: ${fault}`));
      report(
        `${i + 1} ${chosen.name}: ${judged.faults.length} faults${wrong.length === 0 ? '' : `, ${wrong.join('; ')}`}`,
      );
    } finally {
      await db.query('rollback');
    }
  }
  return missed;
}

/** Why a change would have gone unnoticed. */
function faultsOf({ names, breaks = 'records' }: Tampered, { faults, verdict }: Judged): string[] {
  const wrong: string[] = [];
  const isNamed = faults.some(({ name }) =>
    names.some((wanted) => (typeof wanted === 'string' ? wanted === name : wanted.test(name))),
  );
  if (!isNamed) wrong.push(`NOT NAMED: ${names.join(' or ')} is not in ${faults.map(({ name }) => name).join(', ')}`);
  if (verdict === undefined) return wrong;
  if (verdict[breaks] === '') wrong.push(`ACCEPTED outside: ${breaks}`);
  if (verdict.proofs.includes('')) wrong.push('ACCEPTED outside: the proof of a modified record');
  return wrong;
}
