-- Imports that were stored with `--force` although their check had findings that block a delivery. Kept when the import is pruned.
create table gegevens.forced_imports (
  import_id bigint primary key,
  variant text not null,
  bestand text not null,
  imported_at timestamptz not null default clock_timestamp(),
  periode_start date not null,
  periode_einde date not null,
  leveringen bigint[] not null,
  -- [{"rule": 16, "count": 61, "places": [JSON Pointers, at most 100]}]. No personal data.
  findings jsonb not null
);
grant select, insert on gegevens.forced_imports to koppelvlak_dienst;
