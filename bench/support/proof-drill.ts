/** A service with proof logs and records in them, and whoever has all rights on its database. */
import { readConfig } from '../../src/kernel/config/read-config.ts';
import { createPool } from '../../src/kernel/database/pool.ts';
import { createLogger } from '../../src/kernel/log.ts';
import type { ProofLogName } from '../../src/kernel/proof-log.ts';
import { systemClock } from '../../src/kernel/time.ts';
import { openPublishedCheckpoints } from '../../src/proof/state.ts';
import { verifyLog } from '../../src/proof/verify.ts';
import type { ProofFault } from '../../src/proof/verify-tiles.ts';
import { createProofWriters } from '../../src/proof/writer.ts';
import { prepareChange } from '../../src/raadsfeed/domain/change.ts';
import { storedRecords } from '../../src/raadsfeed/store/proof.ts';
import { createLineValidator } from '../../src/raadsfeed/writer/line-validator.ts';
import { createPublisher } from '../../src/raadsfeed/writer/publisher.ts';
import { openIdentityKeys } from '../../src/verwerkingenlog/store/keys.ts';
import { storedVersions } from '../../src/verwerkingenlog/store/proof.ts';
import { runTampering, type Verify } from './proof-tampering.ts';

export interface TamperingOptions {
  readonly databaseUrl: string;
  /** Settings of the service. */
  readonly env: Readonly<Record<string, string>>;
  readonly statePath: string;
  readonly changes: number;
  /** Absent: both logs. */
  readonly only?: ProofLogName;
  readonly report?: (line: string) => void;
}

export interface TamperingResult {
  /** Faults before anything was changed. */
  readonly before: readonly ProofFault[];
  readonly missed: readonly string[];
}

/** Changes what the logs of this database hold, directly in the database, and has each change judged. */
export async function runTamperingDrill(options: TamperingOptions): Promise<TamperingResult> {
  const config = readConfig(options.env, 'tool');
  const pool = createPool({
    url: options.databaseUrl,
    size: 3,
    connectTimeoutMs: 20_000,
    statementTimeoutMs: 60_000,
    pooler: 'none',
    applicationName: 'drill',
    log: createLogger('silent'),
  });
  try {
    const keys = await openIdentityKeys(pool, config.verwerkingenlog.key, 'read');
    const writers = createProofWriters(config);
    const published = await openPublishedCheckpoints(options.statePath);
    const verify: Verify = async (db, log) => {
      const writer = writers(log);
      if (writer === undefined) throw new Error(`the proof log ${log} is not switched on`);
      const faults: ProofFault[] = [];
      await verifyLog({
        db,
        log,
        proofKey: Buffer.from(config.proof.key ?? '', 'base64'),
        records: log === 'raadsfeed' ? storedRecords(db, writer) : storedVersions(db, writer, keys),
        published: published.get,
        found: (fault) => faults.push(fault),
        signal: new AbortController().signal,
      });
      return faults;
    };
    const client = await pool.connect();
    try {
      const logs = (['verwerkingen', 'raadsfeed'] as const).filter((log) => (options.only ?? log) === log);
      const before: ProofFault[] = [];
      for (const log of logs) before.push(...(await verify(client, log)));
      return { before, missed: await runTampering(client, options.changes, verify, options.report) };
    } finally {
      client.release();
    }
  } finally {
    await pool.end();
  }
}

/** Verifies the log of processing once, and gives what it names. */
export async function verifyProcessing(
  databaseUrl: string,
  env: Readonly<Record<string, string>>,
  statePath: string,
): Promise<readonly string[]> {
  const { before } = await runTamperingDrill({ databaseUrl, env, statePath, changes: 0, only: 'verwerkingen' });
  return before.map(({ name, fault }) => `${name}: ${fault}`);
}

/** Publishes so many meetings to the feed, in batches, as one who has the key. */
export async function publishMeetings(databaseUrl: string, env: Readonly<Record<string, string>>, count: number) {
  const config = readConfig(env, 'tool');
  const pool = createPool({
    url: databaseUrl,
    size: 2,
    connectTimeoutMs: 20_000,
    statementTimeoutMs: 60_000,
    pooler: 'none',
    role: 'koppelvlak_dienst',
    applicationName: 'drill',
    log: createLogger('silent'),
  });
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
