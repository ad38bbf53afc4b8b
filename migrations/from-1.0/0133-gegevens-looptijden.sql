-- 1.0.0 reads the running times of what was imported before it at its start; without them no record of such a levering would be delivered.
do $$
declare
  served text;
begin
  select string_agg(distinct variant, ',' order by variant) into served from gegevens.leveringen where not looptijden;
  if served is not null then
    raise exception 'leveringen that were imported before 1.0.0 have no running times yet'
      using hint = format('Stop every instance and start 1.0.0 once with %s in AREAS until it listens; then migrate.', served);
  end if;
end
$$;
