/** Floor of an import: records, one per line, through JSON.parse and the compiled schema, copied into the same table. */
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { from } from 'pg-copy-streams';
import { loadModel } from '../../src/lib/exchange-model/model.ts';

export async function floorImport(url: string, linesPath: string): Promise<number> {
  const { record } = loadModel('shv');
  const client = new pg.Client(url);
  await client.connect();
  const file = await open(linesPath);
  let count = 0;
  async function* rows(): AsyncIterable<string> {
    let block = '';
    for await (const line of file.readLines()) {
      if (!record.ok(JSON.parse(line))) throw new Error(`line ${count} does not fit the model`);
      block += `-1\t0\t0\t${count}\t${line.replaceAll('\\', '\\\\')}\n`;
      count += 1;
      if (block.length < 256 * 1024) continue;
      yield block;
      block = '';
    }
    yield block;
  }
  await client.query('begin');
  await pipeline(Readable.from(rows()), client.query(from('copy gegevens.records from stdin')));
  await client.query('commit');
  await client.end();
  return count;
}

const [, started, url, lines] = process.argv;
if (started === fileURLToPath(import.meta.url)) console.log(await floorImport(String(url), String(lines)));
