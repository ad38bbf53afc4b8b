/** Fills a log with generated actions, one person each, five for every person, spread over a year of registration. */
import type pg from 'pg';
import { createIdentityKeys } from '../../src/verwerkingenlog/domain/identity-keys.ts';
import { newActieId } from '../../src/verwerkingenlog/domain/verwerkingsactie.ts';

/** The key that the log is written with. */
export const BENCH_KEY = `bench:${Buffer.alloc(32, 1).toString('base64')}`;

const PER_PERSON = 5;
const BATCH = 20_000;
const YEAR_MS = 360 * 86_400_000;
const keys = createIdentityKeys(BENCH_KEY);

/** The identification of the nth person. */
export function personOf(n: number): string {
  return String(100_000_000 + n);
}

/** @returns how many persons there are */
export async function generateLog(db: pg.Client, objects: number): Promise<number> {
  const persons = Math.max(1, Math.floor(objects / PER_PERSON));
  const start = Date.now() - YEAR_MS;
  await db.query('select verwerkingenlog.create_months($1::timestamptz, 16)', [new Date(start)]);
  await db.query('insert into verwerkingenlog.keys values ($1::text, $2::text, true) on conflict do nothing', [
    keys.current,
    keys.checkValue(keys.current),
  ]);
  for (let from = 0; from < objects; from += BATCH) {
    const rows = Array.from({ length: Math.min(BATCH, objects - from) }, (_, i) => {
      const moment = new Date(start + Math.floor(((from + i) / objects) * YEAR_MS));
      const person = personOf((((from + i) * 7919) % persons) + 1);
      const id = newActieId(moment);
      return {
        id,
        moment,
        encrypted: keys.encrypt(keys.current, id, person),
        hash: keys.hash(keys.current, 'BSN', person),
      };
    });
    await db.query(
      `with nieuw as materialized (
         select * from unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::uuid[]) as n(id, m, encrypted, sleutel)
       ), v as (
         insert into verwerkingenlog.versies (actie_id, versie, tijdstip_registratie, door, verzoek_id, vervallen, actie_naam, handeling_naam,
           verwerking_naam, verwerking_id, vertrouwelijkheid, ooit_vertrouwelijk, bewaartermijn, vervalt_op, uitvoerder, systeem, tijdstip, key_name, objecten)
         select id, 1, m, 'bench', 'bench', false, 'Zoeken persoon', 'Intake', 'Aanvraag schuldhulp', gen_random_uuid(), 'normaal', false, 'P10Y',
           m + interval '10 years', '00000099000000001000', 'Balie 2', m, $5::text,
           json_build_array(json_build_object('nr', 1, 'soort', 'BSN', 'id', encrypted, 'sleutel', sleutel, 'gegevens', array['BSN', 'Naam']))
         from nieuw
       )
       insert into verwerkingenlog.locations (sleutel, tijdstip, actie_id, versie, categorie, positions)
       select sleutel, m, id, 1, 0, '{0}' from nieuw`,
      [
        rows.map(({ id }) => id),
        rows.map(({ moment }) => moment),
        rows.map(({ encrypted }) => encrypted),
        rows.map(({ hash }) => hash),
        keys.current,
      ],
    );
  }
  await db.query('vacuum analyze verwerkingenlog.versies');
  await db.query('vacuum analyze verwerkingenlog.locations');
  return persons;
}
