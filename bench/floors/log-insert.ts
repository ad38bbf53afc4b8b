/** Floor: the rows of one action, inserted by a prepared statement in their own transaction, and nothing else. */

import pg from 'pg';
import { newActieId } from '../../src/verwerkingenlog/domain/verwerkingsactie.ts';
import { CONTENT_VALUES, INSERT_SQL } from '../support/log-insert-sql.ts';
import type { LoadResult } from '../support/raw-client.ts';

export async function insertOneByOne(url: string, connections: number, ms: number): Promise<LoadResult> {
  const times: number[] = [];
  const from = performance.now();
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const client = new pg.Client(url);
      // A failing shutdown must not hide the error that caused it.
      client.on('error', () => undefined);
      await client.connect();
      for (let at = performance.now(); at - from < ms; at = performance.now()) {
        await client.query({ name: 'insert', text: INSERT_SQL, values: [newActieId(new Date()), ...CONTENT_VALUES] });
        times.push(performance.now() - at);
      }
      await client.end();
    }),
  );
  times.sort((a, b) => a - b);
  const at = (part: number): number => times[Math.floor(times.length * part)] ?? 0;
  return {
    answers: times.length,
    perSecond: (times.length / (performance.now() - from)) * 1000,
    medianMs: at(0.5),
    p99Ms: at(0.99),
  };
}
