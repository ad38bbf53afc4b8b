alter table raadsfeed.feed rename column enig to only_row;
alter table raadsfeed.feed rename column head_merk to head_epoch;
alter table raadsfeed.feed rename column laatst_opgeslagen to last_stored_at;
alter table raadsfeed.feed rename column historie_na to history_after;
alter table raadsfeed.feed rename column historie_na_merk to history_after_epoch;
alter table raadsfeed.feed rename column historie_vanaf to history_from;
alter table raadsfeed.feed rename column redacties to redactions;
alter table raadsfeed.record rename column opgeslagen to stored_at;
alter table raadsfeed.record rename column zaad to seed;
alter table raadsfeed.stand rename to current_records;
alter table raadsfeed.tekst rename to texts;
alter table raadsfeed.texts rename column merk to epoch;
alter table raadsfeed.texts rename column kop to record_prefix;
alter table raadsfeed.texts rename column rest to record_suffix;
do $$
declare
  part record;
begin
  -- After a redaction the copy that replaced a partition has kept the name of its own index.
  for part in
    select t.relname as name, i.relname as key from pg_class t join pg_index x on x.indrelid = t.oid and x.indisprimary join pg_class i on i.oid = x.indexrelid
    where t.relnamespace = 'raadsfeed'::regnamespace and t.relkind = 'r' and t.relname ~ '^tekst_from_'
  loop
    execute format('alter table raadsfeed.%I rename to %I', part.name, replace(part.name, 'tekst_', 'texts_'));
    execute format('alter index raadsfeed.%I rename to %I', part.key, replace(part.name, 'tekst_', 'texts_') || '_pkey');
  end loop;
end
$$;
update raadsfeed.content_tables c set schema_name = n.schema_name, table_name = n.table_name
  from (values ('raadsfeed_zoek', 'stuk', 'pages', 'items'), ('raadsfeed_zoek', 'verwijzing', 'pages', 'links'),
               ('raadsfeed_diwoo', 'stuk', 'diwoo', 'documents'), ('raadsfeed_diwoo', 'agendapunt', 'diwoo', 'agendapunt'),
               ('raadsfeed_diwoo', 'verwijzing', 'diwoo', 'links')) as n (old_schema, old_table, schema_name, table_name)
 where c.schema_name = n.old_schema and c.table_name = n.old_table;
create or replace function raadsfeed.create_text_table(name text, first_number bigint) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  execute format(
    'create table raadsfeed.%I (like raadsfeed.texts including all, constraint in_range check (sequence_number >= %s and sequence_number < %s))',
    name, first_number, first_number + 100000);
  execute format('alter table raadsfeed.%I alter column record_prefix set statistics 0, alter column record_suffix set statistics 0', name);
end
$$;
create or replace function raadsfeed.attach_text_table(name text, first_number bigint) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  execute format('alter table raadsfeed.texts attach partition raadsfeed.%I for values from (%s) to (%s)',
    name, first_number, first_number + 100000);
  execute format('alter table raadsfeed.%I drop constraint in_range', name);
end
$$;
create or replace function raadsfeed.ensure_text_partitions(up_to bigint) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  next_number bigint;
  highest bigint;
begin
  select partitioned_to, least(up_to, head + 1000000) into next_number, highest from raadsfeed.feed for update;
  while next_number <= highest loop
    perform raadsfeed.create_text_table('texts_from_' || next_number, next_number);
    perform raadsfeed.attach_text_table('texts_from_' || next_number, next_number);
    next_number := next_number + 100000;
  end loop;
  update raadsfeed.feed set partitioned_to = next_number where partitioned_to < next_number;
  return next_number;
end
$$;
create or replace function raadsfeed.rewrite_text_partition(wanted bigint) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  present text := 'texts_from_' || wanted;
  copy text := 'texts_from_' || wanted || '_copy';
  changes_before bigint;
  changes_now bigint;
  copied_to bigint;
  is_empty boolean;
  attempts integer := 0;
begin
  -- One at a time in this database; it goes with the transaction.
  perform pg_advisory_xact_lock(4001, 0);
  select changes into changes_before from raadsfeed.pending_rewrites where first_number = wanted;
  if not found then
    return 'nothing';
  end if;
  if to_regclass('raadsfeed.' || present) is null then
    delete from raadsfeed.pending_rewrites where first_number = wanted;
    return 'nothing';
  end if;
  perform raadsfeed.create_text_table(copy, wanted);
  execute format('insert into raadsfeed.%I select * from raadsfeed.%I', copy, present);
  execute format('select coalesce(max(sequence_number), 0) from raadsfeed.%I', copy) into copied_to;
  perform set_config('lock_timeout', '100ms', true);
  loop
    begin
      lock table only raadsfeed.texts in access exclusive mode;
      exit;
    exception when lock_not_available then
      attempts := attempts + 1;
      if attempts >= 100 then
        raise;
      end if;
    end;
    perform pg_sleep(0.1);
  end loop;
  perform set_config('lock_timeout', '0', true);
  select changes into changes_now from raadsfeed.pending_rewrites where first_number = wanted;
  if changes_now is distinct from changes_before then
    execute format('drop table raadsfeed.%I', copy);
    return 'again';
  end if;
  -- What was published while the rest was copied. Numbers are given in the order of the commits.
  execute format('insert into raadsfeed.%I select * from raadsfeed.%I where sequence_number > $1', copy, present) using copied_to;
  execute format('alter table raadsfeed.texts detach partition raadsfeed.%I', present);
  execute format('drop table raadsfeed.%I', present);
  execute format('select not exists (select from raadsfeed.%I)', copy) into is_empty;
  if is_empty and (select wanted + 100000 <= history_after from raadsfeed.feed) then
    execute format('drop table raadsfeed.%I', copy);
  else
    execute format('alter table raadsfeed.%I rename to %I', copy, present);
    perform raadsfeed.attach_text_table(present, wanted);
  end if;
  delete from raadsfeed.pending_rewrites where first_number = wanted;
  return 'done';
end
$$;
create or replace function raadsfeed.rewrite_content_table(wanted_schema text, wanted_table text) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  present text := format('%I.%I', wanted_schema, wanted_table);

  copy text := format('%I.%I', wanted_schema, wanted_table || '_copy');
  wanted bigint;
  followed_to bigint;
  before pg_snapshot;
  key_matches text;
  is_new text;
  attempts integer := 0;
  item record;
begin
  if not pg_try_advisory_xact_lock(4001, 1) then
    return 'busy';
  end if;
  select redacted_at into wanted from raadsfeed.content_tables
   where schema_name = wanted_schema and table_name = wanted_table and redacted_at > rewritten_to;
  if not found then
    return 'nothing';
  end if;
  execute format('select nummer from %I.position', wanted_schema) into followed_to;
  if pg_relation_size(present::regclass) > 0 then
    if followed_to < wanted then
      return 'behind';
    end if;
    select string_agg(format('p.%1$I = c.%1$I', a.attname), ' and ') into key_matches
      from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
     where i.indrelid = present::regclass and i.indisprimary;
    execute format('create table %s (like %s including defaults including constraints including storage)', copy, present);
    for item in select attname from pg_attribute where attrelid = present::regclass and attnum > 0 and attstattarget = 0 loop
      execute format('alter table %s alter column %I set statistics 0', copy, item.attname);
    end loop;
    for item in
      select privilege_type, pg_get_userbyid(grantee) as grantee from pg_class, aclexplode(relacl)
       where oid = present::regclass and grantee <> relowner
    loop
      execute format('grant %s on %s to %I', item.privilege_type, copy, item.grantee);
    end loop;
    -- The copy sees at least what this snapshot sees. A row of an earlier era of transaction numbers counts as new, and is copied again.
    before := pg_current_snapshot();
    execute format('insert into %s select * from %s', copy, present);
    for item in
      select c.relname as name, i.indisprimary as is_primary, k.oid is not null as is_constraint,
             regexp_replace(pg_get_indexdef(i.indexrelid), ' INDEX .* ON [^ ]+ USING ',
               format(' INDEX %I ON %s USING ', c.relname || '_copy', copy)) as definition
        from pg_index i join pg_class c on c.oid = i.indexrelid
        left join pg_constraint k on k.conindid = i.indexrelid and k.conrelid = i.indrelid and k.contype in ('p', 'u')
       where i.indrelid = present::regclass
    loop
      execute item.definition;
      if item.is_constraint then
        execute format('alter table %s add constraint %I %s using index %2$I', copy, item.name || '_copy',
          case when item.is_primary then 'primary key' else 'unique' end);
      end if;
    end loop;
    execute format('analyze %s', copy);
    -- From here nobody writes to the table.
    execute format('select nummer from %I.position for update', wanted_schema);
    is_new := format('not pg_visible_in_snapshot((%s + p.xmin::text::bigint)::text::xid8, %L)',
      (pg_current_xact_id()::text::bigint >> 32) << 32, before);
    execute format('delete from %s c where not exists (select from %s p where %s and not (%s))', copy, present, key_matches, is_new);
    execute format('insert into %s select p.* from %s p where %s', copy, present, is_new);
    perform set_config('lock_timeout', '100ms', true);
    loop
      begin
        execute format('lock table %s in access exclusive mode', present);
        exit;
      exception when lock_not_available then
        attempts := attempts + 1;
        if attempts >= 100 then
          raise;
        end if;
      end;
      perform pg_sleep(0.1);
    end loop;
    perform set_config('lock_timeout', '0', true);
    execute format('drop table %s', present);
    execute format('alter table %s rename to %I', copy, wanted_table);
    for item in
      select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid where i.indrelid = present::regclass
    loop
      execute format('alter index %I.%I rename to %I', wanted_schema, item.name, regexp_replace(item.name, '_copy$', ''));
    end loop;
  end if;
  update raadsfeed.content_tables set rewritten_to = wanted where schema_name = wanted_schema and table_name = wanted_table;
  return 'done';
end
$$;
alter index raadsfeed.stand_organisatie rename to current_records_organisatie;
alter index raadsfeed.stand_pkey rename to current_records_pkey;
alter index raadsfeed.stand_sequence_number_key rename to current_records_sequence_number_key;
alter index raadsfeed.tekst_pkey rename to texts_pkey;
alter table raadsfeed.feed rename constraint feed_enig_check to feed_only_row_check;
