/** Fills a log with generated actions, one person each, five for every person, spread over a year of registration. */
import type pg from 'pg';
import { createIdentityKeys } from '../../src/verwerkingenlog/domain/identity-keys.ts';

const PER_PERSON = 5;
const BATCH = 200_000;
const keys = createIdentityKeys(undefined);

/** The identification of the nth person. */
export function personOf(n: number): string {
  return String(100_000_000 + n);
}

/** @returns how many persons there are */
export async function generateLog(db: pg.Client, objects: number): Promise<number> {
  const persons = Math.max(1, Math.floor(objects / PER_PERSON));
  const start = new Date(Date.now() - 360 * 86_400_000);
  await db.query('select verwerkingenlog.create_months($1::timestamptz, 16)', [start]);
  const hashed = 'create temp table personen (nr integer primary key, bsn text, sleutel uuid)';
  await db.query(hashed);
  for (let from = 1; from <= persons; from += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, persons - from + 1) }, (_, i) => from + i);
    await db.query('insert into personen select * from unnest($1::integer[], $2::text[], $3::uuid[])', [
      numbers,
      numbers.map(personOf),
      numbers.map((n) => keys.hash(null, 'BSN', personOf(n))),
    ]);
  }
  for (let from = 0; from < objects; from += BATCH) {
    await db.query(
      `with nieuw as materialized (
         select (left(verwerkingenlog.first_id(m)::text, 14) || '7' || substr(gen_random_uuid()::text, 16, 17) || '0000')::uuid as id, m, p.bsn, p.sleutel
         from generate_series($1::bigint, $2::bigint) i
           join personen p on p.nr = (i * 7919) % $3::bigint + 1,
           lateral (select $4::timestamptz + i * (interval '360 days' / $5::bigint) as m) t
       ), v as (
         insert into verwerkingenlog.versies (actie_id, versie, tijdstip_registratie, door, verzoek_id, vervallen, actie_naam, handeling_naam,
           verwerking_naam, verwerking_id, vertrouwelijkheid, ooit_vertrouwelijk, bewaartermijn, vervalt_op, uitvoerder, systeem, tijdstip, objecten)
         select id, 1, m, 'bench', 'bench', false, 'Zoeken persoon', 'Intake', 'Aanvraag schuldhulp', gen_random_uuid(), 'normaal', false, 'P10Y',
           m + interval '10 years', '00000099000000001000', 'Balie 2', m,
           json_build_array(json_build_object('nr', 1, 'soort', 'BSN', 'id', bsn, 'sleutel', sleutel, 'gegevens', array['BSN', 'Naam']))
         from nieuw
       )
       insert into verwerkingenlog.locations select sleutel, m, id, 1, 0, null, m + interval '10 years', '{0}' from nieuw`,
      [from, Math.min(from + BATCH, objects) - 1, persons, start, objects],
    );
  }
  await db.query('vacuum analyze verwerkingenlog.versies');
  await db.query('vacuum analyze verwerkingenlog.locations');
  return persons;
}
