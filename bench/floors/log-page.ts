/** Floor: a person's newest hundred actions through `pg`, by one prepared statement without filters. */
import type pg from 'pg';
import { createIdentityKeys } from '../../src/verwerkingenlog/domain/identity-keys.ts';
import { BENCH_KEY } from '../support/generate-log.ts';

const PAGE = `
  select v.actie_id, v.actie_naam, v.handeling_naam, v.verwerking_naam, v.verwerking_id, v.vertrouwelijkheid, v.bewaartermijn, v.uitvoerder,
    v.tijdstip, v.tijdstip_registratie, v.objecten
  from (select actie_id, versie from verwerkingenlog.locations where sleutel = $1::uuid order by tijdstip desc, actie_id limit 100) p
    cross join lateral (select * from verwerkingenlog.versies w where w.actie_id = p.actie_id and w.versie = p.versie limit 1) v`;

/** @returns milliseconds of one page, the median */
export async function barePage(db: pg.Client, persons: readonly string[]): Promise<number> {
  const keys = createIdentityKeys(BENCH_KEY);
  const times: number[] = [];
  for (const person of [...persons, ...persons]) {
    const values = [keys.hash(keys.current, 'BSN', person)];
    const started = performance.now();
    await db.query({ name: 'page', text: PAGE, values });
    times.push(performance.now() - started);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}
