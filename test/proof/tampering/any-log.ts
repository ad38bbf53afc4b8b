/** Changes that can be made to every log: to its tree, or by removing records and pretending that they were removed properly. */
import { randomBytes, randomInt } from 'node:crypto';
import { deriveSeed } from '../../../src/proof/keys.ts';
import { tileReader } from '../../../src/proof/store/leaves.ts';
import { rootHash } from '../../../src/proof/tlog/merkle.ts';
import { createSigner, formatCheckpoint, formatNote } from '../../../src/proof/tlog/note.ts';
import { readHashesFromTiles } from '../../../src/proof/tlog/tiles.ts';
import { type Chosen, type LogRecords, leafName, one, type Try, treeName } from './common.ts';

/** @param proofKey for a checkpoint of an earlier day, as in a backup */
export function anyLogTries<T extends Chosen>(records: LogRecords<T>, proofKey: Uint8Array): Record<string, Try> {
  const { log } = records;
  const tries: Record<string, Try> = {
    async delete(db) {
      const chosen = await records.choose(db);
      await records.remove(db, chosen);
      return { names: [leafName(log, chosen.leaf)], forged: [chosen.name] };
    },
    async 'a day removed'(db) {
      const chosen = await records.choose(db);
      await records.removeDay(db, chosen);
      return { names: [leafName(log, chosen.leaf)], forged: [chosen.name] };
    },
    async 'disguised as removal'(db) {
      const chosen = await records.choose(db);
      const { leaf } = chosen;
      await records.remove(db, chosen);
      const { nr } = await one<{ nr: number }>(db, `select nextval('proof.record_numbers') as nr`);
      const kind = log === 'raadsfeed' ? 'opschoning' : 'bewaartermijn';
      const content = `{"bladen":[[1,${leaf},${leaf}]],"door":"opschoning 1","op":"2026-01-01T00:00:00.000Z","soort":"${kind}","wachtend":[]}`;
      const entry = Buffer.concat([Uint8Array.of(1), randomBytes(32)]);
      await db.query(`insert into proof.removals (number, log, content, entry) values ($1, $2, $3, $4)`, [
        nr,
        log,
        content,
        entry,
      ]);
      if (log === 'raadsfeed')
        await db.query('update raadsfeed.feed set history_after = greatest(history_after, $1)', [leaf + 1]);
      else await db.query(`insert into proof.queue (log, number, entry) values ($1, $2, $3)`, [log, nr, entry]);
      return { names: [leafName(log, leaf)] };
    },
    async 'disguised as padding'(db) {
      const chosen = await records.choose(db);
      await records.remove(db, chosen);
      await db.query(`update proof.bundles set numbers[$3] = 0 where log = $1 and tile = $2`, [
        log,
        Math.floor(chosen.leaf / 256),
        (chosen.leaf % 256) + 1,
      ]);
      return { names: [leafName(log, chosen.leaf)] };
    },
    async 'a tile'(db) {
      const { level, tile } = await one<{ level: number; tile: number }>(
        db,
        `update proof.tiles set hashes = set_byte(hashes, 5, (get_byte(hashes, 5) + 1) % 256)
         where ctid = (select ctid from proof.tiles where log = $1 order by random() limit 1) returning level, tile`,
        [log],
      );
      return { names: [`tile ${level}/${tile} of ${treeName(log)}`], breaks: 'tiles' };
    },
    async 'a leaf'(db) {
      const { name, leaf } = await records.choose(db);
      await db.query(
        `update proof.bundles set entries = set_byte(entries, $3, (get_byte(entries, $3) + 1) % 256)
         where log = $1 and tile = $2`,
        [log, Math.floor(leaf / 256), (leaf % 256) * 33 + 7],
      );
      return { names: [name], breaks: 'entries' };
    },
    async 'the head back'(db) {
      const { size, origin, checkpoint } = await one<{ size: number; origin: string; checkpoint: string }>(
        db,
        `select size as size, origin, checkpoint from proof.logs where log = $1`,
        [log],
      );
      const back = Math.max(1, Number(size) - 1 - randomInt(5));
      const root = await rootHash(back, readHashesFromTiles(Number(size), tileReader(db, { log, number: 1 })));
      const text = formatCheckpoint({ origin, size: back, root });
      const signer = createSigner(origin, deriveSeed(proofKey, origin));
      // None; the signature of the current one; and one that the log itself made at that size.
      const heads = [
        null,
        `${text}${checkpoint.slice(checkpoint.indexOf('\n\n') + 1)}`,
        formatNote(text, [signer.sign(text)]),
      ];
      await db.query(`update proof.logs set size = $2, root_hash = $3, checkpoint = $4 where log = $1`, [
        log,
        back,
        Buffer.from(root),
        heads[randomInt(heads.length)],
      ]);
      return { names: [/^checkpoint outside/], breaks: 'head' };
    },
  };
  // The position of a feed record follows from its number, so there is no padding to hide behind.
  if (log === 'raadsfeed') delete tries['disguised as padding'];
  return tries;
}
