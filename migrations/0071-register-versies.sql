-- What a line of LDV does not say is read from the register as it was when the line's processing began: which activity it was, whether
-- that is confidential, and how long to keep it.

alter table verwerkingenlog.verwerkingsactiviteiten
  add column vertrouwelijkheid text not null default 'normaal' check (vertrouwelijkheid in ('normaal', 'vertrouwelijk'));

comment on column verwerkingenlog.verwerkingsactiviteiten.vertrouwelijkheid is
  'Of lines of LDV that name this activity; an action of the processing log says for itself whether it is confidential.';

create table verwerkingenlog.activiteit_versies (
  nummer bigint generated always as identity primary key,
  verwerkingsactiviteit_id uuid not null,
  vanaf timestamptz not null,
  naam text not null,
  vertrouwelijkheid text not null,
  bewaartermijn text,
  verwijderd boolean not null
);

comment on table verwerkingenlog.activiteit_versies is
  'What the register said of an activity from a moment on; rows are only added, so that later changes alter nothing that was logged.';

create index activiteit_versies_activiteit on verwerkingenlog.activiteit_versies (verwerkingsactiviteit_id, vanaf, nummer);

insert into verwerkingenlog.activiteit_versies
  (verwerkingsactiviteit_id, vanaf, naam, vertrouwelijkheid, bewaartermijn, verwijderd)
select verwerkingsactiviteit_id, tijdstip_registratie, naam, vertrouwelijkheid, bewaartermijn, false
from verwerkingenlog.verwerkingsactiviteiten;

grant select, insert on verwerkingenlog.activiteit_versies to koppelvlak_dienst;
