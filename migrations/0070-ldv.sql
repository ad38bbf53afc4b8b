-- Logboek Dataverwerkingen: what of a log line has no place in an action is kept with the versions of that action, encrypted as the
-- identifiers are, and is removed with them.

alter table verwerkingenlog.versies add column ldv text;

comment on column verwerkingenlog.versies.ldv is
  'The log line of LDV that the action came from (JSON, encrypted with the key of the row); null: it was logged in another way.';

grant update (ldv) on verwerkingenlog.versies to koppelvlak_opschoner;

-- A line that comes again is the same line. A table of its own, because the log is partitioned by time and this must be unique over all
-- of it; a key lives as long as its line.
create table verwerkingenlog.ldv_sleutels (
  sleutel uuid primary key,
  inhoud uuid not null,
  actie_id uuid not null
);

comment on table verwerkingenlog.ldv_sleutels is
  'Lines of LDV by client, trace and span: a keyed hash of those three, a keyed hash of the line, and the action that came of it.';

create index ldv_sleutels_actie on verwerkingenlog.ldv_sleutels (actie_id);

grant select, insert on verwerkingenlog.ldv_sleutels to koppelvlak_dienst;
grant select, insert, delete on verwerkingenlog.ldv_sleutels to koppelvlak_opschoner;
