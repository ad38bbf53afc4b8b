-- Sources that are followed, and how far; and the register of feeds.

create schema aggregator;
grant usage on schema aggregator to koppelvlak_dienst;

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
  -- First and last day that is read of a supplier: an organisation may have another source from the day after.
  vanaf date,
  tot date,
  -- See `SupplierOptions` in src/raadsfeed/aggregator/source.ts.
  options jsonb not null default '{}',
  toegevoegd timestamptz not null default now(),
  -- Of a feed: its addresses, and how far it was read.
  feed_url text,
  snapshot_url text,
  rol text,
  document_etag text,
  document_at timestamptz,
  fase text not null default 'stand' check (fase in ('stand', 'historie', 'feed')),
  -- The state is compared with ours: what is not seen in snapshot and feed is gone.
  vergelijken boolean not null default false,
  snapshot_cursor text,
  snapshot_feed_cursor text,
  cursor text,
  etag text,
  -- Number of the last record that was looked at; null when the place is known by its cursor alone.
  last_number bigint,
  head bigint,
  paginagrootte integer not null default 1000 check ((paginagrootte >= 1) and (paginagrootte <= 1000)),
  -- An operator's word that more than a tenth of an organisation may go in the next comparison.
  allow_mass_delete boolean not null default false,
  compare_again_at timestamptz,
  -- When the snapshot was last begun, so that a source that refuses its own cursor is not read over and over.
  snapshot_started_at timestamptz,
  -- Of a supplier's API: deletes in the slow round that runs; the limit holds for all its windows together.
  round_started_at timestamptz not null default now(),
  round_deleted integer not null default 0,
  -- How it goes.
  volgende timestamptz not null default now(),
  bijgewerkt timestamptz,
  mislukt integer not null default 0,
  fout text,
  error_kind text,
  error_since timestamptz,
  gelezen bigint not null default 0,
  gepubliceerd bigint not null default 0,
  geweigerd bigint not null default 0,
  -- Who is at work on it.
  lease_number bigint not null default 0,
  lease_holder text,
  lease_until timestamptz,
  -- The place in the feed was given up, so redactions may have been missed. Where its history is read: null is its beginning.
  history_cursor text,
  -- Number of the last record that was read before; null when nothing says which.
  history_after bigint,
  -- Whether that history is the one that was read before and reaches back to that number; null while nothing says so.
  history_connects boolean,
  -- It does not: what disappears in the comparison that runs is taken out of our own history too.
  history_missed boolean not null default false,
  -- See `ReadingProgress` in src/raadsfeed/aggregator/feed/page.ts.
  voortgang jsonb,
  -- A hash of this source was the one that we would make; then one that is not is wrong.
  hash_matches boolean not null default false,
  -- Organisations that its service document names.
  genoemd text[] not null default '{}'
);
create index bron_volgende on aggregator.bron (volgende) where (toestand = 'actief');
grant select, insert, update, delete on aggregator.bron to koppelvlak_dienst;
grant usage on sequence aggregator.bron_id_seq to koppelvlak_dienst;

-- One organisation has one source.
create table aggregator.bron_organisatie (
  organisatiecode text collate "C" primary key,
  bron_id integer not null references aggregator.bron,
  naam text not null,
  -- False when the source's own document does not name it (any more): then nothing of it is published.
  aanwezig boolean not null default true,
  -- As the source says, when the source is itself an aggregator.
  source_updated_at timestamptz,
  -- Deletes that wait for an operator's word.
  achtergehouden integer not null default 0
);
create index bron_organisatie_bron on aggregator.bron_organisatie (bron_id);
grant select, insert, update, delete on aggregator.bron_organisatie to koppelvlak_dienst;

-- What was seen in a snapshot, and in the feed after it, while the state is compared.
create table aggregator.seen (
  bron_id integer not null references aggregator.bron on delete cascade,
  organisatiecode text collate "C" not null,
  resource_type text not null,
  bronidentificatie text collate "C" not null,
  primary key (bron_id, organisatiecode, resource_type, bronidentificatie)
);
grant select, insert, update, delete on aggregator.seen to koppelvlak_dienst;

-- What is not as it should be; deleted when it is found no longer.
create table aggregator.issues (
  bron_id integer not null references aggregator.bron on delete cascade,
  wat text not null,
  waar text not null,
  detail text not null,
  -- Of a supplier's API: the window in which it was met.
  window_from date,
  window_to date,
  aantal bigint not null,
  blokkeert boolean not null,
  sinds timestamptz not null,
  laatst timestamptz not null,
  -- Its natural key has columns that may be null, so it cannot be the primary key.
  id bigint generated always as identity primary key,
  unique nulls not distinct (bron_id, wat, waar, detail, window_from, window_to)
);
grant select, insert, update, delete on aggregator.issues to koppelvlak_dienst;

-- Of a supplier's API: a stretch of days that is read as a whole.
create table aggregator.windows (
  bron_id integer not null references aggregator.bron on delete cascade,
  van date not null,
  tot date not null,
  gelezen timestamptz,
  volledig boolean,
  next_quick_at timestamptz not null default now(),
  next_full_at timestamptz not null default now(),
  achtergehouden integer not null default 0,
  -- When a reading of it that was complete began.
  complete_at timestamptz,
  -- A meeting or an agenda item in it is confidential: what may belong to it is withheld over all windows of a source.
  has_confidential boolean not null default false,
  primary key (bron_id, van)
);
grant select, insert, update, delete on aggregator.windows to koppelvlak_dienst;

-- Where resources hang at a supplier: meetings and entries of registers.
create table aggregator.places (
  bron_id integer not null references aggregator.bron on delete cascade,
  plaats text collate "C" not null,
  dag date not null,
  ouder text,
  last_modified text,
  retry_after text,
  primary key (bron_id, plaats)
);
create index places_dag on aggregator.places (bron_id, dag);
grant select, insert, update, delete on aggregator.places to koppelvlak_dienst;

create table aggregator.parts (
  bron_id integer not null,
  plaats text collate "C" not null,
  volgorde integer not null,
  resource_type text not null,
  bronidentificatie text collate "C" not null,
  deel jsonb not null,
  constraint parts_bron_id_plaats_fkey foreign key (bron_id, plaats) references aggregator.places(bron_id, plaats) on delete cascade,
  primary key (bron_id, plaats, volgorde)
);
create index parts_resource on aggregator.parts (bron_id, resource_type, bronidentificatie);
grant select, insert, update, delete on aggregator.parts to koppelvlak_dienst;

-- The last measurement of what a supplier shows and the feed holds, by month.
create table aggregator.coverage (
  bron_id integer not null references aggregator.bron on delete cascade,
  maand text not null,
  getoond integer not null,
  aanwezig integer not null,
  gemeten timestamptz not null,
  -- What registers hold is measured in one reading of all of them, meetings in that of a window.
  registers boolean not null default false,
  primary key (bron_id, maand, registers)
);
grant select, insert, update, delete on aggregator.coverage to koppelvlak_dienst;

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
  last_seen_at timestamptz,
  bereikbaar boolean not null default false,
  fout text,
  volgende timestamptz not null default now()
);
create index register_codes on aggregator.register using gin (codes);
grant select, insert, update, delete on aggregator.register to koppelvlak_dienst;

-- A call to a supplier takes one of its turns, whichever instance or command makes it. Who dies leaves his turn to run out.
create table aggregator.supplier_slots (
  leverancier text not null,
  beurt smallint not null,
  houder text,
  tot timestamptz,
  primary key (leverancier, beurt)
);
insert into aggregator.supplier_slots (leverancier, beurt) select 'notubiz', n from generate_series(1, 4) n;
grant select, insert, update, delete on aggregator.supplier_slots to koppelvlak_dienst;

-- Until when a supplier asks to be left alone.
create table aggregator.supplier_pauses (
  leverancier text primary key,
  tot timestamptz not null
);
grant select, insert, update, delete on aggregator.supplier_pauses to koppelvlak_dienst;

-- Resources whose last record was refused: until there is a better one, the source is not up to date.
create table aggregator.refused (
  bron_id integer not null references aggregator.bron on delete cascade,
  -- `organisatiecode/resourceType/bronidentificatie`; empty when the record does not say.
  sleutel text collate "C" not null,
  sinds timestamptz not null default now(),
  primary key (bron_id, sleutel)
);
grant select, insert, update, delete on aggregator.refused to koppelvlak_dienst;

-- When the supplier may next be called, where it allows a number of calls a minute.
create table aggregator.supplier_pace (
  leverancier text primary key,
  next_at timestamptz not null
);
grant select, insert, update, delete on aggregator.supplier_pace to koppelvlak_dienst;

-- Suppliers that blocked our address: nobody calls them until an operator resumes them.
create table aggregator.supplier_blocks (
  leverancier text primary key,
  since timestamptz not null,
  reason text not null
);
grant select, insert, update, delete on aggregator.supplier_blocks to koppelvlak_dienst;

-- Which address numbered what the feed has of an organisation, for suppliers whose addresses each number from 1. It outlives its source: what
-- another address numbers would replace what is published.
create table aggregator.numbered_addresses (
  organisatiecode text not null,
  -- Of the supplier: the first word of its identifiers too.
  scheme text not null,
  adres text not null,
  primary key (organisatiecode, scheme)
);
grant select, insert, update on aggregator.numbered_addresses to koppelvlak_dienst;
