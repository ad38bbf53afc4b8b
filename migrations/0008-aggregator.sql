-- The sources that are followed and how far each was read, and the register of feeds.

create schema aggregator;
grant usage on schema aggregator to koppelvlak_dienst;

create table aggregator.sources (
  id integer generated always as identity primary key,
  -- Address of a service document, or `<scheme>:<organisation>` of a supplier's API.
  address text collate "C" not null unique,
  kind text not null check (kind in ('feed', 'leveranciers-api')),
  paused boolean not null default false,
  -- Only these organisations are taken from it; empty: all that it names.
  organisatiecodes text[] not null default '{}',
  name text,
  portal text,
  -- First and last day that is read of a supplier: an organisation may have another source from the day after.
  first_day date,
  last_day date,
  -- See `SupplierOptions` in src/raadsfeed/aggregator/source.ts.
  options jsonb not null default '{}',
  added_at timestamptz not null default now(),
  -- Of a feed: its addresses, and how far it was read.
  feed_url text,
  snapshot_url text,
  rol text,
  document_etag text,
  document_read_at timestamptz,
  phase text not null default 'snapshot' check (phase in ('snapshot', 'history', 'feed')),
  -- Resources that neither the snapshot nor the feed after it shows will be deleted.
  is_comparing boolean not null default false,
  snapshot_cursor text,
  snapshot_feed_cursor text,
  cursor text,
  etag text,
  -- Number of the last record that was read; null when only the cursor is known.
  last_number bigint,
  head bigint,
  page_size integer not null default 1000 check (page_size between 1 and 1000),
  -- An operator's consent to delete more than a tenth of an organisation in the next comparison.
  allow_mass_delete boolean not null default false,
  compare_again_at timestamptz,
  -- A source that refuses its own cursor is not read over and over.
  snapshot_started_at timestamptz,
  -- Of a supplier: deletes in the current full round; the limit holds for all its windows together.
  round_started_at timestamptz not null default now(),
  round_deleted integer not null default 0,
  next_at timestamptz not null default now(),
  caught_up_at timestamptz,
  -- Consecutive failures, and the last one.
  failures integer not null default 0,
  failure_kind text,
  failure_message text,
  failing_since timestamptz,
  records_read bigint not null default 0,
  records_published bigint not null default 0,
  records_refused bigint not null default 0,
  lease_number bigint not null default 0,
  lease_holder text,
  lease_until timestamptz,
  -- The cursor was given up, so redactions may have been missed. Where the history is read from; null: its beginning.
  history_cursor text,
  -- Number of the last record that was read before; null when it is not known.
  history_after bigint,
  -- Whether this is the history that was read before, back to that number; null while that is not known.
  history_joins boolean,
  -- It is not: resources that disappear in this comparison are redacted here too.
  history_missed boolean not null default false,
  -- See `ReadingProgress` in src/lib/feed/read-page.ts.
  progress jsonb,
  -- A hash of this source equalled ours once: one that differs is wrong.
  hash_matches boolean not null default false,
  -- Organisations that its service document names.
  named text[] not null default '{}'
);
create index sources_next on aggregator.sources (next_at) where not paused;
grant select, insert, update, delete on aggregator.sources to koppelvlak_dienst;
grant usage on sequence aggregator.sources_id_seq to koppelvlak_dienst;

-- An organisation has one source.
create table aggregator.source_organisations (
  organisatiecode text collate "C" primary key,
  source_id integer not null references aggregator.sources,
  name text not null,
  -- False when the source's document does not name it (any more): then nothing of it is published.
  is_present boolean not null default true,
  -- By the document of a source that is itself an aggregator.
  source_updated_at timestamptz,
  -- Deletes that wait for an operator's consent.
  withheld integer not null default 0
);
create index source_organisations_source on aggregator.source_organisations (source_id);
grant select, insert, update, delete on aggregator.source_organisations to koppelvlak_dienst;

-- Resources seen in a snapshot, and in the feed after it, during a comparison.
create table aggregator.seen (
  source_id integer not null references aggregator.sources on delete cascade,
  organisatiecode text collate "C" not null,
  resource_type text not null,
  bronidentificatie text collate "C" not null,
  primary key (source_id, organisatiecode, resource_type, bronidentificatie)
);
grant select, insert, update, delete on aggregator.seen to koppelvlak_dienst;

-- Open issues; one that is not found again is deleted.
create table aggregator.issues (
  source_id integer not null references aggregator.sources on delete cascade,
  kind text not null,
  place text not null,
  detail text not null,
  -- Of a supplier: the window in which it was found.
  window_from date,
  window_to date,
  times bigint not null,
  blocking boolean not null,
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  -- Its natural key has columns that may be null, so it cannot be the primary key.
  id bigint generated always as identity primary key,
  unique nulls not distinct (source_id, kind, place, detail, window_from, window_to)
);
grant select, insert, update, delete on aggregator.issues to koppelvlak_dienst;

-- Of a supplier: a period that is read as a whole.
create table aggregator.windows (
  source_id integer not null references aggregator.sources on delete cascade,
  first_day date not null,
  last_day date not null,
  read_at timestamptz,
  complete boolean,
  next_quick_at timestamptz not null default now(),
  next_full_at timestamptz not null default now(),
  withheld integer not null default 0,
  -- When a reading of it that was complete began.
  complete_at timestamptz,
  -- A meeting or an agenda item in it is confidential: documents that may belong to it are withheld over all windows of a source.
  has_confidential boolean not null default false,
  primary key (source_id, first_day)
);
grant select, insert, update, delete on aggregator.windows to koppelvlak_dienst;

-- Meetings and register entries of a supplier, to which resources belong.
create table aggregator.items (
  source_id integer not null references aggregator.sources on delete cascade,
  key text collate "C" not null,
  day date not null,
  parent text,
  last_modified text,
  read_again_after text,
  primary key (source_id, key)
);
create index items_day on aggregator.items (source_id, day);
grant select, insert, update, delete on aggregator.items to koppelvlak_dienst;

create table aggregator.parts (
  source_id integer not null,
  item_key text collate "C" not null,
  position integer not null,
  resource_type text not null,
  bronidentificatie text collate "C" not null,
  part jsonb not null,
  foreign key (source_id, item_key) references aggregator.items (source_id, key) on delete cascade,
  primary key (source_id, item_key, position)
);
create index parts_resource on aggregator.parts (source_id, resource_type, bronidentificatie);
grant select, insert, update, delete on aggregator.parts to koppelvlak_dienst;

-- The last measurement, by month, of the resources that a supplier shows and the feed has.
create table aggregator.coverage (
  source_id integer not null references aggregator.sources on delete cascade,
  month text not null,
  shown integer not null,
  held integer not null,
  -- Registers are measured together in one reading, meetings by window.
  registers boolean not null default false,
  primary key (source_id, month, registers)
);
grant select, insert, update, delete on aggregator.coverage to koppelvlak_dienst;

-- Addresses of feeds; nothing of their content.
create table aggregator.register (
  service_url text collate "C" primary key,
  -- The domain or address that the operator gave.
  given text not null,
  feed_url text,
  snapshot_url text,
  stream_url text,
  rol text check (rol in ('bronhouder', 'aggregator')),
  organisaties jsonb not null default '[]',
  organisatiecodes text[] not null default '{}',
  last_seen_at timestamptz,
  reachable boolean not null default false,
  failure_message text,
  next_at timestamptz not null default now()
);
create index register_organisatiecodes on aggregator.register using gin (organisatiecodes);
grant select, insert, update, delete on aggregator.register to koppelvlak_dienst;

-- A call to a supplier takes one of its slots, whichever instance or command makes it. The slot of a process that died expires.
create table aggregator.supplier_slots (
  supplier text not null,
  slot smallint not null,
  holder text,
  held_until timestamptz,
  primary key (supplier, slot)
);
grant select, insert, update, delete on aggregator.supplier_slots to koppelvlak_dienst;

-- Until when a supplier asks not to be called.
create table aggregator.supplier_pauses (
  supplier text primary key,
  paused_until timestamptz not null
);
grant select, insert, update, delete on aggregator.supplier_pauses to koppelvlak_dienst;

-- Resources whose last record was refused: while there are any, the source is not up to date.
create table aggregator.refused (
  source_id integer not null references aggregator.sources on delete cascade,
  -- `organisatiecode/resourceType/bronidentificatie`; empty when the record does not say.
  resource_key text collate "C" not null,
  primary key (source_id, resource_key)
);
grant select, insert, update, delete on aggregator.refused to koppelvlak_dienst;

-- When a supplier that allows a number of calls a minute may next be called.
create table aggregator.supplier_pace (
  supplier text primary key,
  next_at timestamptz not null
);
grant select, insert, update, delete on aggregator.supplier_pace to koppelvlak_dienst;

-- Suppliers that blocked our address: they are not called until an operator resumes them.
create table aggregator.supplier_blocks (
  supplier text primary key,
  reason text not null
);
grant select, insert, update, delete on aggregator.supplier_blocks to koppelvlak_dienst;

-- Which address numbered the resources that the feed has of an organisation, for suppliers whose addresses each number from 1. It outlives its
-- source: another address would give the same numbers to other resources.
create table aggregator.numbered_addresses (
  organisatiecode text not null,
  -- Of the supplier; its identifiers begin with it.
  scheme text not null,
  address text not null,
  primary key (organisatiecode, scheme)
);
grant select, insert, update on aggregator.numbered_addresses to koppelvlak_dienst;
