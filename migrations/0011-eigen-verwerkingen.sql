-- The activity of the service's own entries (deliveries, readings of the log) where the configuration names no other. The organisation
-- is not known here: who runs the service writes its own over it, under the same identity.
insert into verwerkingenlog.verwerkingsactiviteiten (
  verwerkingsactiviteit_id, versie, tijdstip_registratie, door, verzoek_id, naam, verantwoordelijke_organisatie, doel, grondslag,
  toelichting_grondslag, afnemende_categorie_ontvangers, afnemende_internationale_derden, verwerkte_persoonsgegevens)
values (
  '7d9f3c52-6b0e-4a5d-8f4e-2c1a90b6d3e7', 1, date_trunc('milliseconds', now()), 'koppelvlak', '0011-eigen-verwerkingen',
  'gegevens uitwisselen en verwerkingen verantwoorden', '00000000000000000000',
  'Gegevens over schuldhulp en vroegsignalering leveren aan wie daar recht op heeft, en inzage geven in het verwerkingenlog.',
  'Wettelijke verplichting', 'AVG, artikel 5 lid 2, artikel 15 en artikel 30.', '{}', '{}', '[]')
on conflict do nothing;
