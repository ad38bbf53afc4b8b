/** Deliveries in the proof log: sealed as they are written, proven by the command, with changes reported. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { expect, it } from 'vitest';
import { pipelinedTransaction } from '../../src/database/transaction.ts';
import { writeJournal } from '../../src/gegevens/store/journal.ts';
import { isRecord } from '../../src/lib/json/json-value.ts';
import { systemClock } from '../../src/lib/time.ts';
import { createSequencer } from '../../src/proof/sequencer.ts';
import { openPublishedCheckpoints } from '../../src/proof/state.ts';
import { readLog } from '../../src/proof/store/logs.ts';
import { createProofWriters } from '../../src/proof/writer.ts';
import { readConfig } from '../../src/settings/read-config.ts';
import { servicePool } from '../raadsfeed/support.ts';
import { createDatabase } from '../support/database.ts';
import { koppelvlak } from '../verwerkingenlog/cli.ts';
import { judge, PROOF_KEY, stateFile } from './support.ts';

it('is proven as the journal prints it, except for the time of sending', async () => {
  const database = await createDatabase();
  const state = stateFile();
  const pool = servicePool(database.url);
  const env = { ...state.env, AREAS: 'shv' };
  try {
    const writer = createProofWriters(readConfig(env, 'tool'))('leveringen');
    const sequencer = createSequencer({
      pool,
      log: 'leveringen',
      proofKey: Buffer.from(PROOF_KEY, 'base64'),
      host: () => '127.0.0.1',
      published: await openPublishedCheckpoints(state.path),
      pad: 4,
      intervalSeconds: 0,
    });
    await sequencer.round();
    const ids = [];
    for (const vraagHandtekening of ['a.b.een', 'a.b.twee']) {
      const entry: Parameters<typeof writeJournal>[1] = {
        ...{
          variant: 'shv',
          requestId: randomUUID(),
          oin: null,
          subject: 'test',
          tokenHash: 'x',
          fscTransactieId: null,
        },
        traceId: 'a'.repeat(32),
        spanId: 'b'.repeat(16),
        parentSpanId: null,
        vraag: '{"a": "é"}',
        vraagDigest: 'd',
        vraagHandtekening,
        pagina: 1,
        paginaGrootte: 10,
        leveringen: [1, 2],
        records: 3,
        bytes: 12_345_678_901,
        antwoordDigest: 'e',
        antwoordHandtekening: 'f',
        ongedekt: [{ organisatie: 'o', van: '2026-01-01', tot: '2026-02-01' }],
      };
      const id = await pipelinedTransaction(pool, (db) => writeJournal(db, entry, { proof: writer, isFirst: true }));
      ids.push(String(id));
    }
    await sequencer.round();
    const log = await readLog(pool, 'leveringen');
    // Each round is padded to a multiple of four, even one without entries.
    expect(log?.size).toBe(8);
    await pool.query('update gegevens.journal set sent_at = $1', [systemClock.now()]);
    const [first = ''] = ids;
    const { json } = await koppelvlak(database.url, ['gegevens', 'journal', '--proof', first, '--json'], env);
    const { proof, levering } = isRecord(json) ? json : {};
    const key = log?.verifierKey ?? '';
    expect(judge(String(proof), { levering }, key)).toMatchObject({ isProven: true });
    expect(judge(String(proof), { levering: { ...Object(levering), records: 4 } }, key)).toMatchObject({
      isProven: false,
    });
    const verify = () => koppelvlak(database.url, ['proof', 'verify', 'leveringen', '--json'], env);
    expect((await verify()).json).toMatchObject({ logs: [{ leaves: 8, records: 2, faults: [] }] });
    const owner = new pg.Client(database.url);
    await owner.connect();
    await owner.query('update gegevens.journal set records = records + 1 where id = $1', [first]);
    await owner.end();
    expect((await verify()).json).toMatchObject({ logs: [{ faults: [{ name: `delivery ${first}` }] }] });
  } finally {
    await pool.end();
    await database.drop();
    state.remove();
  }
});
