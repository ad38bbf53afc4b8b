-- The first page of a source is as large as its others: larger ones are cheaper to publish.
alter table aggregator.bron alter column paginagrootte set default 1000;
