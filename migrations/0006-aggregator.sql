-- What an aggregator bounds over all its instances: the issues that are kept, and the calls to a supplier.

-- How many issues of a source were dropped to keep room for newer ones.
alter table aggregator.bron add column meldingen_weggelaten bigint not null default 0;

-- A call to a supplier takes one of its turns, whichever instance or command makes it. Who dies leaves his turn to run out.
create table aggregator.leverancier_beurt (
  leverancier text not null,
  beurt smallint not null,
  houder text,
  tot timestamptz,
  primary key (leverancier, beurt)
);

-- At most four calls at a time.
insert into aggregator.leverancier_beurt (leverancier, beurt) select 'notubiz', n from generate_series(1, 4) n;

-- Until when a supplier asks to be left alone.
create table aggregator.leverancier_rust (
  leverancier text primary key,
  tot timestamptz not null
);

grant select, insert, update, delete on aggregator.leverancier_beurt, aggregator.leverancier_rust to koppelvlak_dienst;
