-- A key of the log that was forgotten is never written with again, and a key counts as used from the first version on that has it.

-- Keys whose row was removed while versions of theirs were still being added. Reads the log once.
do $$
declare
  sleutel text;
begin
  for sleutel in select distinct sleutelnaam from verwerkingenlog.versies where sleutelnaam is not null loop
    insert into verwerkingenlog.sleutels (naam, gebruikt) values (sleutel, true)
    on conflict (naam) do update set gebruikt = true;
  end loop;
end $$;

-- Whoever adds versions locks the rows of their keys until the commit. Whoever forgets a key locks its row first, and then looks whether
-- versions have it: either that sees the versions, or they are refused. KV001 is answered 503 with Retry-After.
create function verwerkingenlog.schrijf_met_sleutels(namen text[]) returns void language plpgsql as $$
declare
  sleutel text;
  al_gebruikt boolean;
begin
  foreach sleutel in array namen loop
    select gebruikt into al_gebruikt from verwerkingenlog.sleutels where naam = sleutel for key share;
    if not found then
      raise exception 'the log has forgotten the key %: nothing is added with it', sleutel
        using errcode = 'KV001', hint = 'Give every instance the keys that the log is written with now, and start it again.';
    end if;
    if not al_gebruikt then
      -- In one order with a start without a key (sta_zonder_sleutel_toe).
      perform pg_advisory_xact_lock(hashtextextended('verwerkingenlog sleutels', 0));
      update verwerkingenlog.sleutels set gebruikt = true where naam = sleutel and not gebruikt;
    end if;
  end loop;
end $$;

create function verwerkingenlog.meld_sleutels() returns trigger language plpgsql as $$
begin
  perform verwerkingenlog.schrijf_met_sleutels(coalesce(
    (select array_agg(distinct sleutelnaam order by sleutelnaam) from nieuw where sleutelnaam is not null), '{}'));
  return null;
end $$;

-- Citus has no triggers on distributed tables: there the program calls the function.
do $$
declare
  verdeeld boolean := false;
begin
  if to_regclass('pg_catalog.pg_dist_partition') is not null then
    execute $q$select exists (select from pg_dist_partition where logicalrelid = 'verwerkingenlog.versies'::regclass)$q$ into verdeeld;
  end if;
  if not verdeeld then
    create trigger met_sleutel after insert on verwerkingenlog.versies referencing new table as nieuw
      for each statement execute function verwerkingenlog.meld_sleutels();
  end if;
end $$;

-- As in migration 0103, with the code that is answered 503.
create or replace function verwerkingenlog.sta_zonder_sleutel_toe() returns void language plpgsql as $$
begin
  perform from verwerkingenlog.sleutels where naam = '' for key share;
  if found then
    return;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('verwerkingenlog sleutels', 0));
  if exists (select from verwerkingenlog.sleutels where gebruikt) then
    raise exception 'the log is kept with keys: nothing is added to it without one'
      using errcode = 'KV001', hint = 'Give every instance VERWERKINGENLOG_KEY.';
  end if;
  insert into verwerkingenlog.sleutels (naam, gebruikt) values ('', false) on conflict do nothing;
end $$;

create table verwerkingenlog.instanties (
  instantie uuid primary key,
  schrijft_met text,
  sleutels text[] not null,
  gezien timestamptz not null
);

comment on table verwerkingenlog.instanties is
  'Running instances of the service, by the names of their keys. `koppelvlak log rotate-key` forgets no key that one of the last minute needs.';

grant select, insert, update, delete on verwerkingenlog.instanties to koppelvlak_dienst;
grant select on verwerkingenlog.instanties to koppelvlak_opschoner;
