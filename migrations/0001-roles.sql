-- The roles that the program works as, whatever its login is: koppelvlak_dienst serves, koppelvlak_opschoner removes what is past
-- its retention. Later migrations grant them what they need, and no more. Roles belong to the whole server, so another database
-- may have made them already, or be making them at this very moment.

do $$
declare
  role_name text;
begin
  foreach role_name in array array['koppelvlak_dienst', 'koppelvlak_opschoner'] loop
    if not exists (select from pg_roles where rolname = role_name) then
      begin
        execute format('create role %I nologin', role_name);
      exception
        when duplicate_object or unique_violation then
          null; -- another database was first
        when insufficient_privilege then
          raise exception 'role % is missing and may not be made', role_name
            using errcode = 'insufficient_privilege',
              hint = format('deploy/sql/roles.sql makes them. As a DBA run: create role koppelvlak_dienst nologin; create role koppelvlak_opschoner nologin; '
                'grant koppelvlak_dienst, koppelvlak_opschoner to %I;', current_user);
      end;
    end if;
    -- The one who migrates is usually the one who serves; from Postgres 16 on membership alone does not allow `set role`.
    if not pg_has_role(current_user, role_name, case when current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end) then
      begin
        execute format('grant %I to current_user', role_name);
      exception
        when unique_violation then
          null; -- another database was first
        when insufficient_privilege then
          raise warning 'login % may not act as %', current_user, role_name
            using hint = format('If it also serves, run as a DBA: grant %I to %I;', role_name, current_user);
      end;
    end if;
  end loop;
end
$$;

-- The runner of the migrations has made this schema and its table.
grant usage on schema koppelvlak to koppelvlak_dienst, koppelvlak_opschoner;
grant select on koppelvlak.migrations to koppelvlak_dienst, koppelvlak_opschoner;
