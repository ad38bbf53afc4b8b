-- Logical replication (a publication for all tables is how a server is upgraded without downtime) must be able to name the row that an
-- UPDATE or DELETE is about; without a primary key or a replica identity Postgres refuses both as soon as a publication exists.

-- A primary key here would be a second index with the columns of the first. Partitions do not inherit the setting.
alter table verwerkingenlog.vindplaatsen replica identity using index vindplaatsen_persoon;

do $$
declare
  deel record;
begin
  for deel in
    select tabel.oid::regclass as tabel, indexnaam.relname as indexnaam
    from pg_inherits as erfenis
    join pg_class as tabel on tabel.oid = erfenis.inhrelid
    join pg_index as index on index.indrelid = tabel.oid
    join pg_inherits as indexerfenis
      on indexerfenis.inhrelid = index.indexrelid
      and indexerfenis.inhparent = 'verwerkingenlog.vindplaatsen_persoon'::regclass
    join pg_class as indexnaam on indexnaam.oid = index.indexrelid
    where erfenis.inhparent = 'verwerkingenlog.vindplaatsen'::regclass
  loop
    execute format('alter table %s replica identity using index %I', deel.tabel, deel.indexnaam);
  end loop;
end
$$;

-- Its natural key has columns that may be null, so it cannot be the primary key.
alter table aggregator.melding add column id bigint generated always as identity primary key;
