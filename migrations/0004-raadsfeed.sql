-- Area C: the feed of council information.

create schema raadsfeed;
grant usage on schema raadsfeed to koppelvlak_dienst;

-- One row. Who gives numbers locks it until his commit, so the order of the numbers is the order of the commits.
create table raadsfeed.feed (
  only_row boolean default true check (only_row) primary key,
  -- Random; a cursor names it, so a cursor of another feed is known as such.
  feed_id bytea not null check (octet_length(feed_id) = 8),
  head bigint not null default 0 check (head >= 0),
  -- The epoch of the record at `head`, see `texts.epoch`.
  head_epoch integer not null default 0,
  -- `storedAt` of the record at `head`: the next one is never earlier, whatever the clock says.
  last_stored_at timestamptz,
  -- History up to and including this number has been pruned; a cursor may point exactly here.
  history_after bigint not null default 0,
  history_after_epoch integer not null default 0,
  history_from timestamptz not null default now(),
  -- Grows with every change of what was readable: what is kept in memory belongs to one value of it.
  redactions bigint not null default 0,
  -- Every number below this one has a partition.
  partitioned_to bigint not null default 0,
  check ((history_after >= 0) and (history_after <= head))
);
insert into raadsfeed.feed (feed_id) values (decode(right(replace(gen_random_uuid()::text, '-', ''), 16), 'hex'));
grant select, insert, update, delete on raadsfeed.feed to koppelvlak_dienst;

create table raadsfeed.records (
  sequence_number bigint primary key,
  op text not null check (op in ('upsert', 'delete', 'redact')),
  resource_type text not null check (resource_type in ('Vergadering', 'Agendapunt', 'Informatieobject')),
  organisatiecode text collate "C" not null,
  bronidentificatie text collate "C" not null,
  stored_at timestamptz not null,
  -- Where an aggregator has it from.
  herkomst_feed text collate "C",
  herkomst_number bigint,
  -- In the feed the leaf follows from the number.
  seed text,
  check ((herkomst_feed is null) = (herkomst_number is null))
);
create index records_content on raadsfeed.records (organisatiecode, resource_type, bronidentificatie, sequence_number) where (op = 'upsert');
create index records_organisatiecode on raadsfeed.records (organisatiecode, sequence_number);
create index records_type on raadsfeed.records (resource_type, sequence_number);
create index records_herkomst on raadsfeed.records (herkomst_feed, herkomst_number) where (herkomst_feed is not null);
create index records_removed on raadsfeed.records (organisatiecode, resource_type, bronidentificatie, sequence_number) where (op <> 'upsert');
grant select, insert, update, delete on raadsfeed.records to koppelvlak_dienst;

-- The current state: which record of each resource that is there.
create table raadsfeed.current_records (
  organisatiecode text collate "C" not null,
  resource_type text not null,
  bronidentificatie text collate "C" not null,
  sequence_number bigint not null unique,
  content_hash text not null,
  primary key (organisatiecode, resource_type, bronidentificatie)
);
create index current_records_organisatiecode on raadsfeed.current_records (organisatiecode, sequence_number);
grant select, insert, update, delete on raadsfeed.current_records to koppelvlak_dienst;

-- As the service document shows them.
create table raadsfeed.organisaties (
  organisatiecode text collate "C" primary key,
  naam text not null,
  laatst_bijgewerkt timestamptz,
  herkomst text,
  herkomst_soort text not null default 'eigen' check (herkomst_soort in ('eigen', 'feed', 'leveranciers-api')),
  check ((herkomst_soort = 'feed') = (herkomst is not null))
);
grant select, insert, update, delete on raadsfeed.organisaties to koppelvlak_dienst;

create table raadsfeed.texts (
  sequence_number bigint primary key,
  -- Follows from a random number of the publishing transaction: a cursor names it, so that a number that is given twice (a restored backup)
  -- is not taken for the same position.
  epoch integer not null,
  -- All of the record, or for an upsert all up to the address of this service in `resourceUrl`; then `record_suffix` is what follows that address.
  record_prefix text not null,
  record_suffix text
) partition by range (sequence_number);
alter table raadsfeed.texts alter column record_prefix set statistics 0;
alter table raadsfeed.texts alter column record_suffix set statistics 0;
grant select, insert, update, delete on raadsfeed.texts to koppelvlak_dienst;

-- Partitions whose file may still hold what was removed, by their first number. `changes` grows with every removal.
create table raadsfeed.pending_rewrites (
  first_number bigint primary key,
  changes bigint not null default 1,
  since timestamptz not null default now()
);
grant select, insert, update, delete on raadsfeed.pending_rewrites to koppelvlak_dienst;

create table raadsfeed.content_tables (
  -- The schema has a table `position` with one row, whose `number` says how far it has followed the feed. Only who has locked that row writes
  -- to the table. It has a primary key, and no foreign key leads to it or from it.
  schema_name text not null,
  table_name text not null,
  -- Number of the last redaction, and of the last one whose content is out of the files.
  redacted_at bigint not null default 0,
  rewritten_to bigint not null default 0,
  primary key (schema_name, table_name)
);
grant select, update (redacted_at) on raadsfeed.content_tables to koppelvlak_dienst;

-- An empty table with the form of a partition. The check spares the database a look at every row when it is attached.
create function raadsfeed.create_text_table(name text, first_number bigint) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  execute format(
    'create table raadsfeed.%I (like raadsfeed.texts including all, constraint in_range check (sequence_number >= %s and sequence_number < %s))',
    name, first_number, first_number + 100000);
  execute format('alter table raadsfeed.%I alter column record_prefix set statistics 0, alter column record_suffix set statistics 0', name);
end
$$;

create function raadsfeed.attach_text_table(name text, first_number bigint) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  execute format('alter table raadsfeed.texts attach partition raadsfeed.%I for values from (%s) to (%s)',
    name, first_number, first_number + 100000);
  execute format('alter table raadsfeed.%I drop constraint in_range', name);
end
$$;

-- Makes the partitions for all numbers up to and including one that lies at most a million beyond the head. Runs as the owner of the
-- tables: the service may add partitions, and make no other tables. Who calls it has locked the row of the feed, or locks it here.
create function raadsfeed.ensure_text_partitions(up_to bigint) returns bigint
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

-- Writes what is left of one partition to a new file, and exchanges the two. Content is physically gone only with the file that held it:
-- VACUUM leaves the bytes of a removed row in the free space of its page. Copying takes no lock that anybody meets; the exchange takes a
-- moment, and waits for readers in steps of a tenth of a second, so that nobody queues behind it for longer.
-- 'nothing': there was nothing to do; 'again': something was removed meanwhile, so the copy was thrown away; 'done'.
create function raadsfeed.rewrite_text_partition(wanted bigint) returns text
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

-- Copies what is left of a table to new files, its indexes too, and exchanges the two. Readers wait for nothing but the exchange of names;
-- that waits for them in steps of a tenth of a second, so that nobody queues behind it for longer. Who follows the feed goes on while
-- the rows are copied; what changed meanwhile is found by the transactions that wrote it.
-- 'nothing': there was nothing to do; 'busy': another process does it; 'behind': the redaction has not reached the table yet; 'done'.
create function raadsfeed.rewrite_content_table(wanted_schema text, wanted_table text) returns text
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
  execute format('select number from %I.position', wanted_schema) into followed_to;
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
    execute format('select number from %I.position for update', wanted_schema);
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

revoke execute on function raadsfeed.create_text_table(text, bigint), raadsfeed.attach_text_table(text, bigint),
  raadsfeed.ensure_text_partitions(bigint), raadsfeed.rewrite_text_partition(bigint),
  raadsfeed.rewrite_content_table(text, text) from public;
grant execute on function raadsfeed.ensure_text_partitions(bigint), raadsfeed.rewrite_text_partition(bigint),
  raadsfeed.rewrite_content_table(text, text) to koppelvlak_dienst;

select raadsfeed.ensure_text_partitions(100000);
