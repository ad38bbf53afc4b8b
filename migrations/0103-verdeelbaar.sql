-- What a distributed log (Citus, docs/citus.md) needs of the schema; on one machine nothing changes.

-- A day of 24 hours before. `timestamptz - interval` is stable, because days and months depend on the time zone; hours do not. An
-- ON CONFLICT clause on a distributed table takes only what is immutable.
create function verwerkingenlog.etmaal_eerder(moment timestamptz) returns timestamptz
language sql immutable strict parallel safe
return to_timestamp(extract(epoch from moment) - 86400);

-- The objects of an action at these positions, counted from 0.
create function verwerkingenlog.objecten_op(objecten json, posities integer[]) returns json
language sql immutable strict parallel safe
return (select json_agg(o.object order by o.nummer) from json_array_elements(objecten) with ordinality as o(object, nummer)
  where (o.nummer - 1)::integer in (select unnest(posities)));

-- What the trigger of migration 0032 does, as a function of its own: Citus has no triggers on distributed tables, so there the program
-- calls it in the transaction that adds versions without a key.
create function verwerkingenlog.sta_zonder_sleutel_toe() returns void language plpgsql as $$
begin
  perform from verwerkingenlog.sleutels where naam = '' for key share;
  if found then
    return;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('verwerkingenlog sleutels', 0));
  if exists (select from verwerkingenlog.sleutels where gebruikt) then
    raise exception 'the log is kept with keys: nothing is added to it without one'
      using errcode = 'object_not_in_prerequisite_state', hint = 'Give every instance VERWERKINGENLOG_KEY.';
  end if;
  insert into verwerkingenlog.sleutels (naam, gebruikt) values ('', false) on conflict do nothing;
end $$;

create or replace function verwerkingenlog.meld_zonder_sleutel() returns trigger language plpgsql as $$
begin
  perform verwerkingenlog.sta_zonder_sleutel_toe();
  return new;
end $$;

-- As in migration 0003, but that Citus has no select without columns.
create or replace function verwerkingenlog.verwijder_lege_maand(maand text, nu timestamptz) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  leeg boolean;
begin
  if maand is null or maand !~ '^\d{6}$' or to_date(maand, 'YYYYMM') + interval '2 months' > nu at time zone 'UTC'
    or to_regclass('verwerkingenlog.versies_' || maand) is null then
    return false;
  end if;
  execute format('select not exists (select 1 from verwerkingenlog.%I)', 'versies_' || maand) into leeg;
  if leeg then
    execute format('lock table verwerkingenlog.%I in access exclusive mode', 'versies_' || maand);
    execute format('select not exists (select 1 from verwerkingenlog.%I)', 'versies_' || maand) into leeg;
  end if;
  if leeg then
    execute format('drop table verwerkingenlog.%I', 'versies_' || maand);
  end if;
  return leeg;
end
$$;
