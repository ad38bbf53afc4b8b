-- What this service vouched for as a witness of logs of others: the last checkpoint of each that it cosigned. @see docs/proof.md

create schema if not exists proof;
grant usage on schema proof to koppelvlak_dienst;

create table proof.getuigd (
  origin text primary key,
  grootte bigint not null check (grootte >= 0),
  -- With the log's signature and that of this witness; absent until the first was cosigned.
  checkpoint text,
  op timestamptz not null default clock_timestamp()
);
comment on table proof.getuigd is 'The row of a log is locked while a checkpoint of it is judged, so that no two forks are cosigned.';

grant select, insert, update on proof.getuigd to koppelvlak_dienst;
