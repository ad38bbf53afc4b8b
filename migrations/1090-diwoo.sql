-- Documents offered to the national index of government information.

create schema raadsfeed_diwoo;
grant usage on schema raadsfeed_diwoo to koppelvlak_dienst;

create table raadsfeed_diwoo.positie (
  enkel boolean default true check (enkel) primary key,
  -- Of the feed that was read.
  feed_id text not null default '',
  -- The records up to and including this number have been taken in.
  nummer bigint not null default 0,
  -- The current state after `scan_na` and up to `scan_tot` is still to be taken in; equal: all of it was.
  scan_na bigint not null default 0,
  scan_tot bigint not null default 0
);
insert into raadsfeed_diwoo.positie default values;
grant select, update on raadsfeed_diwoo.positie to koppelvlak_dienst;

-- Every current document, offered or left out.
create table raadsfeed_diwoo.stuk (
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
alter table raadsfeed_diwoo.stuk alter column loc set statistics 0;
alter table raadsfeed_diwoo.stuk alter column titel set statistics 0;
create unique index stuk_plaats on raadsfeed_diwoo.stuk (organisatiecode, categorie, pagina, plaats) where (plaats is not null);
create unique index stuk_aangeboden on raadsfeed_diwoo.stuk (loc) where (plaats is not null);
create index stuk_loc on raadsfeed_diwoo.stuk (loc) where (loc is not null);
create index stuk_reden on raadsfeed_diwoo.stuk (reden, organisatiecode, bronidentificatie) where (reden is not null);
grant select, insert, update, delete on raadsfeed_diwoo.stuk to koppelvlak_dienst;

-- Agenda items that are closed or lie below another one; all others are open.
create table raadsfeed_diwoo.agendapunt (
  organisatiecode text collate "C" not null,
  bronidentificatie text collate "C" not null,
  besloten boolean not null,
  hoofd text collate "C",
  primary key (organisatiecode, bronidentificatie)
);
create index agendapunt_hoofd on raadsfeed_diwoo.agendapunt (organisatiecode, hoofd) where (hoofd is not null);
grant select, insert, update, delete on raadsfeed_diwoo.agendapunt to koppelvlak_dienst;

-- The agenda items that a document names.
create table raadsfeed_diwoo.verwijzing (
  organisatiecode text collate "C" not null,
  van text collate "C" not null,
  naar_organisatie text collate "C" not null,
  naar text collate "C" not null,
  primary key (organisatiecode, van, naar_organisatie, naar)
);
create index verwijzing_naar on raadsfeed_diwoo.verwijzing (naar_organisatie, naar);
grant select, insert, update, delete on raadsfeed_diwoo.verwijzing to koppelvlak_dienst;

-- The next place in the order of an organisation and category.
create table raadsfeed_diwoo.reeks (
  organisatiecode text collate "C" not null,
  categorie smallint not null,
  volgende bigint not null,
  primary key (organisatiecode, categorie)
);
grant select, insert, update, delete on raadsfeed_diwoo.reeks to koppelvlak_dienst;

create table raadsfeed_diwoo.sitemap (
  organisatiecode text collate "C" not null,
  categorie smallint not null,
  pagina integer not null,
  -- Documents in it now.
  aantal integer not null,
  gewijzigd timestamptz not null,
  -- Grows with every change.
  versie bigint not null default 1,
  primary key (categorie, organisatiecode, pagina)
);
grant select, insert, update, delete on raadsfeed_diwoo.sitemap to koppelvlak_dienst;

insert into raadsfeed.content_tables (schema_name, table_name)
values ('raadsfeed_diwoo', 'stuk'), ('raadsfeed_diwoo', 'agendapunt'), ('raadsfeed_diwoo', 'verwijzing');
