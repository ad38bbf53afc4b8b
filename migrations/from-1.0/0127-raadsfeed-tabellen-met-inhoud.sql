-- What is redacted must be gone from the files of the tables beside the feed too: VACUUM leaves the bytes of a removed row in the free space of
-- its page, and an index of words keeps each word for ever. An extension registers its tables here; the feed knows none of them by name.

create table raadsfeed.content_tables (
  -- The schema has a table `positie` with one row, whose `nummer` says how far it has followed the feed. Only who has locked that row writes
  -- to the table. It has a primary key, and no foreign key leads to it or from it.
  schema_name text not null,
  table_name text not null,
  -- Number of the last redaction, and of the last one whose content is out of the files.
  redacted_at bigint not null default 0,
  rewritten_to bigint not null default 0,
  primary key (schema_name, table_name)
);
grant select, update (redacted_at) on raadsfeed.content_tables to koppelvlak_dienst;

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
  execute format('select nummer from %I.positie', wanted_schema) into followed_to;
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
    execute format('select nummer from %I.positie for update', wanted_schema);
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
revoke execute on function raadsfeed.rewrite_content_table(text, text) from public;
grant execute on function raadsfeed.rewrite_content_table(text, text) to koppelvlak_dienst;

-- Statistics would copy pieces of content into the catalogue.
alter table raadsfeed_zoek.stuk alter column gremiumnaam set statistics 0;

-- What was redacted before goes too.
insert into raadsfeed.content_tables (schema_name, table_name, redacted_at)
select schema_name, table_name, coalesce((select max(sequence_number) from raadsfeed.record where op = 'redact'), 0)
  from (values ('raadsfeed_zoek', 'stuk'), ('raadsfeed_zoek', 'verwijzing'),
               ('raadsfeed_diwoo', 'stuk'), ('raadsfeed_diwoo', 'agendapunt'), ('raadsfeed_diwoo', 'verwijzing')) as t (schema_name, table_name);
