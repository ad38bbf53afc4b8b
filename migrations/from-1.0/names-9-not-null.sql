-- From Postgres 18 on a column that may not be null is a constraint with a name, made from the names that table and column had. Of a
-- partitioned table it keeps its name: its partitions have others, and could not be renamed with it.
do $$
declare
  item record;
begin
  for item in
    select k.conrelid::regclass as target, k.conname as name, c.relname || '_' || a.attname || '_not_null' as wanted
      from pg_constraint k
      join pg_class c on c.oid = k.conrelid
      join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
     where k.contype = 'n' and c.relkind = 'r' and not c.relispartition and length(c.relname || '_' || a.attname || '_not_null') < 64
       and k.conname <> c.relname || '_' || a.attname || '_not_null'
       and c.relnamespace::regnamespace::text in
         ('gegevens', 'verwerkingenlog', 'raadsfeed', 'aggregator', 'proof', 'pages', 'diwoo')
  loop
    execute format('alter table %s rename constraint %I to %I', item.target, item.name, item.wanted);
  end loop;
end
$$;
