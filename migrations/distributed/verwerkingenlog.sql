-- Distributes the processing log over the workers of Citus: `koppelvlak migrate --distributed`, after the migrations, as the owner.
-- Runs each time; what is distributed already stays as it is. What is not named here is a local table of the coordinator.

do $$
declare
  table_name text;
begin
  if not exists (select from pg_extension where extname = 'citus') then
    raise exception 'the database has no Citus'
      using errcode = 'feature_not_supported', hint = 'As a DBA run on every node: create extension citus; see docs/citus.md';
  end if;

  -- Read in joins with what is distributed, so each worker has a copy.
  foreach table_name in array array['verwerkingsactiviteiten', 'activiteit_versies', 'activiteit_termijnen'] loop
    table_name := 'verwerkingenlog.' || table_name;
    if not exists (select from pg_dist_partition where logicalrelid = table_name::regclass) then
      perform create_reference_table(table_name::regclass);
      perform truncate_local_data_after_distributing_table(table_name::regclass);
    end if;
  end loop;

  -- Reads one of these tables, so Citus did not give it to the workers when it was made.
  execute pg_get_functiondef('verwerkingenlog.activity_term(uuid, timestamptz)'::regprocedure);
  -- Numbers of copies are given by whoever inserts.
  grant usage on sequence verwerkingenlog.activiteit_versies_number_seq, verwerkingenlog.activiteit_termijnen_number_seq
    to koppelvlak_dienst;

  if exists (select from pg_dist_partition where logicalrelid = 'verwerkingenlog.versies'::regclass) then
    return;
  end if;
  -- The program itself calls `write_with_keys`.
  drop trigger with_keys on verwerkingenlog.versies;
  -- All versions of an action are in one shard, all places of a person in one, and each key in one.
  perform create_distributed_table('verwerkingenlog.versies', 'actie_id', colocate_with => 'none');
  perform create_distributed_table('verwerkingenlog.locations', 'person_hash', colocate_with => 'none');
  perform create_distributed_table('verwerkingenlog.idempotency_keys', 'key_hash', colocate_with => 'none');
  perform create_distributed_table('verwerkingenlog.ldv_keys', 'key_hash', colocate_with => 'none');
  -- What was copied to the workers is not left behind here.
  foreach table_name in array array['versies', 'locations', 'idempotency_keys', 'ldv_keys'] loop
    perform truncate_local_data_after_distributing_table(('verwerkingenlog.' || table_name)::regclass);
  end loop;
end
$$;
