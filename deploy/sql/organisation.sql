-- For the administrator of the database server, once for each organisation (docs/scaling.md), before its first `koppelvlak migrate`:
--
--   psql --set=ON_ERROR_STOP=1 --set=name=gm0001 --set=owner_password=… --set=service_password=… --set=retention_password=… \
--        --file=deploy/sql/organisation.sql
--
-- The two group roles exist once per server; the first organisation creates them:
--
--   create role koppelvlak_dienst nologin; create role koppelvlak_opschoner nologin;

select :'name' || '_eigenaar' as owner, :'name' || '_dienst' as service, :'name' || '_opschoner' as retention \gset

create role :"owner" login password :'owner_password';
create role :"service" login password :'service_password' in role koppelvlak_dienst;
create role :"retention" login password :'retention_password' in role koppelvlak_opschoner;

create database :"name" owner :"owner";
revoke all on database :"name" from public;
grant connect on database :"name" to :"service", :"retention";
-- An import stages the rows that it has read in a temporary table.
grant temporary on database :"name" to :"service";
