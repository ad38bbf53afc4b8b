-- The index of what pages show and search finds.

create schema raadsfeed_zoek;
grant usage on schema raadsfeed_zoek to koppelvlak_dienst;

create table raadsfeed_zoek.positie (
  enkel boolean default true check (enkel) primary key,
  -- Of the feed that was read.
  feed_id text not null default '',
  -- The records up to and including this number have been taken in.
  nummer bigint not null default 0,
  -- The current state after `scan_na` and up to `scan_tot` is still to be taken in; equal: all of it was.
  scan_na bigint not null default 0,
  scan_tot bigint not null default 0
);
insert into raadsfeed_zoek.positie default values;
grant select, update on raadsfeed_zoek.positie to koppelvlak_dienst;

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
alter table raadsfeed_zoek.stuk alter column titel set statistics 0;
alter table raadsfeed_zoek.stuk alter column gremiumnaam set statistics 0;
alter table raadsfeed_zoek.stuk alter column kort set statistics 0;
alter table raadsfeed_zoek.stuk alter column woorden set statistics 0;
create index stuk_woorden on raadsfeed_zoek.stuk using gin (woorden);
create index stuk_alles on raadsfeed_zoek.stuk (datum desc nulls last, nummer desc);
create index stuk_datum on raadsfeed_zoek.stuk (resource_type, datum desc nulls last, nummer desc);
create index stuk_organisatie on raadsfeed_zoek.stuk (organisatiecode, resource_type, datum desc nulls last, nummer desc);
create index stuk_vergadering on raadsfeed_zoek.stuk (organisatiecode, vergadering, resource_type) where (vergadering is not null);
create index stuk_organisatie_dag on raadsfeed_zoek.stuk (organisatiecode, datum desc nulls last, nummer desc);
grant select, insert, update, delete on raadsfeed_zoek.stuk to koppelvlak_dienst;

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
grant select, insert, update, delete on raadsfeed_zoek.verwijzing to koppelvlak_dienst;

insert into raadsfeed.content_tables (schema_name, table_name) values ('raadsfeed_zoek', 'stuk'), ('raadsfeed_zoek', 'verwijzing');
