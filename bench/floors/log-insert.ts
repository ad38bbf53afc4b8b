/** Floor: the rows of one action, inserted by a prepared statement in a transaction of its own; nothing else is done. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { LoadResult } from '../support/raw-client.ts';

/** One action with the place of its person and its idempotency key, in one statement. */
export const INSERT = `
  with actie as (
    insert into verwerkingenlog.versies (actie_id, versie, tijdstip_registratie, door, verzoek_id, vervallen, actie_naam, handeling_naam,
      verwerking_naam, verwerking_id, verwerkingsactiviteit_id, vertrouwelijkheid, ooit_vertrouwelijk, bewaartermijn, vervalt_op,
      uitvoerder, systeem, gebruiker, gegevensbron, tijdstip, sleutelnaam, objecten)
    values ($1::uuid, 1, now(), 'bench', 'bench', false, 'Zoeken persoon', 'Intake', 'Aanvraag schuldhulp', $2::uuid,
      '5f0bef4c-f66f-4311-84a5-19e8bf359eaf', 'normaal', false, 'P10Y', '2036-01-15', '00000099000000001000', 'Balie 2', '1234',
      'Personenregister', '2026-01-15', 'bench', '[{"nr":1,"soort":"BSN","id":"MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5","sleutel":"48086bf2-11b7-4603-9526-67d7c3bb6587","betrokkenheid":"Aanvrager","gegevens":["BSN","Naam"]}]')
  ), plaats as (
    insert into verwerkingenlog.vindplaatsen values ($3::uuid, '2026-01-15', $1::uuid, 1, 0, '5f0bef4c-f66f-4311-84a5-19e8bf359eaf',
      '2036-01-15', '{0}')
  )
  insert into verwerkingenlog.idempotentie values ($4::uuid, $2::uuid, $1::uuid, now())`;

export async function insertOneByOne(url: string, connections: number, ms: number): Promise<LoadResult> {
  const times: number[] = [];
  const from = performance.now();
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const client = new pg.Client(url);
      await client.connect();
      for (let at = performance.now(); at - from < ms; at = performance.now()) {
        const id = `${Date.now().toString(16).padStart(12, '0')}${randomUUID().slice(14)}`.replace(
          /^(.{8})(.{4})/,
          '$1-$2-',
        );
        await client.query({ name: 'insert', text: INSERT, values: [id, randomUUID(), randomUUID(), randomUUID()] });
        times.push(performance.now() - at);
      }
      await client.end();
    }),
  );
  times.sort((a, b) => a - b);
  const at = (part: number): number => times[Math.floor(times.length * part)] ?? 0;
  return { perSecond: (times.length / (performance.now() - from)) * 1000, medianMs: at(0.5), p99Ms: at(0.99) };
}
