/** The rows of one action (version, place of its person, idempotency key) in one statement: what is unavoidable. */
export function insertSql(id: string, other: string): string {
  return `
  with nieuw as materialized (select ${id} as id, ${other} as proces, ${other} as persoon, ${other} as sleutel),
  actie as (
    insert into verwerkingenlog.versies (actie_id, versie, tijdstip_registratie, door, verzoek_id, vervallen, actie_naam, handeling_naam,
      verwerking_naam, verwerking_id, verwerkingsactiviteit_id, vertrouwelijkheid, ooit_vertrouwelijk, bewaartermijn, vervalt_op,
      uitvoerder, systeem, gebruiker, gegevensbron, tijdstip, sleutelnaam, objecten)
    select id, 1, now(), 'bench', 'bench', false, 'Zoeken persoon', 'Intake', 'Aanvraag schuldhulp', proces,
      '5f0bef4c-f66f-4311-84a5-19e8bf359eaf', 'normaal', false, 'P10Y', '2036-01-15', '00000099000000001000', 'Balie 2', '1234',
      'Personenregister', '2026-01-15', 'bench', '[{"nr":1,"soort":"BSN","id":"MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5","sleutel":"48086bf2-11b7-4603-9526-67d7c3bb6587","betrokkenheid":"Aanvrager","gegevens":["BSN","Naam"]}]'
    from nieuw
  ), plaats as (
    insert into verwerkingenlog.vindplaatsen select persoon, '2026-01-15', id, 1, 0, '5f0bef4c-f66f-4311-84a5-19e8bf359eaf'::uuid,
      '2036-01-15', '{0}'::integer[] from nieuw
  )
  insert into verwerkingenlog.idempotentie select sleutel, proces, id, now() from nieuw`;
}
