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

insert into aggregator.numbered_addresses (organisatiecode, scheme, adres)
select distinct on (1, 2) organisatiecodes[1], split_part(adres, ':', 1), adres
  from aggregator.bron
 where split_part(adres, ':', 1) in ('go', 'parlaeus')
 order by 1, 2, id desc;
