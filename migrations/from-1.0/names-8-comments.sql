-- What a table or column is for is documented only in the files that create it.
do $$
declare
  item record;
begin
  for item in
    select case when d.objsubid = 0 then format('table %s', c.oid::regclass)
                else format('column %s.%I', c.oid::regclass, a.attname) end as target
      from pg_description d
      join pg_class c on c.oid = d.objoid and d.classoid = 'pg_class'::regclass
      left join pg_attribute a on a.attrelid = c.oid and a.attnum = d.objsubid and d.objsubid > 0
     where c.relkind in ('r', 'p') and c.relnamespace::regnamespace::text in
       ('gegevens', 'verwerkingenlog', 'raadsfeed', 'aggregator', 'proof', 'pages', 'diwoo')
  loop
    execute format('comment on %s is null', item.target);
  end loop;
end
$$;
