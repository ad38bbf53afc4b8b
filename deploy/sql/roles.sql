-- For the administrator of the database server, once, before the first `koppelvlak migrate`:
--
--   psql --set=ON_ERROR_STOP=1 --set=owner_password=… --set=service_password=… --set=retention_password=… --file=deploy/sql/roles.sql

-- What the program works as, whatever its login: nobody logs in with these. The migrations grant them what they need.
create role koppelvlak_dienst nologin;
create role koppelvlak_opschoner nologin;

-- Migrates, and owns all tables. Not for the service.
create role koppelvlak_eigenaar login password :'owner_password';
-- Serves, and runs every command but `migrate`. Can add to the processing log, and change or remove nothing of it.
create role koppelvlak_service login password :'service_password' in role koppelvlak_dienst;
-- Removes what is past its retention and encrypts anew, besides; for `log prune`, `log rotate-key` and `log verify`.
create role koppelvlak_retentie login password :'retention_password' in role koppelvlak_opschoner;

create database koppelvlak owner koppelvlak_eigenaar;
revoke all on database koppelvlak from public;
grant connect on database koppelvlak to koppelvlak_service, koppelvlak_retentie;
-- An import keeps what it has read so far in a temporary table.
grant temporary on database koppelvlak to koppelvlak_dienst;
