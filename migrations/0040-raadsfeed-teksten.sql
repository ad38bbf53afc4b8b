-- The texts of the feed in partitions of 100 000 numbers each, instead of 32 that share out all numbers: publishing writes to the last one,
-- a page lies in one or two, and a redaction writes anew only the files of those that it reaches, while others read and publish.

alter table raadsfeed.tekst rename to tekst_in_delen;
alter table raadsfeed.tekst_in_delen rename constraint tekst_pkey to tekst_in_delen_pkey;

create table raadsfeed.tekst (
  sequence_number bigint primary key,
  -- Follows from a random number of the publishing transaction: a cursor names it, so that a number that is given twice (a restored backup)
  -- is not taken for the same position.
  merk integer not null,
  -- All of the record, or for an upsert all up to the address of this service in `resourceUrl`; then `rest` is what follows that address.
  kop text not null,
  rest text
) partition by range (sequence_number);

-- Statistics would copy pieces of content into the catalogue.
alter table raadsfeed.tekst alter column kop set statistics 0, alter column rest set statistics 0;

-- Every number below this one has a partition.
alter table raadsfeed.feed add column partitioned_to bigint not null default 0;

-- Partitions whose file may still hold what was removed, by their first number. `changes` grows with every removal.
create table raadsfeed.pending_rewrites (
  first_number bigint primary key,
  changes bigint not null default 1,
  since timestamptz not null default now()
);

-- An empty table with the form of a partition. The check spares the database a look at every row when it is attached.
create function raadsfeed.create_text_table(name text, first_number bigint) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  execute format(
    'create table raadsfeed.%I (like raadsfeed.tekst including all, constraint in_range check (sequence_number >= %s and sequence_number < %s))',
    name, first_number, first_number + 100000);
  execute format('alter table raadsfeed.%I alter column kop set statistics 0, alter column rest set statistics 0', name);
end
$$;

create function raadsfeed.attach_text_table(name text, first_number bigint) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  execute format('alter table raadsfeed.tekst attach partition raadsfeed.%I for values from (%s) to (%s)',
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
    perform raadsfeed.create_text_table('tekst_from_' || next_number, next_number);
    perform raadsfeed.attach_text_table('tekst_from_' || next_number, next_number);
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
  present text := 'tekst_from_' || wanted;
  copy text := 'tekst_from_' || wanted || '_copy';
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
      lock table only raadsfeed.tekst in access exclusive mode;
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
  execute format('alter table raadsfeed.tekst detach partition raadsfeed.%I', present);
  execute format('drop table raadsfeed.%I', present);
  execute format('select not exists (select from raadsfeed.%I)', copy) into is_empty;
  if is_empty and (select wanted + 100000 <= historie_na from raadsfeed.feed) then
    execute format('drop table raadsfeed.%I', copy);
  else
    execute format('alter table raadsfeed.%I rename to %I', copy, present);
    perform raadsfeed.attach_text_table(present, wanted);
  end if;
  delete from raadsfeed.pending_rewrites where first_number = wanted;
  return 'done';
end
$$;

revoke execute on function raadsfeed.create_text_table(text, bigint), raadsfeed.attach_text_table(text, bigint),
  raadsfeed.ensure_text_partitions(bigint), raadsfeed.rewrite_text_partition(bigint) from public;
grant execute on function raadsfeed.ensure_text_partitions(bigint), raadsfeed.rewrite_text_partition(bigint) to koppelvlak_dienst;
grant select, insert, update, delete on raadsfeed.tekst, raadsfeed.pending_rewrites to koppelvlak_dienst;

-- What is there goes over in order; the old files, and what was still to be removed from them, go with the old table.
do $$
declare
  next_number bigint := 0;
begin
  while next_number <= (select head + 100000 from raadsfeed.feed) loop
    perform raadsfeed.create_text_table('tekst_from_' || next_number, next_number);
    execute format('insert into raadsfeed.%I select sequence_number, merk, kop, rest from raadsfeed.tekst_in_delen
                     where sequence_number >= %s and sequence_number < %s order by sequence_number',
      'tekst_from_' || next_number, next_number, next_number + 100000);
    perform raadsfeed.attach_text_table('tekst_from_' || next_number, next_number);
    next_number := next_number + 100000;
  end loop;
  update raadsfeed.feed set partitioned_to = next_number;
end
$$;

drop function raadsfeed.herschrijf_deel(smallint);
drop table raadsfeed.tekst_in_delen;
drop table raadsfeed.opruimen;
