/** The members of an action, in the order and with the types of its columns. */
const CONTENT: readonly (readonly [column: string, type: string, value: string])[] = [
  ['door', 'text', 'bench'],
  ['verzoek_id', 'text', 'bench'],
  ['actie_naam', 'text', 'Zoeken persoon'],
  ['handeling_naam', 'text', 'Intake'],
  ['verwerking_naam', 'text', 'Aanvraag schuldhulp'],
  ['verwerkingsactiviteit_id', 'uuid', '5f0bef4c-f66f-4311-84a5-19e8bf359eaf'],
  ['vertrouwelijkheid', 'text', 'normaal'],
  ['bewaartermijn', 'text', 'P10Y'],
  ['uitvoerder', 'text', '00000099000000001000'],
  ['systeem', 'text', 'Balie 2'],
  ['gebruiker', 'text', '1234'],
  ['gegevensbron', 'text', 'Personenregister'],
  ['tijdstip', 'timestamptz', '2026-01-15T14:35:42+01:00'],
  ['key_name', 'text', 'bench'],
  [
    'objecten',
    'json',
    '[{"nr":1,"soort":"BSN","id":"MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5","sleutel":"48086bf2-11b7-4603-9526-67d7c3bb6587","betrokkenheid":"Aanvrager","gegevens":["BSN","Naam"]}]',
  ],
];

/** Values of the parameters from the second on. */
export const CONTENT_VALUES: readonly string[] = CONTENT.map(([, , value]) => value);

const given = CONTENT.map(([column, type], i) => ({ column, value: `$${i + 2}::${type}` }));
const givenFor = (wanted: string): string | undefined => given.find(({ column }) => column === wanted)?.value;

/**
 * The rows of one action (version, its person's index row, idempotency key) in one statement: the least that has to be
 * written.
 */
export const INSERT_SQL = `
  with nieuw as materialized (
    select $1::uuid as id, gen_random_uuid() as proces, gen_random_uuid() as persoon, gen_random_uuid() as sleutel
  ), actie as (
    insert into verwerkingenlog.versies (actie_id, versie, tijdstip_registratie, vervallen, ooit_vertrouwelijk, verwerking_id,
      ${given.map(({ column }) => column).join(', ')})
    select id, 1, now(), false, false, proces, ${given.map(({ value }) => value).join(', ')} from nieuw
  ), plaats as (
    insert into verwerkingenlog.locations (person_hash, tijdstip, actie_id, versie, category, verwerkingsactiviteit_id, positions)
    select persoon, ${givenFor('tijdstip')}, id, 1, 0, ${givenFor('verwerkingsactiviteit_id')}, '{0}'::integer[] from nieuw
  )
  insert into verwerkingenlog.idempotency_keys (key_hash, actie_id, used_at) select sleutel, id, now() from nieuw`;
