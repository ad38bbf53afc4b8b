-- The council feed: a log whose numbers have no gap, and the current state that follows from it.
--
-- What a record says stands in `tekst`, as the text that is served; everything that is needed to find it stands in `record`, which
-- holds no content. So a redaction has one table to empty. That table is cut into parts, because content is physically gone only
-- when the file that held it is written anew (VACUUM leaves the bytes of a removed row in the free space of its page).

create schema raadsfeed;

-- One row. Who gives numbers locks it until his commit, so the order of the numbers is the order of the commits.
create table raadsfeed.feed (
  enig boolean primary key default true check (enig),
  -- Random; a cursor names it, so a cursor of another feed is known as such.
  feed_id bytea not null check (octet_length(feed_id) = 8),
  head bigint not null default 0 check (head >= 0),
  -- The mark of the record at `head`, see `tekst.merk`.
  head_merk integer not null default 0,
  -- `storedAt` of the record at `head`: the next one is never earlier, whatever the clock says.
  laatst_opgeslagen timestamptz,
  -- History up to and including this number has been pruned; a cursor may stand exactly here.
  historie_na bigint not null default 0 check (historie_na between 0 and head),
  historie_na_merk integer not null default 0,
  historie_vanaf timestamptz not null default now(),
  -- Grows with every change of what was readable: what is kept in memory belongs to one value of it.
  redacties bigint not null default 0
);

insert into raadsfeed.feed (feed_id) values (decode(right(replace(gen_random_uuid()::text, '-', ''), 16), 'hex'));

create table raadsfeed.record (
  sequence_number bigint primary key,
  op text not null check (op in ('upsert', 'delete', 'redact')),
  resource_type text not null check (resource_type in ('Vergadering', 'Agendapunt', 'Informatieobject')),
  organisatiecode text collate "C" not null,
  bronidentificatie text collate "C" not null,
  opgeslagen timestamptz not null,
  -- Where an aggregator has it from.
  herkomst_feed text collate "C",
  herkomst_nummer bigint,
  check ((herkomst_feed is null) = (herkomst_nummer is null))
);

-- The places of one resource that hold content, for redaction.
create index record_inhoud on raadsfeed.record (organisatiecode, resource_type, bronidentificatie, sequence_number) where op = 'upsert';
create index record_organisatie on raadsfeed.record (organisatiecode, sequence_number);
create index record_soort on raadsfeed.record (resource_type, sequence_number);
create index record_herkomst on raadsfeed.record (herkomst_feed, herkomst_nummer) where herkomst_feed is not null;

-- The records as text. `kop` is all of it, or for an upsert all up to the address of this service in `resourceUrl`; then `rest` is what
-- follows that address. `merk` follows from a random number of the publishing transaction: a cursor names it, so that a number
-- given twice (a restored backup) is not taken for the same place.
create table raadsfeed.tekst (
  -- (sequence_number >> 12) & 31: pages lie in one part, or two.
  deel smallint not null check (deel = ((sequence_number >> 12) & 31)),
  sequence_number bigint not null,
  merk integer not null,
  kop text not null,
  rest text,
  primary key (deel, sequence_number)
) partition by list (deel);

-- Statistics would copy pieces of content into the catalogue.
alter table raadsfeed.tekst alter column kop set statistics 0, alter column rest set statistics 0;

do $$
begin
  for deel in 0..31 loop
    execute format('create table raadsfeed.tekst_%s partition of raadsfeed.tekst for values in (%s)', deel, deel);
    execute format('alter table raadsfeed.tekst_%s alter column kop set statistics 0, alter column rest set statistics 0', deel);
  end loop;
end
$$;

-- The current state: which record of each resource that is there.
create table raadsfeed.stand (
  organisatiecode text collate "C" not null,
  resource_type text not null,
  bronidentificatie text collate "C" not null,
  sequence_number bigint not null unique,
  content_hash text not null,
  primary key (organisatiecode, resource_type, bronidentificatie)
);

create index stand_organisatie on raadsfeed.stand (organisatiecode, sequence_number);

create table raadsfeed.organisatie (
  organisatiecode text collate "C" primary key,
  naam text not null,
  laatst_bijgewerkt timestamptz,
  herkomst text,
  herkomst_soort text not null default 'eigen' check (herkomst_soort in ('eigen', 'feed', 'leveranciers-api')),
  check ((herkomst_soort = 'feed') = (herkomst is not null))
);

-- Parts of `tekst` whose file may still hold what was removed.
create table raadsfeed.opruimen (
  deel smallint primary key,
  sinds timestamptz not null default now()
);

-- Writes the file of one part anew, from what is still there; the old file goes with the commit. The part is locked before its entry
-- in `opruimen` is touched, in the order of a redaction. Runs as the owner of the table: the service may do this, but not truncate at
-- will. False: there was nothing to do any more.
create function raadsfeed.herschrijf_deel(wens smallint) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  execute format('lock table raadsfeed.tekst_%s in access exclusive mode', wens);
  delete from raadsfeed.opruimen where deel = wens;
  if not found then
    return false;
  end if;
  execute format('create temporary table behouden on commit drop as select * from raadsfeed.tekst_%s', wens);
  execute format('truncate raadsfeed.tekst_%s', wens);
  execute format('insert into raadsfeed.tekst_%s select * from pg_temp.behouden', wens);
  drop table pg_temp.behouden;
  return true;
end
$$;
revoke execute on function raadsfeed.herschrijf_deel(smallint) from public;

grant usage on schema raadsfeed to koppelvlak_dienst;
grant select, insert, update, delete on all tables in schema raadsfeed to koppelvlak_dienst;
grant execute on function raadsfeed.herschrijf_deel(smallint) to koppelvlak_dienst;
