-- Lines of LDV that came in, and actions that wait to be forwarded to another logbook.

-- Lines that are stored: a line that is sent again is stored once. A table of its own, for the log is partitioned by time and a key must be
-- unique over all of it. A key lives as long as its line.
create table verwerkingenlog.ldv_keys (
  -- Of client, trace and span.
  key_hash uuid primary key,
  -- Of the line.
  content_hash uuid not null,
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
  position bigint generated always as identity primary key,
  actie_id uuid not null,
  -- Of the request that logged it.
  traceparent text,
  tracestate text,
  queued_at timestamptz not null default now()
);
grant select, insert, delete on verwerkingenlog.ldv_forward_queue to koppelvlak_dienst;

-- One row: the process that has locked it forwards. How many lines were sent, and since when sending fails.
create table verwerkingenlog.ldv_forward_state (
  only_row boolean default true check (only_row) primary key,
  failures integer not null default 0,
  not_before timestamptz,
  error text,
  error_since timestamptz,
  sent bigint not null default 0
);
insert into verwerkingenlog.ldv_forward_state default values;
grant select, update on verwerkingenlog.ldv_forward_state to koppelvlak_dienst;

-- Differences from the other logbook: refused lines, later versions and deletions, and actions that were not sent.
create table verwerkingenlog.ldv_forward_issues (
  id bigint generated always as identity primary key,
  noted_at timestamptz not null default now(),
  kind text not null check (kind in ('geweigerd', 'wijziging', 'verwijdering', 'ingehouden', 'verdwenen', 'onleesbaar', 'onverzendbaar')),
  -- Null: the other logbook did not say which of `actie_ids`.
  actie_id uuid,
  versie integer,
  span_id text,
  actie_ids uuid[],
  line_count integer not null default 1,
  reason text
);
grant select, insert on verwerkingenlog.ldv_forward_issues to koppelvlak_dienst;
