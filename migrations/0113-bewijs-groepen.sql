-- Entries of records that were added by one statement: one row for all of them. A row with its index entry for each, and taking it off again,
-- was most of what the proof log cost the database. proof.queue keeps the entries that come singly.
create table proof.groepen (
  log text not null,
  -- The lowest and the highest of the numbers.
  eerste_nr bigint not null,
  laatste_nr bigint not null,
  nrs bigint[] not null,
  -- 33 bytes each, in the order of the numbers.
  vermeldingen bytea not null check (length(vermeldingen) = 33 * cardinality(nrs)),
  op timestamptz not null default clock_timestamp(),
  primary key (log, eerste_nr)
);
-- A group is a few thousand bytes of what looks random: nothing is gained by compressing it, or by keeping it elsewhere for the minute that it is there.
alter table proof.groepen alter column nrs set storage external, alter column vermeldingen set storage external;

grant select, insert, delete on proof.groepen to koppelvlak_dienst;
