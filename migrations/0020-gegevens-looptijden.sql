-- Area A answers by overlap of periods: when each record runs, what makes two records the same one, and for which municipality a
-- levering is.

-- One narrow row per record beside its text, so that choosing records does not read their texts. Filled by the import; for what was
-- imported before, by the service when it starts (`leveringen.looptijden`), which knows where a model has these members.
create table gegevens.looptijden (
  invoer_id bigint not null,
  levering integer not null,
  nummer integer not null,
  -- Without a begin the record overlaps every period; without an end it is running.
  begin date,
  einde date,
  -- The persons of the record, or its ID: an HMAC under the key below. Null: not known, so never the same as another.
  sleutel bytea,
  primary key (invoer_id, levering, nummer)
);

-- Which records of its own levering a case names.
create table gegevens.zaak_signalen (
  invoer_id bigint not null,
  levering integer not null,
  zaak integer not null,
  signaal integer not null,
  primary key (invoer_id, levering, zaak, signaal)
);

-- The key of `looptijden.sleutel`: of this database only, made here, shown nowhere. The record itself stands in the same database, so
-- the key guards what could leave it alone: a list of recognition values without the records.
create table gegevens.herkenning (
  enige boolean primary key default true check (enige),
  sleutel bytea not null
);
insert into gegevens.herkenning (sleutel)
values (sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));

alter table gegevens.leveringen
  add column model_versie text,
  -- Whether its rows in `looptijden` are there.
  add column looptijden boolean not null default false;
update gegevens.leveringen l set model_versie = i.model_versie from gegevens.invoeren i where i.id = l.invoer_id;
-- The municipality is a column of its own now, no part of who delivers.
update gegevens.leveringen
set organisatie_sleutel = left(organisatie_sleutel, -length(' voor ' || gemeente_sleutel))
where right(organisatie_sleutel, length(' voor ' || gemeente_sleutel)) = ' voor ' || gemeente_sleutel;

-- The period that was resolved when page 1 was asked for. A state without it is of an earlier version of the program, and over: its
-- pages would be chosen otherwise.
alter table gegevens.standen
  add column periode_start date,
  add column periode_einde date;

-- Days asked for that no delivery covers, by organisation and municipality.
alter table gegevens.journaal add column ongedekt jsonb not null default '[]';

grant select, insert, delete on gegevens.looptijden, gegevens.zaak_signalen to koppelvlak_dienst;
grant select on gegevens.herkenning to koppelvlak_dienst;
grant update (looptijden, gemeente_sleutel, model_versie) on gegevens.leveringen to koppelvlak_dienst;
