-- Documents offered to the national index of government information.

create schema diwoo;
grant usage on schema diwoo to koppelvlak_dienst;

create table diwoo.position (
  only_row boolean default true check (only_row) primary key,
  -- Of the feed that was read.
  feed_id text not null default '',
  -- The records up to and including this number have been taken in.
  nummer bigint not null default 0,
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
  nummer bigint not null,
  -- When the document, or whether it is offered, last changed.
  gewijzigd timestamptz not null,
  -- Address of the file; absent when it has none that can be offered.
  loc text collate "C",
  -- Number of the information category in the names of sitemaps.
  categorie smallint,
  titel text not null,
  creatiedatum date,
  formaat text collate "C",
  -- Day on which it was submitted.
  ontvangen date,
  -- Why it is left out; absent: it is offered.
  reden text collate "C",
  -- Its sitemap and its place in the order of first-seen; a place is never given twice.
  pagina integer,
  plaats bigint,
  check (((reden is null) = (plaats is not null)) and ((plaats is null) = (pagina is null))),
  check ((plaats is null) or ((loc is not null) and (categorie is not null) and (ontvangen is not null))),
  primary key (organisatiecode, bronidentificatie)
);
alter table diwoo.documents alter column loc set statistics 0;
alter table diwoo.documents alter column titel set statistics 0;
create unique index documents_plaats on diwoo.documents (organisatiecode, categorie, pagina, plaats) where (plaats is not null);
create unique index documents_aangeboden on diwoo.documents (loc) where (plaats is not null);
create index documents_loc on diwoo.documents (loc) where (loc is not null);
create index documents_reden on diwoo.documents (reden, organisatiecode, bronidentificatie) where (reden is not null);
grant select, insert, update, delete on diwoo.documents to koppelvlak_dienst;

-- Agenda items that are closed or lie below another one; all others are open.
create table diwoo.agendapunt (
  organisatiecode text collate "C" not null,
  bronidentificatie text collate "C" not null,
  besloten boolean not null,
  hoofd text collate "C",
  primary key (organisatiecode, bronidentificatie)
);
create index agendapunt_hoofd on diwoo.agendapunt (organisatiecode, hoofd) where (hoofd is not null);
grant select, insert, update, delete on diwoo.agendapunt to koppelvlak_dienst;

-- The agenda items that a document names.
create table diwoo.links (
  organisatiecode text collate "C" not null,
  van text collate "C" not null,
  naar_organisatie text collate "C" not null,
  naar text collate "C" not null,
  primary key (organisatiecode, van, naar_organisatie, naar)
);
create index links_naar on diwoo.links (naar_organisatie, naar);
grant select, insert, update, delete on diwoo.links to koppelvlak_dienst;

-- The next place in the order of an organisation and category.
create table diwoo.series (
  organisatiecode text collate "C" not null,
  categorie smallint not null,
  volgende bigint not null,
  primary key (organisatiecode, categorie)
);
grant select, insert, update, delete on diwoo.series to koppelvlak_dienst;

create table diwoo.sitemap (
  organisatiecode text collate "C" not null,
  categorie smallint not null,
  pagina integer not null,
  -- Documents in it now.
  aantal integer not null,
  gewijzigd timestamptz not null,
  primary key (categorie, organisatiecode, pagina)
);
grant select, insert, update, delete on diwoo.sitemap to koppelvlak_dienst;

insert into raadsfeed.content_tables (schema_name, table_name)
values ('diwoo', 'documents'), ('diwoo', 'agendapunt'), ('diwoo', 'links');
