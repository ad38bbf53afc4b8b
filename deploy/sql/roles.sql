-- For the administrator of the database server, once, before the first `koppelvlak migrate`:
--
--   psql --set=ON_ERROR_STOP=1 --set=owner_password=… --set=service_password=… --set=retention_password=… --file=deploy/sql/roles.sql

-- The roles that the program works as, whatever its login: nobody logs in with them. Migrations grant their privileges.
create role koppelvlak_dienst nologin;
create role koppelvlak_opschoner nologin;

-- Migrates, and owns all tables. Not for the service.
create role koppelvlak_eigenaar login password :'owner_password';
-- Serves, and runs every command except `migrate`. Can append to the processing log, but not change or remove its
-- records.
create role koppelvlak_service login password :'service_password' in role koppelvlak_dienst;
-- Also removes expired records and re-encrypts; for `log prune`, `log rotate-key` and `log verify`.
create role koppelvlak_retentie login password :'retention_password' in role koppelvlak_opschoner;

create database koppelvlak owner koppelvlak_eigenaar;
revoke all on database koppelvlak from public;
grant connect on database koppelvlak to koppelvlak_service, koppelvlak_retentie;
-- An import stages the rows that it has read in a temporary table.
grant temporary on database koppelvlak to koppelvlak_dienst;
