-- Documents offered to the national index of government information.

create schema diwoo;
grant usage on schema diwoo to koppelvlak_dienst;

create table diwoo.position (
  only_row boolean default true check (only_row) primary key,
  -- Of the feed that was read.
  feed_id text not null default '',
  -- The records up to and including this number have been taken in.
  number bigint not null default 0,
  -- The current state after `scan_after` and up to `scan_to` is still to be taken in; equal: all of it was.
  scan_after bigint not null default 0,
  scan_to bigint not null default 0
);
insert into diwoo.position default values;
grant select, update on diwoo.position to koppelvlak_dienst;

-- Every current document, offered or left out.
create table diwoo.documents (
  organisatiecode text collate "C" not null,
  bronidentificatie text collate "C" not null,
  -- Number of the record that is the current one.
  number bigint not null,
  -- When the document, or whether it is offered, last changed.
  modified timestamptz not null,
  -- Address of the file; absent when it has none that can be offered.
  loc text collate "C",
  -- Number of the information category in the names of sitemaps.
  categorie smallint,
  titel text not null,
  creatiedatum date,
  formaat text collate "C",
  submitted_on date,
  -- Why it is left out; absent: it is offered.
  exclusion text collate "C",
  -- Its sitemap and its place in the order of first-seen; a place is never given twice.
  page integer,
  place bigint,
  check (((exclusion is null) = (place is not null)) and ((place is null) = (page is null))),
  check ((place is null) or ((loc is not null) and (categorie is not null) and (submitted_on is not null))),
  primary key (organisatiecode, bronidentificatie)
);
alter table diwoo.documents alter column loc set statistics 0;
alter table diwoo.documents alter column titel set statistics 0;
create unique index documents_place on diwoo.documents (organisatiecode, categorie, page, place) where (place is not null);
create unique index documents_offered on diwoo.documents (loc) where (place is not null);
create index documents_loc on diwoo.documents (loc) where (loc is not null);
create index documents_exclusion on diwoo.documents (exclusion, organisatiecode, bronidentificatie) where (exclusion is not null);
grant select, insert, update, delete on diwoo.documents to koppelvlak_dienst;

-- Agenda items that are closed or lie below another one; all others are open.
create table diwoo.agendapunten (
  organisatiecode text collate "C" not null,
  bronidentificatie text collate "C" not null,
  is_closed boolean not null,
  -- The item that it lies below, of the same organisation.
  parent text collate "C",
  primary key (organisatiecode, bronidentificatie)
);
create index agendapunten_parent on diwoo.agendapunten (organisatiecode, parent) where (parent is not null);
grant select, insert, update, delete on diwoo.agendapunten to koppelvlak_dienst;

-- The agenda items that a document names.
create table diwoo.links (
  organisatiecode text collate "C" not null,
  document text collate "C" not null,
  item_organisatiecode text collate "C" not null,
  item text collate "C" not null,
  primary key (organisatiecode, document, item_organisatiecode, item)
);
create index links_item on diwoo.links (item_organisatiecode, item);
grant select, insert, update, delete on diwoo.links to koppelvlak_dienst;

-- The next place in the order of an organisation and category.
create table diwoo.series (
  organisatiecode text collate "C" not null,
  categorie smallint not null,
  next_place bigint not null,
  primary key (organisatiecode, categorie)
);
grant select, insert, update, delete on diwoo.series to koppelvlak_dienst;

create table diwoo.sitemaps (
  organisatiecode text collate "C" not null,
  categorie smallint not null,
  page integer not null,
  -- Documents in it now.
  size integer not null,
  modified timestamptz not null,
  primary key (categorie, organisatiecode, page)
);
grant select, insert, update, delete on diwoo.sitemaps to koppelvlak_dienst;

insert into raadsfeed.content_tables (schema_name, table_name)
values ('diwoo', 'documents'), ('diwoo', 'agendapunten'), ('diwoo', 'links');
