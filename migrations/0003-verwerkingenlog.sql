-- The processing log. `versies` is the log itself: rows are added, never changed by the service. `vindplaatsen` is an index on it that
-- is derived from the current versions: by it a person's actions are found, and whoever changes an action keeps it in step.

create schema verwerkingenlog;
grant usage on schema verwerkingenlog to koppelvlak_dienst, koppelvlak_opschoner;

-- 0: not confidential and never was. 1: confidential, or was and was not lifted. 2: lifted.
create function verwerkingenlog.categorie(vertrouwelijkheid text, ooit_vertrouwelijk boolean) returns smallint
language sql immutable parallel safe
return (case when vertrouwelijkheid = 'opgeheven' then 2 when ooit_vertrouwelijk then 1 else 0 end)::smallint;

-- When an action may no longer be kept. Months are counted in UTC, so that every server comes to the same moment.
create function verwerkingenlog.vervalt_op(tijdstip timestamptz, bewaartermijn text) returns timestamptz
language sql stable parallel safe
return case
  when bewaartermijn is null then 'infinity'::timestamptz
  else (tijdstip at time zone 'UTC' + bewaartermijn::interval) at time zone 'UTC'
end;

-- The smallest time-ordered UUID (RFC 9562, version 7) of a moment.
create function verwerkingenlog.eerste_id(moment timestamptz) returns uuid
language sql immutable strict parallel safe
return (lpad(to_hex((extract(epoch from moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

create table verwerkingenlog.versies (
  actie_id uuid not null,
  versie integer not null check (versie > 0),
  tijdstip_registratie timestamptz not null,
  door text not null,
  verzoek_id text not null,
  vervallen boolean not null,
  actie_naam text,
  handeling_naam text,
  verwerking_naam text,
  verwerking_id uuid,
  verwerkingsactiviteit_id uuid,
  verwerkingsactiviteit_url text,
  vertrouwelijkheid text not null check (vertrouwelijkheid in ('normaal', 'vertrouwelijk', 'opgeheven')),
  ooit_vertrouwelijk boolean not null check (ooit_vertrouwelijk or vertrouwelijkheid = 'normaal'),
  bewaartermijn text,
  vervalt_op timestamptz not null,
  uitvoerder text,
  systeem text,
  gebruiker text,
  gegevensbron text,
  soort_afnemer_id text,
  afnemer_id text,
  verwerkingsactiviteit_id_afnemer uuid,
  verwerkingsactiviteit_url_afnemer text,
  verwerking_id_afnemer uuid,
  tijdstip timestamptz not null,
  sleutelnaam text,
  objecten json not null,
  primary key (actie_id, versie)
) partition by range (actie_id);

comment on table verwerkingenlog.versies is
  'Every version of every action. A month of registration is a partition: actie_id begins with the time of the first version.';
comment on column verwerkingenlog.versies.sleutelnaam is
  'The key that encrypts the identifiers in this row (objecten[].id, and afnemer_id when it is a BSN); null: stored as they came.';
comment on column verwerkingenlog.versies.objecten is
  'List of {nr, soort, id, sleutel, betrokkenheid, gegevens}; sleutel is the keyed hash of the identity, as in vindplaatsen.';

create index versies_verwerking on verwerkingenlog.versies (verwerking_id, actie_id) where verwerking_id is not null;

-- Divided by person and not by month: reading one person touches one partition, however many years the log has.
create table verwerkingenlog.vindplaatsen (
  sleutel uuid not null,
  tijdstip timestamptz not null,
  actie_id uuid not null,
  versie integer not null,
  categorie smallint not null,
  verwerkingsactiviteit_id uuid,
  vervalt_op timestamptz not null,
  posities integer[] not null
) partition by hash (sleutel);

comment on column verwerkingenlog.vindplaatsen.sleutel is
  'First 128 bits of the HMAC-SHA-256 of object type, kind and identity; the kind uuid only because it is 16 bytes of fixed length.';

create unique index vindplaatsen_persoon on verwerkingenlog.vindplaatsen (sleutel, tijdstip desc, actie_id);

do $$
begin
  for rest in 0..15 loop
    execute format(
      'create table verwerkingenlog.vindplaatsen_%s partition of verwerkingenlog.vindplaatsen for values with (modulus 16, remainder %s)',
      to_char(rest, 'FM00'), rest);
  end loop;
end
$$;

create table verwerkingenlog.idempotentie (
  sleutel uuid primary key,
  inhoud uuid not null,
  actie_id uuid not null,
  tijdstip timestamptz not null
);

comment on table verwerkingenlog.idempotentie is
  'Idempotency keys of the last 24 hours: a hash of caller and key, a hash of the action, and the action that came of it.';

create index idempotentie_tijdstip on verwerkingenlog.idempotentie using brin (tijdstip) with (pages_per_range = 16);

create table verwerkingenlog.verwerkingsactiviteiten (
  verwerkingsactiviteit_id uuid primary key,
  versie integer not null,
  tijdstip_registratie timestamptz not null,
  door text not null,
  verzoek_id text not null,
  naam text not null,
  verantwoordelijke_organisatie text not null,
  doel text not null,
  grondslag text not null,
  toelichting_grondslag text,
  categorie text,
  verantwoordelijke_bestuursorgaan text,
  gebaseerd_op text,
  bewaartermijn text,
  herkomst text,
  afnemende_categorie_ontvangers text[] not null,
  afnemende_internationale_derden text[] not null,
  verwerkte_persoonsgegevens json not null
);

create index verwerkingsactiviteiten_naam on verwerkingenlog.verwerkingsactiviteiten (naam, verwerkingsactiviteit_id);

grant select, insert on verwerkingenlog.versies to koppelvlak_dienst;
grant select, insert, delete, update (versie, categorie, vervalt_op) on verwerkingenlog.vindplaatsen to koppelvlak_dienst;
grant select, insert, update, delete on verwerkingenlog.idempotentie, verwerkingenlog.verwerkingsactiviteiten to koppelvlak_dienst;

-- The retention role removes whole actions and encrypts identifiers anew; what an action says it cannot change.
grant select, delete on verwerkingenlog.versies to koppelvlak_opschoner;
grant update (sleutelnaam, afnemer_id, objecten) on verwerkingenlog.versies to koppelvlak_opschoner;
grant select, insert, delete on verwerkingenlog.vindplaatsen to koppelvlak_opschoner;

-- Makes the partitions of `aantal` months from the month of `van` on; returns how many were new. The service may call this and
-- nothing else that changes a table. A partition is made apart and then attached: attaching does not wait for readers and writers.
create function verwerkingenlog.maak_maanden(van timestamptz, aantal integer) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  begin_maand timestamp;
  naam text;
  gemaakt integer := 0;
begin
  if aantal is null or aantal not between 1 and 60 or van is null or van not between '2000-01-01Z' and '9000-01-01Z' then
    raise exception 'months out of bounds' using errcode = 'invalid_parameter_value';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('verwerkingenlog.maak_maanden', 0));
  for i in 0..aantal - 1 loop
    begin_maand := date_trunc('month', van at time zone 'UTC') + make_interval(months => i);
    naam := 'versies_' || to_char(begin_maand, 'YYYYMM');
    continue when to_regclass('verwerkingenlog.' || naam) is not null;
    execute format('create table verwerkingenlog.%I (like verwerkingenlog.versies including defaults including constraints)', naam);
    execute format('alter table verwerkingenlog.versies attach partition verwerkingenlog.%I for values from (%L) to (%L)', naam,
      verwerkingenlog.eerste_id(begin_maand at time zone 'UTC'),
      verwerkingenlog.eerste_id((begin_maand + interval '1 month') at time zone 'UTC'));
    gemaakt := gemaakt + 1;
  end loop;
  return gemaakt;
end
$$;

-- Drops a month that is over and empty; false when it is not. Pruning has emptied it.
create function verwerkingenlog.verwijder_lege_maand(maand text, nu timestamptz) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  leeg boolean;
begin
  if maand is null or maand !~ '^\d{6}$' or to_date(maand, 'YYYYMM') + interval '2 months' > nu at time zone 'UTC'
    or to_regclass('verwerkingenlog.versies_' || maand) is null then
    return false;
  end if;
  execute format('select not exists (select from verwerkingenlog.%I)', 'versies_' || maand) into leeg;
  if leeg then
    execute format('lock table verwerkingenlog.%I in access exclusive mode', 'versies_' || maand);
    execute format('select not exists (select from verwerkingenlog.%I)', 'versies_' || maand) into leeg;
  end if;
  if leeg then
    execute format('drop table verwerkingenlog.%I', 'versies_' || maand);
  end if;
  return leeg;
end
$$;

revoke execute on function verwerkingenlog.maak_maanden(timestamptz, integer),
  verwerkingenlog.verwijder_lege_maand(text, timestamptz) from public;
grant execute on function verwerkingenlog.maak_maanden(timestamptz, integer) to koppelvlak_dienst;
grant execute on function verwerkingenlog.verwijder_lege_maand(text, timestamptz) to koppelvlak_opschoner;
