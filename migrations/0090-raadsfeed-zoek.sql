-- The search index of the pages: beside the feed, because the feed carries no enrichment. It follows the feed, and `feed reindex` makes it
-- anew from the current state. It holds content, so a redaction removes rows here too.

create schema raadsfeed_zoek;

create table raadsfeed_zoek.positie (
  enkel boolean primary key default true check (enkel),
  -- Of the feed that was read.
  feed_id text not null default '',
  -- The records up to and including this number have been taken in.
  nummer bigint not null default 0,
  -- The current state after `scan_na` and up to `scan_tot` is still to be taken in; equal: all of it was.
  scan_na bigint not null default 0,
  scan_tot bigint not null default 0
);
insert into raadsfeed_zoek.positie default values;

create table raadsfeed_zoek.stuk (
  -- Number of the record that is the current one of the resource.
  nummer bigint primary key,
  organisatiecode text collate "C" not null,
  resource_type text collate "C" not null,
  bronidentificatie text collate "C" not null,
  opgeslagen timestamptz not null,
  titel text not null,
  -- When the meeting or item is, or when the document was submitted.
  datum timestamptz,
  soort text collate "C",
  -- The meeting of an item; of a document the first one that it names, or that its first item belongs to.
  vergadering text collate "C",
  -- The body that holds the meeting, by identification and name.
  gremium text collate "C",
  gremiumnaam text,
  -- The members that lists show.
  kort jsonb not null,
  woorden tsvector not null,
  unique (organisatiecode, resource_type, bronidentificatie)
);

-- Statistics would copy pieces of content into the catalogue.
alter table raadsfeed_zoek.stuk
  alter column titel set statistics 0, alter column kort set statistics 0, alter column woorden set statistics 0;

-- The half year and the year of a day as words that nobody can type. A search for a common word begins with the newest half years: the
-- index of words then finds both together, without a look at all rows that have the word.
create function raadsfeed_zoek.periode(datum timestamptz) returns tsvector
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select case when datum is null then ''::tsvector else array_to_tsvector(array[
    '_' || extract(year from datum at time zone 'UTC')::integer,
    '_' || extract(year from datum at time zone 'UTC')::integer || case when extract(month from datum at time zone 'UTC') <= 6 then 'a' else 'b' end])
  end
$$;
revoke execute on function raadsfeed_zoek.periode(timestamptz) from public;
grant execute on function raadsfeed_zoek.periode(timestamptz) to koppelvlak_dienst;

create index stuk_woorden on raadsfeed_zoek.stuk using gin (woorden);
create index stuk_alles on raadsfeed_zoek.stuk (datum desc nulls last, nummer desc);
create index stuk_datum on raadsfeed_zoek.stuk (resource_type, datum desc nulls last, nummer desc);
create index stuk_organisatie on raadsfeed_zoek.stuk (organisatiecode, resource_type, datum desc nulls last, nummer desc);
create index stuk_vergadering on raadsfeed_zoek.stuk (organisatiecode, vergadering, resource_type) where vergadering is not null;

-- What a document or a meeting refers to.
create table raadsfeed_zoek.verwijzing (
  organisatiecode text collate "C" not null,
  van_type text collate "C" not null,
  van text collate "C" not null,
  naar_organisatie text collate "C" not null,
  naar_type text collate "C" not null,
  naar text collate "C" not null,
  rol text not null default '',
  primary key (organisatiecode, van_type, van, naar_organisatie, naar_type, naar)
);
create index verwijzing_naar on raadsfeed_zoek.verwijzing (naar_organisatie, naar_type, naar);

-- The history of one resource, beside `record_inhoud`, which has the places that still hold content.
create index record_verwijderd on raadsfeed.record (organisatiecode, resource_type, bronidentificatie, sequence_number) where op <> 'upsert';

grant usage on schema raadsfeed_zoek to koppelvlak_dienst;
grant select, update on raadsfeed_zoek.positie to koppelvlak_dienst;
grant select, insert, update, delete on raadsfeed_zoek.stuk, raadsfeed_zoek.verwijzing to koppelvlak_dienst;
