-- The proof logs, and what this service witnesses of others'.

create schema proof;
grant usage on schema proof to koppelvlak_dienst;
grant usage on schema proof to koppelvlak_opschoner;

-- A log, and each origin that it has had.
create table proof.logs (
  log text not null check (log in ('verwerkingen', 'leveringen', 'raadsfeed')),
  -- 1, and one more for each new origin.
  origin_number integer not null check (origin_number > 0),
  origin text not null unique,
  -- Verifier key of the signatures, as `/key` answers it.
  verifier_key text not null,
  started_at timestamptz not null default clock_timestamp(),
  -- Of the feed: the number of the record in the first leaf that holds one.
  first_number bigint not null default 1,
  -- Of the feed: the last number when the log was switched on; the sequencer itself enters those up to it.
  adopted_to bigint not null default 0,
  size bigint not null default 0,
  root_hash bytea not null,
  -- The last signed note; with cosignatures of witnesses when there are any.
  checkpoint text,
  checkpoint_at timestamptz,
  primary key (log, origin_number)
);
grant select, insert, update (size, root_hash, checkpoint, checkpoint_at) on proof.logs to koppelvlak_dienst;
grant select on proof.logs to koppelvlak_opschoner;

-- Numbers of records; by them a record finds its leaf.
create sequence proof.record_numbers cache 1;
grant usage on sequence proof.record_numbers to koppelvlak_dienst, koppelvlak_opschoner;

-- Entries whose record is committed and that have no index yet.
create table proof.queue (
  log text not null,
  number bigint not null,
  entry bytea not null,
  queued_at timestamptz not null default clock_timestamp(),
  primary key (log, number)
);
grant select, insert, delete on proof.queue to koppelvlak_dienst;
grant select, insert on proof.queue to koppelvlak_opschoner;

-- Tiles of hashes by level; the last of a level grows.
create table proof.tiles (
  log text not null,
  origin_number integer not null,
  level smallint not null,
  tile bigint not null,
  hashes bytea not null,
  primary key (log, origin_number, level, tile)
);
alter table proof.tiles alter column hashes set storage external;
grant select, insert, update on proof.tiles to koppelvlak_dienst;
grant select on proof.tiles to koppelvlak_opschoner;

-- Bundles of 256 entries, and the numbers of their records: by them a record finds its leaf. A padding leaf has number 0.
create table proof.bundles (
  log text not null,
  origin_number integer not null,
  tile bigint not null,
  entries bytea not null,
  numbers bigint[] not null,
  number_range int8range not null,
  primary key (log, origin_number, tile)
);
alter table proof.bundles alter column entries set storage external;
alter table proof.bundles alter column numbers set storage external;
create index bundles_range on proof.bundles using gist (number_range);
grant select, insert, update on proof.bundles to koppelvlak_dienst;
grant select on proof.bundles to koppelvlak_opschoner;

-- That records were removed: kept for ever, without saying of whom they were.
create table proof.removals (
  number bigint primary key,
  log text not null,
  content text not null,
  -- The entry; in the feed, whose tree has no room for it, it is the seal of this row.
  entry bytea not null
);
create index removals_log on proof.removals (log, number);
grant select, insert on proof.removals to koppelvlak_dienst;
grant select, insert on proof.removals to koppelvlak_opschoner;

-- The row of a log is locked while a checkpoint of it is judged, so that no two forks are cosigned.
create table proof.witnessed (
  origin text primary key,
  size bigint not null check (size >= 0),
  -- With the log's signature and that of this witness; absent until the first was cosigned.
  checkpoint text,
  cosigned_at timestamptz not null default clock_timestamp()
);
grant select, insert, update on proof.witnessed to koppelvlak_dienst;

-- A check value of the key that the proof logs were begun with: a wrong one is refused at the start, and not only when it should sign.
create table proof.key_check (
  only_row boolean default true check (only_row) primary key,
  -- An HMAC under what seals entries, so PROOF_KEY and PROOF_SEALING_KEY both have it.
  check_value text not null
);
grant select, insert on proof.key_check to koppelvlak_dienst;
grant select, insert on proof.key_check to koppelvlak_opschoner;
