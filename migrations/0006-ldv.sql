-- Lines of LDV that came in, and actions that wait to be forwarded to another logbook.

-- A line that comes again is the same line. A table of its own, because the log is partitioned by time and this must be unique over all
-- of it; a key lives as long as its line.
-- Lines of LDV by client, trace and span: a keyed hash of those three, a keyed hash of the line, and the action that came of it.
create table verwerkingenlog.ldv_keys (
  sleutel uuid primary key,
  inhoud uuid not null,
  actie_id uuid not null,
  -- Null: hashed with the key of the first version of its action.
  hashed_with text
);
create index ldv_keys_hashed_with on verwerkingenlog.ldv_keys (actie_id) where (hashed_with is not null);
create index ldv_keys_actie on verwerkingenlog.ldv_keys (actie_id);
grant select, insert on verwerkingenlog.ldv_keys to koppelvlak_dienst;
grant select, insert, delete on verwerkingenlog.ldv_keys to koppelvlak_opschoner;

-- Actions waiting to be forwarded to another logbook, in order.
create table verwerkingenlog.ldv_forward_queue (
  volgnummer bigint generated always as identity primary key,
  actie_id uuid not null,
  -- Of the request that logged it.
  traceparent text,
  tracestate text,
  op timestamptz not null default now()
);
grant select, insert, delete on verwerkingenlog.ldv_forward_queue to koppelvlak_dienst;

-- Which process gives actions on (a lease), how many it has, and since when that fails.
create table verwerkingenlog.ldv_forward_state (
  only_row boolean default true check (only_row) primary key,
  mislukt integer not null default 0,
  not_before timestamptz,
  fout text,
  error_since timestamptz,
  verzonden bigint not null default 0
);
insert into verwerkingenlog.ldv_forward_state default values;
grant select, update on verwerkingenlog.ldv_forward_state to koppelvlak_dienst;

-- What the other logbook does not have as it is here: refused lines, later versions and deletions, and actions that were not
-- sent.
create table verwerkingenlog.ldv_forward_issues (
  id bigint generated always as identity primary key,
  op timestamptz not null default now(),
  soort text not null check (soort in ('geweigerd', 'wijziging', 'verwijdering', 'ingehouden', 'verdwenen', 'onleesbaar', 'onverzendbaar')),
  -- Null: the other logbook did not say which of `acties`.
  actie_id uuid,
  versie integer,
  span_id text,
  acties uuid[],
  aantal integer not null default 1,
  reden text
);
grant select, insert on verwerkingenlog.ldv_forward_issues to koppelvlak_dienst;
