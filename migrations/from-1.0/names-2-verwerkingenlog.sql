alter table verwerkingenlog.versies rename column sleutelnaam to key_name;
alter table verwerkingenlog.versies rename column ouder_span_id to parent_span_id;
alter table verwerkingenlog.versies rename column zaad to seed;
alter table verwerkingenlog.versies rename column bewijs_nr to proof_number;
alter table verwerkingenlog.versies rename column fsc_transactie_id to fsc_transaction_id;
alter table verwerkingenlog.vindplaatsen rename to locations;
alter table verwerkingenlog.locations rename column posities to positions;
alter table verwerkingenlog.idempotentie rename to idempotency_keys;
alter table verwerkingenlog.opschoningen rename to prune_runs;
alter table verwerkingenlog.prune_runs rename column begonnen_op to started_at;
alter table verwerkingenlog.prune_runs rename column geeindigd_op to ended_at;
alter table verwerkingenlog.prune_runs rename column verwijderde_maanden to removed_months;
alter table verwerkingenlog.prune_runs rename column zonder_termijn to without_term;
alter table verwerkingenlog.sleutels rename to keys;
alter table verwerkingenlog.instanties rename to instances;
alter table verwerkingenlog.instances rename column schrijft_met to writes_with;
alter table verwerkingenlog.instances rename column gezien to seen;
alter table verwerkingenlog.schrijfwijzen rename to spellings;
alter table verwerkingenlog.inzage_beeindigd rename to ended_sessions;
alter table verwerkingenlog.ldv_sleutels rename to ldv_keys;
alter table verwerkingenlog.ldv_doorgifte rename to ldv_forward_queue;
alter table verwerkingenlog.ldv_doorgifte_stand rename to ldv_forward_state;
alter table verwerkingenlog.ldv_forward_state rename column enig to only_row;
alter table verwerkingenlog.ldv_forward_state rename column niet_voor to not_before;
alter table verwerkingenlog.ldv_forward_state rename column fout_sinds to error_since;
alter table verwerkingenlog.ldv_doorgifte_meldingen rename to ldv_forward_issues;
alter function verwerkingenlog.maak_maanden(timestamp with time zone, integer) rename to create_months;
alter function verwerkingenlog.verwijder_lege_maand(text, timestamp with time zone) rename to drop_empty_month;
alter function verwerkingenlog.meld_sleutels() rename to note_keys;
alter function verwerkingenlog.schrijf_met_sleutels(text[]) rename to write_with_keys;
alter function verwerkingenlog.sta_zonder_sleutel_toe() rename to allow_without_key;
alter function verwerkingenlog.meld_zonder_sleutel() rename to note_without_key;
alter function verwerkingenlog.bewaak_opschoning() rename to guard_prune_run;
alter function verwerkingenlog.etmaal_eerder(timestamp with time zone) rename to day_before;
alter function verwerkingenlog.objecten_op(json, integer[]) rename to objects_at;
alter function verwerkingenlog.eerste_id(timestamp with time zone) rename to first_id;
alter function verwerkingenlog.termijn_in(text) rename to term_in;
alter function verwerkingenlog.activiteit_termijn(uuid, timestamp with time zone) rename to activity_term;
alter function verwerkingenlog.einde(timestamp with time zone, text, text, text) rename to kept_until;
alter function verwerkingenlog.vervalt_op(timestamp with time zone, text) rename to expires_at;
do $$
begin
  for remainder in 0..15 loop
    execute format('alter table verwerkingenlog.%I rename to %I', 'vindplaatsen_' || to_char(remainder, 'FM00'), 'locations_' || to_char(remainder, 'FM00'));
    execute format('alter index verwerkingenlog.%I rename to %I', 'vindplaatsen_' || to_char(remainder, 'FM00') || '_sleutel_tijdstip_actie_id_idx',
      'locations_' || to_char(remainder, 'FM00') || '_sleutel_tijdstip_actie_id_idx');
  end loop;
end
$$;
create or replace function verwerkingenlog.create_months(van timestamptz, aantal integer) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  begin_maand timestamp;
  naam text;
  gemaakt integer := 0;
begin
  if aantal is null or aantal not between 1 and 60 or van is null or van not between '2000-01-01Z' and '9000-01-01Z' then
    raise exception 'months out of bounds' using errcode = 'invalid_parameter_value';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('verwerkingenlog.create_months', 0));
  for i in 0..aantal - 1 loop
    begin_maand := date_trunc('month', van at time zone 'UTC') + make_interval(months => i);
    naam := 'versies_' || to_char(begin_maand, 'YYYYMM');
    continue when to_regclass('verwerkingenlog.' || naam) is not null;
    execute format('create table verwerkingenlog.%I (like verwerkingenlog.versies including defaults including constraints)', naam);
    execute format('alter table verwerkingenlog.versies attach partition verwerkingenlog.%I for values from (%L) to (%L)', naam,
      verwerkingenlog.first_id(begin_maand at time zone 'UTC'),
      verwerkingenlog.first_id((begin_maand + interval '1 month') at time zone 'UTC'));
    gemaakt := gemaakt + 1;
  end loop;
  return gemaakt;
end
$$;
create or replace function verwerkingenlog.drop_empty_month(maand text, nu timestamptz) returns boolean
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
create or replace function verwerkingenlog.guard_prune_run() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if old.ended_at is not null or new.verwijderd < old.verwijderd then
    raise exception 'a line of what was removed cannot be taken back' using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;
create or replace function verwerkingenlog.note_without_key() returns trigger language plpgsql as $$
begin
  perform verwerkingenlog.allow_without_key();
  return new;
end $$;
create or replace function verwerkingenlog.allow_without_key() returns void language plpgsql as $$
begin
  perform from verwerkingenlog.keys where naam = '' for key share;
  if found then
    return;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('verwerkingenlog sleutels', 0));
  if exists (select from verwerkingenlog.keys where gebruikt) then
    raise exception 'the log is kept with keys: nothing is added to it without one'
      using errcode = 'KV001', hint = 'Give every instance VERWERKINGENLOG_KEY.';
  end if;
  insert into verwerkingenlog.keys (naam, gebruikt) values ('', false) on conflict do nothing;
end $$;
create or replace function verwerkingenlog.write_with_keys(namen text[]) returns void language plpgsql as $$
declare
  sleutel text;
  al_gebruikt boolean;
begin
  foreach sleutel in array namen loop
    select gebruikt into al_gebruikt from verwerkingenlog.keys where naam = sleutel for key share;
    if not found then
      raise exception 'the log has forgotten the key %: nothing is added with it', sleutel
        using errcode = 'KV001', hint = 'Give every instance the keys that the log is written with now, and start it again.';
    end if;
    if not al_gebruikt then
      -- In one order with a start without a key (allow_without_key).
      perform pg_advisory_xact_lock(hashtextextended('verwerkingenlog sleutels', 0));
      update verwerkingenlog.keys set gebruikt = true where naam = sleutel and not gebruikt;
    end if;
  end loop;
end $$;
create or replace function verwerkingenlog.note_keys() returns trigger language plpgsql as $$
begin
  perform verwerkingenlog.write_with_keys(coalesce(
    (select array_agg(distinct key_name order by key_name) from nieuw where key_name is not null), '{}'));
  return null;
end $$;
do $$
begin
  if exists (select from pg_trigger where tgrelid = 'verwerkingenlog.versies'::regclass and tgname = 'zonder_sleutel') then
    alter trigger zonder_sleutel on verwerkingenlog.versies rename to without_key;
  end if;
end
$$;
do $$
begin
  if exists (select from pg_trigger where tgrelid = 'verwerkingenlog.versies'::regclass and tgname = 'met_sleutel') then
    alter trigger met_sleutel on verwerkingenlog.versies rename to with_keys;
  end if;
end
$$;
alter trigger opschoningen_blijven on verwerkingenlog.prune_runs rename to prune_runs_stay;
alter index verwerkingenlog.inzage_beeindigd_tot rename to ended_sessions_tot;
alter index verwerkingenlog.inzage_beeindigd_pkey rename to ended_sessions_pkey;
alter index verwerkingenlog.idempotentie_tijdstip rename to idempotency_keys_tijdstip;
alter index verwerkingenlog.idempotentie_pkey rename to idempotency_keys_pkey;
alter index verwerkingenlog.instanties_pkey rename to instances_pkey;
alter index verwerkingenlog.sleutels_pkey rename to keys_pkey;
alter index verwerkingenlog.ldv_doorgifte_meldingen_pkey rename to ldv_forward_issues_pkey;
alter index verwerkingenlog.ldv_doorgifte_pkey rename to ldv_forward_queue_pkey;
alter index verwerkingenlog.ldv_doorgifte_stand_pkey rename to ldv_forward_state_pkey;
alter index verwerkingenlog.ldv_sleutels_actie rename to ldv_keys_actie;
alter index verwerkingenlog.ldv_sleutels_pkey rename to ldv_keys_pkey;
alter index verwerkingenlog.vindplaatsen_persoon rename to locations_persoon;
alter index verwerkingenlog.opschoningen_pkey rename to prune_runs_pkey;
alter index verwerkingenlog.schrijfwijzen_pkey rename to spellings_pkey;
alter table verwerkingenlog.ldv_forward_issues rename constraint ldv_doorgifte_meldingen_soort_check to ldv_forward_issues_soort_check;
alter table verwerkingenlog.ldv_forward_state rename constraint ldv_doorgifte_stand_enig_check to ldv_forward_state_only_row_check;
alter table verwerkingenlog.prune_runs rename constraint opschoningen_verwijderd_check to prune_runs_verwijderd_check;
alter sequence verwerkingenlog.ldv_doorgifte_meldingen_id_seq rename to ldv_forward_issues_id_seq;
alter sequence verwerkingenlog.ldv_doorgifte_volgnummer_seq rename to ldv_forward_queue_volgnummer_seq;
alter sequence verwerkingenlog.opschoningen_nummer_seq rename to prune_runs_nummer_seq;
