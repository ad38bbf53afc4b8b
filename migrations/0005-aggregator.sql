-- What the aggregator remembers of its sources, and the register of feeds.
--
-- How far a source was read changes in the transaction that publishes what was read, under the number of the lease (`huur_nummer`):
-- who has lost his lease, or whose source was paused or removed, changes nothing and so publishes nothing.

create schema aggregator;

create table aggregator.bron (
  id integer generated always as identity primary key,
  -- Address of a service document, or `<scheme>:<organisation>` of a supplier's API.
  adres text collate "C" not null unique,
  soort text not null check (soort in ('feed', 'leveranciers-api')),
  toestand text not null default 'actief' check (toestand in ('actief', 'gepauzeerd')),
  -- Only these organisations are taken from it; empty: all that it names.
  organisatiecodes text[] not null default '{}',
  naam text,
  portaal text,
  vanaf date,
  toegevoegd timestamptz not null default now(),

  -- Of a feed: its addresses, and how far it was read.
  feed_url text,
  snapshot_url text,
  rol text,
  document_etag text,
  document_op timestamptz,
  fase text not null default 'stand' check (fase in ('stand', 'feed')),
  -- The state is compared with ours: what is not seen in snapshot and feed is gone.
  vergelijken boolean not null default false,
  stand_cursor text,
  stand_feed_cursor text,
  cursor text,
  etag text,
  -- Number of the last record that was looked at; null when the place is known by its cursor alone.
  laatste_nummer bigint,
  head bigint,
  paginagrootte integer not null default 500 check (paginagrootte between 1 and 1000),
  -- An operator's word that more than a tenth of an organisation may go in the next comparison.
  mag_massaal boolean not null default false,
  hervergelijken timestamptz,
  -- When the snapshot was last begun, so that a source that refuses its own cursor is not read over and over.
  stand_begonnen timestamptz,

  -- Of a supplier's API: deletes in the slow round that runs; the limit holds for all its windows together.
  ronde_begonnen timestamptz not null default now(),
  ronde_verwijderd integer not null default 0,

  -- How it goes.
  volgende timestamptz not null default now(),
  bijgewerkt timestamptz,
  mislukt integer not null default 0,
  fout text,
  fout_soort text,
  fout_sinds timestamptz,
  gelezen bigint not null default 0,
  gepubliceerd bigint not null default 0,
  geweigerd bigint not null default 0,

  -- Who is at work on it.
  huur_nummer bigint not null default 0,
  huurder text,
  huur_tot timestamptz
);

create index bron_volgende on aggregator.bron (volgende) where toestand = 'actief';

-- One organisation has one source.
create table aggregator.bron_organisatie (
  organisatiecode text collate "C" primary key,
  bron_id integer not null references aggregator.bron (id),
  naam text not null,
  -- False when the source's own document does not name it (any more): then nothing of it is published.
  aanwezig boolean not null default true,
  -- As the source says, when the source is itself an aggregator.
  bron_bijgewerkt timestamptz,
  -- Deletes that wait for an operator's word.
  achtergehouden integer not null default 0
);

create index bron_organisatie_bron on aggregator.bron_organisatie (bron_id);

-- What was seen in a snapshot, and in the feed after it, while the state is compared.
create table aggregator.gezien (
  bron_id integer not null references aggregator.bron (id) on delete cascade,
  organisatiecode text collate "C" not null,
  resource_type text not null,
  bronidentificatie text collate "C" not null,
  primary key (bron_id, organisatiecode, resource_type, bronidentificatie)
);

-- What was not as it should be.
create table aggregator.melding (
  bron_id integer not null references aggregator.bron (id) on delete cascade,
  wat text not null,
  waar text not null,
  detail text not null,
  -- Of a supplier's API: the window in which it was met.
  venster_van date,
  venster_tot date,
  aantal bigint not null,
  blokkeert boolean not null,
  sinds timestamptz not null,
  laatst timestamptz not null,
  opgelost timestamptz,
  unique nulls not distinct (bron_id, wat, waar, detail, venster_van, venster_tot)
);

-- Of a supplier's API: a stretch of days that is read as a whole.
create table aggregator.venster (
  bron_id integer not null references aggregator.bron (id) on delete cascade,
  van date not null,
  tot date not null,
  gelezen timestamptz,
  volledig boolean,
  volledig_gelezen timestamptz,
  volgende_snel timestamptz not null default now(),
  volgende_volledig timestamptz not null default now(),
  achtergehouden integer not null default 0,
  primary key (bron_id, van)
);

-- Where resources hang at a supplier: meetings and entries of registers.
create table aggregator.plaats (
  bron_id integer not null references aggregator.bron (id) on delete cascade,
  plaats text collate "C" not null,
  dag date not null,
  ouder text,
  laatst_gewijzigd text,
  opnieuw_na text,
  primary key (bron_id, plaats)
);

create index plaats_dag on aggregator.plaats (bron_id, dag);

create table aggregator.deel (
  bron_id integer not null,
  plaats text collate "C" not null,
  volgorde integer not null,
  resource_type text not null,
  bronidentificatie text collate "C" not null,
  deel jsonb not null,
  primary key (bron_id, plaats, volgorde),
  foreign key (bron_id, plaats) references aggregator.plaats (bron_id, plaats) on delete cascade
);

create index deel_resource on aggregator.deel (bron_id, resource_type, bronidentificatie);

-- The last measurement of what a supplier shows and the feed holds, by month.
create table aggregator.dekking (
  bron_id integer not null references aggregator.bron (id) on delete cascade,
  maand text not null,
  getoond integer not null,
  aanwezig integer not null,
  naamloos integer not null,
  ontbreekt text[] not null,
  gemeten timestamptz not null,
  primary key (bron_id, maand)
);

-- Where feeds are; nothing of their content.
create table aggregator.register (
  service_url text collate "C" primary key,
  -- What the operator gave: a domain or an address.
  opgegeven text not null,
  feed_url text,
  snapshot_url text,
  stream_url text,
  rol text check (rol in ('bronhouder', 'aggregator')),
  organisaties jsonb not null default '[]',
  codes text[] not null default '{}',
  laatst_gezien timestamptz,
  bereikbaar boolean not null default false,
  fout text,
  volgende timestamptz not null default now()
);

create index register_codes on aggregator.register using gin (codes);

grant usage on schema aggregator to koppelvlak_dienst;
grant select, insert, update, delete on all tables in schema aggregator to koppelvlak_dienst;
grant usage on all sequences in schema aggregator to koppelvlak_dienst;
