-- Area B, the processing log. `versies` is the log itself: rows are added, never changed by the service. `locations` is an index on
-- it that is derived from the current versions: by it a person's actions are found, and whoever changes an action keeps it in step.

create schema verwerkingenlog;
grant usage on schema verwerkingenlog to koppelvlak_dienst;
grant usage on schema verwerkingenlog to koppelvlak_opschoner;

-- Every version of every action; what the interface names has that name here. A month of registration is a partition: actie_id begins with the time of the first version.
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
  ooit_vertrouwelijk boolean not null,
  bewaartermijn text,
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
  -- The key that encrypts the identifiers in this row: objecten[].id, and afnemer_id unless it is an OIN.
  key_name text not null,
  -- List of {nr, soort, id, sleutel, betrokkenheid, gegevens}; sleutel is the keyed hash of the identity, as in locations.
  objecten json not null,
  -- Offset from UTC as it was given, such as +01:00; null: UTC.
  tijdstip_offset text,
  -- The log line of LDV that the action came from (JSON, encrypted with the key of the row); null: it was logged in another way.
  ldv text,
  -- Of the call that the service made this own entry for; null in what others logged.
  trace_id uuid,
  span_id text,
  parent_span_id text,
  fsc_transaction_id text,
  -- The seed of a record's entry, encrypted, and the number that leads to its leaf. Null: from before the log was switched on.
  seed text,
  proof_number bigint,
  check (ooit_vertrouwelijk or (vertrouwelijkheid = 'normaal')),
  -- Fails on a term that retention could not read.
  check (bewaartermijn is null or (tijdstip + bewaartermijn::interval) is not null),
  primary key (actie_id, versie)
) partition by range (actie_id);
create index versies_verwerking on verwerkingenlog.versies (verwerking_id, actie_id) where (verwerking_id is not null);
create index versies_trace_id on verwerkingenlog.versies (trace_id) where (trace_id is not null);
grant select, insert on verwerkingenlog.versies to koppelvlak_dienst;
grant select, delete, update (afnemer_id, key_name, objecten, ldv, seed) on verwerkingenlog.versies to koppelvlak_opschoner;

-- Divided by person and not by month: reading one person touches one partition, however many years the log has.
create table verwerkingenlog.locations (
  -- First 128 bits of the HMAC-SHA-256 of object type, kind and identity; the kind uuid only because it is 16 bytes of fixed length.
  person_hash uuid not null,
  tijdstip timestamptz not null,
  actie_id uuid not null,
  versie integer not null,
  -- See `category` below.
  category smallint not null,
  verwerkingsactiviteit_id uuid,
  positions integer[] not null
) partition by hash (person_hash);
create unique index locations_person on verwerkingenlog.locations (person_hash, tijdstip desc, actie_id);
-- Logical replication must be able to name the row of an update or delete; a primary key would be a second index with these columns.
alter table verwerkingenlog.locations replica identity using index locations_person;
do $$
declare
  name text;
begin
  for remainder in 0..15 loop
    name := 'locations_' || to_char(remainder, 'FM00');
    execute format('create table verwerkingenlog.%I partition of verwerkingenlog.locations for values with (modulus 16, remainder %s)',
      name, remainder);
    -- Partitions do not inherit the setting.
    execute format('alter table verwerkingenlog.%I replica identity using index %I', name, name || '_person_hash_tijdstip_actie_id_idx');
  end loop;
end
$$;
grant select, insert, delete, update (versie, category) on verwerkingenlog.locations to koppelvlak_dienst;
grant select, insert, delete on verwerkingenlog.locations to koppelvlak_opschoner;

-- Idempotency keys of the last 24 hours: keyed hashes of caller and key, and the action that came of it.
create table verwerkingenlog.idempotency_keys (
  key_hash uuid primary key,
  actie_id uuid not null,
  used_at timestamptz not null
);
create index idempotency_keys_used_at on verwerkingenlog.idempotency_keys using brin (used_at) with (pages_per_range = 16);
grant select, insert, update, delete on verwerkingenlog.idempotency_keys to koppelvlak_dienst;
grant select, delete on verwerkingenlog.idempotency_keys to koppelvlak_opschoner;

-- The keys that idempotency keys, and the ids of lines of LDV, are hashed with: one at a time for all instances, whatever the order of the
-- keys in their configuration, so that a request that two of them get at once is stored once. `koppelvlak log rotate-key` makes another key
-- the row of `infinity` while it has this table and `idempotency_keys` locked: who takes idempotency keys, or reads the row `for share`, comes
-- before or after it.
create table verwerkingenlog.idempotency_hashing (
  key_name text primary key,
  -- As in `keys`.
  check_value text not null,
  -- `infinity`: what is new is hashed with it. A moment: until then there may be idempotency keys that were hashed with it.
  needed_until timestamptz not null
);
create unique index idempotency_hashing_current on verwerkingenlog.idempotency_hashing ((true)) where (needed_until = 'infinity');
grant select, insert, update, delete on verwerkingenlog.idempotency_hashing to koppelvlak_dienst;
grant select, insert, update, delete on verwerkingenlog.idempotency_hashing to koppelvlak_opschoner;

-- The register of activities, with the names of the interface.
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
  verwerkte_persoonsgegevens json not null,
  -- Of lines of LDV that name this activity; an action of the processing log says for itself whether it is confidential.
  vertrouwelijkheid text not null default 'normaal' check (vertrouwelijkheid in ('normaal', 'vertrouwelijk'))
);
create index verwerkingsactiviteiten_naam on verwerkingenlog.verwerkingsactiviteiten (naam, verwerkingsactiviteit_id);
grant select, insert, update, delete on verwerkingenlog.verwerkingsactiviteiten to koppelvlak_dienst;

-- What the register said of terms, and since when. Retention goes by this table and not by the register itself: a term that was shortened
-- there must be seen for a while before anything is removed, and a change that is not told here removes nothing.
create table verwerkingenlog.activiteit_termijnen (
  number bigint generated always as identity primary key,
  verwerkingsactiviteit_id uuid not null,
  valid_from timestamptz not null,
  bewaartermijn text,
  door text not null,
  verzoek_id text not null
);
create index activiteit_termijnen_activiteit on verwerkingenlog.activiteit_termijnen (verwerkingsactiviteit_id, valid_from, number);
grant select, insert on verwerkingenlog.activiteit_termijnen to koppelvlak_dienst;
grant select on verwerkingenlog.activiteit_termijnen to koppelvlak_opschoner;

-- One line for each run that removes. It grows with each batch, in the transaction of that batch, and stays for ever.
create table verwerkingenlog.prune_runs (
  number bigint generated always as identity primary key,
  started_at timestamptz not null,
  ended_at timestamptz,
  -- The database login that it ran as.
  login text not null,
  removed bigint not null default 0 check (removed >= 0),
  -- How many actions by month of registration: {"202601": 12}.
  by_month jsonb not null default '{}',
  -- Earliest first registration of what was removed, and the latest.
  oldest timestamptz,
  newest timestamptz,
  removed_months text[] not null default '{}',
  -- Actions that were found to have no term at all, and are kept.
  without_term bigint,
  fault text
);
grant select on verwerkingenlog.prune_runs to koppelvlak_dienst;
grant select, insert (started_at, login), update (ended_at, removed, by_month, oldest, newest, removed_months, without_term, fault) on verwerkingenlog.prune_runs to koppelvlak_opschoner;

-- The keys of VERWERKINGENLOG_KEY by name. A start with another key under a name, or without one that is in use, is refused.
create table verwerkingenlog.keys (
  name text primary key,
  -- HMAC-SHA-256 under a key that is derived from the key.
  check_value text not null,
  -- Whether versions may have been written with it. `koppelvlak log rotate-key` removes a key that no version needs any more.
  used boolean not null
);
grant select, insert, update (used) on verwerkingenlog.keys to koppelvlak_dienst;
grant select, insert, delete, update (used) on verwerkingenlog.keys to koppelvlak_opschoner;

-- What the register said of an activity from a moment on; rows are only added, so that later changes alter nothing that was
-- logged.
create table verwerkingenlog.activiteit_versies (
  number bigint generated always as identity primary key,
  verwerkingsactiviteit_id uuid not null,
  valid_from timestamptz not null,
  naam text not null,
  vertrouwelijkheid text not null,
  bewaartermijn text,
  deleted boolean not null
);
create index activiteit_versies_activiteit on verwerkingenlog.activiteit_versies (verwerkingsactiviteit_id, valid_from, number);
grant select, insert on verwerkingenlog.activiteit_versies to koppelvlak_dienst;

-- Running instances of the service, by the names of their keys. `koppelvlak log rotate-key` forgets no key that one of the last
-- minute needs.
create table verwerkingenlog.instances (
  instance_id uuid primary key,
  writes_with text not null,
  key_names text[] not null,
  seen timestamptz not null
);
grant select, insert, update, delete on verwerkingenlog.instances to koppelvlak_dienst;
grant select on verwerkingenlog.instances to koppelvlak_opschoner;

-- 0: not confidential and never was. 1: confidential, or was and was not lifted. 2: lifted.
create function verwerkingenlog.category(vertrouwelijkheid text, ooit_vertrouwelijk boolean) returns smallint
language sql immutable parallel safe
return (case when vertrouwelijkheid = 'opgeheven' then 2 when ooit_vertrouwelijk then 1 else 0 end)::smallint;

-- When an action may no longer be kept. Months are counted in UTC, so that every server comes to the same moment.
create function verwerkingenlog.expires_at(tijdstip timestamptz, bewaartermijn text) returns timestamptz
language sql stable parallel safe
return case
  when bewaartermijn is null then 'infinity'::timestamptz
  else (tijdstip at time zone 'UTC' + bewaartermijn::interval) at time zone 'UTC'
end;

-- The smallest time-ordered UUID (RFC 9562, version 7) of a moment.
create function verwerkingenlog.first_id(moment timestamptz) returns uuid
language sql immutable strict parallel safe
return (lpad(to_hex((extract(epoch from moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

-- Makes the partitions of `months` months from the month of `since` on; returns how many were new. The service may call this and
-- nothing else that changes a table. A partition is made apart and then attached: attaching does not wait for readers and writers.
create function verwerkingenlog.create_months(since timestamptz, months integer) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  month_start timestamp;
  name text;
  created integer := 0;
begin
  if months is null or months not between 1 and 60 or since is null or since not between '2000-01-01Z' and '9000-01-01Z' then
    raise exception 'months out of bounds' using errcode = 'invalid_parameter_value';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('verwerkingenlog.create_months', 0));
  for i in 0..months - 1 loop
    month_start := date_trunc('month', since at time zone 'UTC') + make_interval(months => i);
    name := 'versies_' || to_char(month_start, 'YYYYMM');
    continue when to_regclass('verwerkingenlog.' || name) is not null;
    execute format('create table verwerkingenlog.%I (like verwerkingenlog.versies including defaults including constraints)', name);
    execute format('alter table verwerkingenlog.versies attach partition verwerkingenlog.%I for values from (%L) to (%L)', name,
      verwerkingenlog.first_id(month_start at time zone 'UTC'),
      verwerkingenlog.first_id((month_start + interval '1 month') at time zone 'UTC'));
    created := created + 1;
  end loop;
  return created;
end
$$;

-- Drops a month that is over and empty; false when it is not. Pruning has emptied it. Citus has no select without columns.
create function verwerkingenlog.drop_empty_month(month text, moment timestamptz) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  is_empty boolean;
begin
  if month is null or month !~ '^\d{6}$' or to_date(month, 'YYYYMM') + interval '2 months' > moment at time zone 'UTC'
    or to_regclass('verwerkingenlog.versies_' || month) is null then
    return false;
  end if;
  execute format('select not exists (select 1 from verwerkingenlog.%I)', 'versies_' || month) into is_empty;
  if is_empty then
    execute format('lock table verwerkingenlog.%I in access exclusive mode', 'versies_' || month);
    execute format('select not exists (select 1 from verwerkingenlog.%I)', 'versies_' || month) into is_empty;
  end if;
  if is_empty then
    execute format('drop table verwerkingenlog.%I', 'versies_' || month);
  end if;
  return is_empty;
end
$$;

-- The term of an activity when its text is a duration; the standard leaves it free, so it may also be words: then null. Digits are named,
-- for `\d` has those of other scripts too.
create function verwerkingenlog.term_in(words text) returns text
language sql immutable parallel safe
return case when words ~ '[1-9]' and words ~
  '^P(?!$)([0-9]{1,5}W|([0-9]{1,5}Y)?([0-9]{1,5}M)?([0-9]{1,5}D)?(T(?=[0-9])([0-9]{1,5}H)?([0-9]{1,5}M)?([0-9]{1,5}S)?)?)$' then words end;

-- When an action has been kept long enough by its term: its own, else that of its activity, else that of the configuration.
create function verwerkingenlog.kept_until(tijdstip timestamptz, own text, of_activity text, otherwise text) returns timestamptz
language sql stable parallel safe
return verwerkingenlog.expires_at(tijdstip, coalesce(own, verwerkingenlog.term_in(of_activity), otherwise));

create function verwerkingenlog.activity_term(activity uuid, moment timestamptz) returns text
language sql stable parallel safe
return (select t.bewaartermijn from verwerkingenlog.activiteit_termijnen t
  where t.verwerkingsactiviteit_id = activity and t.valid_from <= moment order by t.valid_from desc, t.number desc limit 1);

create function verwerkingenlog.guard_prune_run() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if old.ended_at is not null or new.removed < old.removed then
    raise exception 'a line of what was removed cannot be taken back' using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;

-- A day of 24 hours before. `timestamptz - interval` is stable, because days and months depend on the time zone; hours do not. An
-- ON CONFLICT clause on a distributed table takes only what is immutable.
create function verwerkingenlog.day_before(moment timestamptz) returns timestamptz
language sql immutable strict parallel safe
return to_timestamp(extract(epoch from moment) - 86400);

-- The objects of an action at these positions, counted from 0.
create function verwerkingenlog.objects_at(objecten json, positions integer[]) returns json
language sql immutable strict parallel safe
return (select json_agg(o.object order by o.number) from json_array_elements(objecten) with ordinality as o(object, number)
  where (o.number - 1)::integer in (select unnest(positions)));

-- Whoever adds versions locks the rows of their keys until the commit. Whoever forgets a key locks its row first, and then looks whether
-- versions have it: either that sees the versions, or they are refused. KV001 is answered 503 with Retry-After.
create function verwerkingenlog.write_with_keys(names text[]) returns void language plpgsql as $$
declare
  key_name text;
  is_used boolean;
begin
  foreach key_name in array names loop
    select k.used into is_used from verwerkingenlog.keys k where k.name = key_name for key share;
    if not found then
      raise exception 'the log has forgotten the key %: nothing is added with it', key_name
        using errcode = 'KV001', hint = 'Give every instance the keys that the log is written with now, and start it again.';
    end if;
    if not is_used then
      update verwerkingenlog.keys k set used = true where k.name = key_name and not k.used;
    end if;
  end loop;
end $$;

create function verwerkingenlog.note_keys() returns trigger language plpgsql as $$
begin
  perform verwerkingenlog.write_with_keys(coalesce(
    (select array_agg(distinct key_name order by key_name) from added), '{}'));
  return null;
end $$;

revoke execute on function verwerkingenlog.create_months(timestamptz, integer), verwerkingenlog.drop_empty_month(text, timestamptz) from public;
grant execute on function verwerkingenlog.create_months(timestamptz, integer) to koppelvlak_dienst;
grant execute on function verwerkingenlog.drop_empty_month(text, timestamptz) to koppelvlak_opschoner;

create trigger with_keys after insert on verwerkingenlog.versies
  referencing new table as added
  for each statement execute function verwerkingenlog.note_keys();
create trigger prune_runs_stay before update on verwerkingenlog.prune_runs
  for each row execute function verwerkingenlog.guard_prune_run();

-- The activity of the service's own entries (deliveries, readings of the log) where the configuration names no other. The organisation
-- is not known here: who runs the service writes its own over it, under the same identity.
insert into verwerkingenlog.verwerkingsactiviteiten (
  verwerkingsactiviteit_id, versie, tijdstip_registratie, door, verzoek_id, naam, verantwoordelijke_organisatie, doel, grondslag,
  toelichting_grondslag, afnemende_categorie_ontvangers, afnemende_internationale_derden, verwerkte_persoonsgegevens)
values (
  '7d9f3c52-6b0e-4a5d-8f4e-2c1a90b6d3e7', 1, date_trunc('milliseconds', now()), 'koppelvlak', '0003-verwerkingenlog',
  'gegevens uitwisselen en verwerkingen verantwoorden', '00000000000000000000',
  'Gegevens over schuldhulp en vroegsignalering leveren aan wie daar recht op heeft, en inzage geven in het verwerkingenlog.',
  'Wettelijke verplichting', 'AVG, artikel 5 lid 2, artikel 15 en artikel 30.', '{}', '{}', '[]')
on conflict do nothing;
