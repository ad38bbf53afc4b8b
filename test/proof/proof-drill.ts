/** A service with proof logs and records, and an attacker with all rights on its database. */
import { randomUUID } from 'node:crypto';
import { createPool, type Pool } from '../../src/database/pool.ts';
import { pipelinedTransaction, transaction } from '../../src/database/transaction.ts';
import { writeJournal } from '../../src/gegevens/store/journal.ts';
import { createLogger } from '../../src/lib/log.ts';
import { systemClock } from '../../src/lib/time.ts';
import { PROOF_LOGS, type ProofLogName } from '../../src/proof/proof-log.ts';
import { createSequencer } from '../../src/proof/sequencer.ts';
import { openPublishedCheckpoints } from '../../src/proof/state.ts';
import { createProofWriters } from '../../src/proof/writer.ts';
import { prepareChange } from '../../src/raadsfeed/domain/change.ts';
import { createLineValidator } from '../../src/raadsfeed/writer/line-validator.ts';
import { createPublisher } from '../../src/raadsfeed/writer/publisher.ts';
import { openIdentityKeys } from '../../src/verwerkingenlog/store/keys.ts';
import { readTestConfig } from '../../test/support/overrides.ts';
import { treeName } from './tampering/common.ts';
import type { ReadLog } from './tampering/evidence.ts';
import { startOutsideJudge } from './tampering/outside-judge.ts';
import { judgeUntouched, runTampering, type Tampering } from './tampering/run.ts';

export interface TamperingOptions {
  readonly databaseUrl: string;
  /** Settings of the service. */
  readonly env: Readonly<Record<string, string>>;
  readonly statePath: string;
  readonly changes: number;
  /** Absent: all logs. */
  readonly only?: ProofLogName;
  readonly report?: (line: string) => void;
}

export interface TamperingResult {
  /** Faults before anything was changed. */
  readonly before: readonly string[];
  /** Changes that were not reported, or were accepted outside. */
  readonly missed: readonly string[];
  /** True when the outside judge was asked; not without Go on the path. */
  readonly isJudgedOutside: boolean;
}

/** Tampers with the logs of this database, directly in the database, and has each change judged. */
export async function runTamperingDrill(options: TamperingOptions): Promise<TamperingResult> {
  const config = readTestConfig({ NODE_ENV: 'test', ...options.env }, 'tool');
  const judge = options.changes === 0 ? undefined : startOutsideJudge();
  const pool = ownerPool(options.databaseUrl);
  try {
    const keys = await openIdentityKeys(pool, config, 'read');
    const writers = createProofWriters(config);
    const proofKey = Buffer.from(config.proof.key ?? '', 'base64');
    const readable = (log: ProofLogName): ReadLog => {
      const writer = writers(log);
      if (writer === undefined) throw new Error(`the proof log ${log} is not switched on`);
      return { log, writer, keys, proofKey };
    };
    const published = await openPublishedCheckpoints(options.statePath);
    const client = await pool.connect();
    try {
      const tampering: Tampering = {
        db: client,
        proofKey,
        judge,
        report: options.report,
        logOf: readable,
        published: (log) => published.get(treeName(log)),
      };
      const logs = PROOF_LOGS.filter((log) => (options.only ?? log) === log);
      // In one snapshot, because a running service adds leaves meanwhile.
      await client.query('begin transaction isolation level repeatable read, read only');
      const before = await judgeUntouched(tampering, logs);
      await client.query('rollback');
      return {
        before,
        missed: await runTampering(tampering, options.changes),
        isJudgedOutside: judge !== undefined,
      };
    } finally {
      client.release();
    }
  } finally {
    await pool.end();
    await judge?.close();
  }
}

/** Verifies the processing log once, and returns its findings. */
export async function verifyProcessing(
  databaseUrl: string,
  env: Readonly<Record<string, string>>,
  statePath: string,
): Promise<readonly string[]> {
  const { before } = await runTamperingDrill({ databaseUrl, env, statePath, changes: 0, only: 'verwerkingen' });
  return before;
}

function ownerPool(url: string, role?: string): Pool {
  return createPool({
    url,
    size: 3,
    connectTimeoutMs: 20_000,
    statementTimeoutMs: 60_000,
    pooler: 'none',
    applicationName: 'drill',
    ...(role === undefined ? {} : { role }),
    log: createLogger('silent'),
  });
}

/**
 * Adds what the service does not add here by itself, once it is stopped: lines in the delivery journal, and some actions removed at the end
 * of their term. Everything is sequenced and published.
 */
export async function addDeliveriesAndRemovals(
  databaseUrl: string,
  env: Readonly<Record<string, string>>,
  { deliveries, removals }: { readonly deliveries: number; readonly removals: number },
): Promise<void> {
  const config = readTestConfig(env, 'tool');
  const proofKey = Buffer.from(config.proof.key ?? '', 'base64');
  const writers = createProofWriters(config);
  const pool = ownerPool(databaseUrl);
  try {
    const published = await openPublishedCheckpoints(config.proof.state ?? '');
    const round = (log: ProofLogName) =>
      createSequencer({
        pool,
        log,
        proofKey,
        published,
        host: () => '127.0.0.1',
        pad: 0,
        intervalSeconds: 0,
      }).round();
    await round('leveringen');
    for (let i = 0; i < deliveries; i += 1) {
      await pipelinedTransaction(pool, (db) =>
        writeJournal(db, sampleEntry(i), { proof: writers('leveringen'), isFirst: true }),
      );
    }
    await round('leveringen');
    await transaction(pool, async (db) => {
      const { rows } = await db.query<{ id: string; nr: number }>(
        'select actie_id as id, proof_number as nr from verwerkingenlog.versies order by random() limit $1',
        [removals],
      );
      const at = systemClock.now();
      const numbers = rows.map(({ nr }) => Number(nr));
      await writers('verwerkingen')?.remove(db, { kind: 'bewaartermijn', at, by: 'opschoning 1', numbers });
      await db.query('delete from verwerkingenlog.versies where actie_id = any($1::uuid[])', [
        rows.map(({ id }) => id),
      ]);
    });
    await round('verwerkingen');
  } finally {
    await pool.end();
  }
}

function sampleEntry(i: number): Parameters<typeof writeJournal>[1] {
  return {
    variant: 'shv',
    requestId: randomUUID(),
    oin: null,
    subject: 'drill',
    tokenHash: `t${i}`,
    ...{
      fscTransactieId: null,
      traceId: 'a'.repeat(32),
      spanId: 'b'.repeat(16),
      parentSpanId: null,
      vraag: `{"nummer":${i}}`,
    },
    vraagDigest: `v${i}`,
    vraagHandtekening: `a.b.${i}`,
    pagina: 1,
    paginaGrootte: 10,
    leveringen: [i],
    records: i,
    bytes: 100 + i,
    antwoordDigest: `d${i}`,
    antwoordHandtekening: `h${i}`,
    ongedekt: [{ organisatie: 'o', van: '2026-01-01', tot: '2026-02-01' }],
  };
}

/** Publishes this many meetings to the feed, in batches, with the key. */
export async function publishMeetings(databaseUrl: string, env: Readonly<Record<string, string>>, count: number) {
  const config = readTestConfig(env, 'tool');
  const pool = ownerPool(databaseUrl, 'koppelvlak_dienst');
  const validate = createLineValidator();
  const publisher = createPublisher({ pool, clock: systemClock, proof: createProofWriters(config) });
  const line = (i: number) => ({
    op: 'upsert',
    resourceType: 'Vergadering',
    data: {
      bronidentificatie: `drill-${i}`,
      dossiertype: 'vergadering',
      organisatie: { gemeente: 'gm9901', naam: 'Gemeente Voorbeeldstad' },
      naam: `Vergadering ${i}`,
    },
  });
  try {
    for (let from = 0; from < count; from += 100) {
      const changes = Array.from({ length: Math.min(100, count - from) }, (_, i) => {
        const checked = validate(line(from + i));
        if ('faults' in checked) throw new Error(checked.faults.join('; '));
        return prepareChange(checked.line);
      });
      await publisher.publish(changes);
    }
  } finally {
    await pool.end();
  }
}
