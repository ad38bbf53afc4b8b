/**
 * An independent checker: `fsck` of transparency-dev/tessera fetches all tiles and entries of a log and recomputes its root. It runs where
 * it is installed: named by PROOF_FSCK, or on the path (`go install github.com/transparency-dev/tessera/cmd/fsck@latest`).
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROOF_LOGS, type ProofLogName } from '../../src/proof/proof-log.ts';
import { messageFile, shvMessage } from '../gegevens/support/messages.ts';
import { openSupplier, type Supplier } from '../gegevens/support/supplier.ts';
import { KEY } from '../verwerkingenlog/support.ts';
import { publishMeetings } from './proof-drill.ts';
import { getText, hasLeaves, stateFile } from './support.ts';

const FSCK = process.env.PROOF_FSCK ?? 'fsck';
// Another program of this name checks file systems.
const isThere = String(spawnSync(FSCK, ['--help'], { encoding: 'utf8' }).stderr).includes('tlog-tiles');
const WITHOUT = isThere ? '' : ' (not run: PROOF_FSCK names none, and there is none on the path)';
const LEAVES = 3000;

describe.runIf(isThere)(`fsck of tessera${WITHOUT}`, () => {
  const state = stateFile();
  const env = { ...state.env, AREAS: 'shv,vs,verwerkingenlog,raadsfeed', VERWERKINGENLOG_KEY: KEY };
  let supplier: Supplier;

  beforeAll(async () => {
    supplier = await openSupplier({ env });
    await supplier.import('shv', messageFile(shvMessage({ leveringen: [{ naam: 'Noord', records: 3 }] })));
    for (const page of [1, 2, 3]) await supplier.get({ page, pageSize: 1 });
    await publishMeetings(supplier.databaseUrl, { ...env, AREAS: 'raadsfeed' }, LEAVES);
    // fsck ignores the records that entries refer to.
    for (const log of ['verwerkingen', 'leveringen'])
      await supplier.asOwner(
        `insert into proof.queue (log, number, entry) select '${log}', nextval('proof.record_numbers'),
           '\\x01'::bytea || sha256(n::text::bytea) from generate_series(1, ${LEAVES}) as n`,
      );
  });
  afterAll(async () => {
    await supplier.close();
    state.remove();
  });

  function addressOf(log: ProofLogName): string {
    return `${supplier.server.url}/proof/v1/${log}`;
  }

  /** Its output; its exit status says nothing, and it waits for ever for a missing tile. */
  async function fsck(log: ProofLogName, milliseconds: number): Promise<string> {
    const key = join(dirname(state.path), `${log}.key`);
    writeFileSync(key, (await getText(`${addressOf(log)}/key`)).text.trim());
    const args = ['-public_key', key, '-storage_url', `${addressOf(log)}/`, '-ui=false', '-logtostderr', '-N', '4'];
    const child = spawn(FSCK, args, { timeout: milliseconds, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
    await once(child, 'close');
    return said;
  }

  it.each(PROOF_LOGS)('finds the log %s complete', async (log) => {
    await hasLeaves(addressOf(log), LEAVES);
    expect(await fsck(log, 50_000)).toContain("Successfully fsck'd");
  });

  it.each([
    ['a tile', 'tiles', 'hashes', 'level = 0 and tile = 3'],
    ['an entry', 'bundles', 'entries', 'tile = 7'],
  ])('does not accept a log of which %s was changed in the database', async (...change) => {
    const [, table, column, where] = change;
    const flip = `update proof.${table} set ${column} = set_byte(${column}, 40, 255 - get_byte(${column}, 40))
                  where log = 'raadsfeed' and ${where}`;
    await supplier.asOwner(flip);
    const said = await fsck('raadsfeed', 10_000);
    expect(said).toContain('fsck failed');
    expect(said).not.toContain('Successfully');
    await supplier.asOwner(flip);
  });
});
