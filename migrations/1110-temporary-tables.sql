-- An import of the data exchange links cases to their signals in a temporary table. deploy/sql/roles.sql of earlier versions took that
-- right from the service with all others of the public.
do $$
begin
  if not has_database_privilege('koppelvlak_dienst', current_database(), 'temporary') then
    execute format('grant temporary on database %I to koppelvlak_dienst', current_database());
  end if;
end
$$;
