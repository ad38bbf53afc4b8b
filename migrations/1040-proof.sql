-- The proof logs, and what this service witnesses of others'.

create schema proof;
grant usage on schema proof to koppelvlak_dienst;
grant usage on schema proof to koppelvlak_opschoner;

-- A log, and each origin that it has had.
create table proof.logs (
  log text not null check (log in ('verwerkingen', 'leveringen', 'raadsfeed')),
  -- 1, and one more for each new origin.
  nummer integer not null check (nummer > 0),
  origin text not null unique,
  -- Verifier key of the signatures, as `/key` answers it.
  sleutel text not null,
  begonnen_op timestamptz not null default clock_timestamp(),
  -- Of the feed: the number of the record in the first leaf that holds one.
  eerste_nummer bigint not null default 1,
  -- Of the feed: the last number when the log was switched on; the sequencer itself enters those up to it.
  overgenomen_tot bigint not null default 0,
  grootte bigint not null default 0,
  wortel bytea not null,
  -- The last signed note; with cosignatures of witnesses when there are any.
  checkpoint text,
  checkpoint_op timestamptz,
  primary key (log, nummer)
);
grant select, insert, update (grootte, wortel, checkpoint, checkpoint_op) on proof.logs to koppelvlak_dienst;
grant select on proof.logs to koppelvlak_opschoner;

-- Numbers of records; by them a record finds its leaf.
create sequence proof.nummers cache 1;
grant usage on sequence proof.nummers to koppelvlak_dienst, koppelvlak_opschoner;

-- Entries whose record is committed and that have no index yet.
create table proof.queue (
  log text not null,
  nr bigint not null,
  vermelding bytea not null,
  op timestamptz not null default clock_timestamp(),
  primary key (log, nr)
);
grant select, insert, delete on proof.queue to koppelvlak_dienst;
grant select, insert on proof.queue to koppelvlak_opschoner;

-- Tiles of hashes by level; the last of a level grows.
create table proof.tegels (
  log text not null,
  nummer integer not null,
  niveau smallint not null,
  tegel bigint not null,
  hashes bytea not null,
  primary key (log, nummer, niveau, tegel)
);
alter table proof.tegels alter column hashes set storage external;
grant select, insert, update on proof.tegels to koppelvlak_dienst;
grant select on proof.tegels to koppelvlak_opschoner;

-- Bundles of 256 entries, and the numbers of their records: by them a record finds its leaf. A padding leaf has number 0.
create table proof.bladen (
  log text not null,
  nummer integer not null,
  tegel bigint not null,
  vermeldingen bytea not null,
  nrs bigint[] not null,
  bereik int8range not null,
  primary key (log, nummer, tegel)
);
alter table proof.bladen alter column vermeldingen set storage external;
alter table proof.bladen alter column nrs set storage external;
create index bladen_bereik on proof.bladen using gist (bereik);
grant select, insert, update on proof.bladen to koppelvlak_dienst;
grant select on proof.bladen to koppelvlak_opschoner;

-- That records were removed: kept for ever, without saying of whom they were.
create table proof.verwijderingen (
  nr bigint primary key,
  log text not null,
  inhoud text not null,
  -- The entry; in the feed, whose tree has no room for it, it is the seal of this row.
  vermelding bytea not null
);
create index verwijderingen_log on proof.verwijderingen (log, nr);
grant select, insert on proof.verwijderingen to koppelvlak_dienst;
grant select, insert on proof.verwijderingen to koppelvlak_opschoner;

-- The row of a log is locked while a checkpoint of it is judged, so that no two forks are cosigned.
create table proof.getuigd (
  origin text primary key,
  grootte bigint not null check (grootte >= 0),
  -- With the log's signature and that of this witness; absent until the first was cosigned.
  checkpoint text,
  op timestamptz not null default clock_timestamp()
);
grant select, insert, update on proof.getuigd to koppelvlak_dienst;

-- A check value of the key that the proof logs were begun with: a wrong one is refused at the start, and not only when it should sign.
create table proof.sleutel (
  een boolean default true check (een) primary key,
  -- An HMAC under what seals entries, so PROOF_KEY and PROOF_SEALING_KEY both have it.
  controle text not null
);
grant select, insert on proof.sleutel to koppelvlak_dienst;
grant select, insert on proof.sleutel to koppelvlak_opschoner;
