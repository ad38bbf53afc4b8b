-- The index of what pages show and search finds.

create schema pages;
grant usage on schema pages to koppelvlak_dienst;

create table pages.position (
  only_row boolean default true check (only_row) primary key,
  -- Of the feed that was read.
  feed_id text not null default '',
  -- The records up to and including this number have been taken in.
  nummer bigint not null default 0,
  -- The current state after `scan_after` and up to `scan_to` is still to be taken in; equal: all of it was.
  scan_after bigint not null default 0,
  scan_to bigint not null default 0
);
insert into pages.position default values;
grant select, update on pages.position to koppelvlak_dienst;

create table pages.items (
  -- Number of the record that is the current one of the resource.
  nummer bigint primary key,
  organisatiecode text collate "C" not null,
  resource_type text collate "C" not null,
  bronidentificatie text collate "C" not null,
  stored_at timestamptz not null,
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
alter table pages.items alter column titel set statistics 0;
alter table pages.items alter column gremiumnaam set statistics 0;
alter table pages.items alter column kort set statistics 0;
alter table pages.items alter column woorden set statistics 0;
create index items_woorden on pages.items using gin (woorden);
create index items_alles on pages.items (datum desc nulls last, nummer desc);
create index items_datum on pages.items (resource_type, datum desc nulls last, nummer desc);
create index items_organisatie on pages.items (organisatiecode, resource_type, datum desc nulls last, nummer desc);
create index items_vergadering on pages.items (organisatiecode, vergadering, resource_type) where (vergadering is not null);
create index items_organisatie_dag on pages.items (organisatiecode, datum desc nulls last, nummer desc);
grant select, insert, update, delete on pages.items to koppelvlak_dienst;

-- What a document or a meeting refers to.
create table pages.links (
  organisatiecode text collate "C" not null,
  van_type text collate "C" not null,
  van text collate "C" not null,
  naar_organisatie text collate "C" not null,
  naar_type text collate "C" not null,
  naar text collate "C" not null,
  rol text not null default '',
  primary key (organisatiecode, van_type, van, naar_organisatie, naar_type, naar)
);
create index links_naar on pages.links (naar_organisatie, naar_type, naar);
grant select, insert, update, delete on pages.links to koppelvlak_dienst;

insert into raadsfeed.content_tables (schema_name, table_name) values ('pages', 'items'), ('pages', 'links');
