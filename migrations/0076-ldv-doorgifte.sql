-- Giving actions on to another logbook of LDV. An action is put in the queue by the statement that adds its first version, so that the
-- queue has it exactly when the log has it; it leaves the queue when the other logbook has answered. Nothing reads the queue by position:
-- a transaction that commits late is found the next time.

create table verwerkingenlog.ldv_doorgifte (
  volgnummer bigint generated always as identity primary key,
  actie_id uuid not null,
  -- Of the request that logged it.
  traceparent text,
  tracestate text,
  op timestamptz not null default now()
);
comment on table verwerkingenlog.ldv_doorgifte is 'Actions that wait to be given on to another logbook, in order.';

create table verwerkingenlog.ldv_doorgifte_stand (
  enig boolean primary key default true check (enig),
  huurder text,
  huur_nummer bigint not null default 0,
  huur_tot timestamptz,
  mislukt integer not null default 0,
  niet_voor timestamptz,
  fout text,
  fout_sinds timestamptz,
  verzonden bigint not null default 0
);
comment on table verwerkingenlog.ldv_doorgifte_stand is
  'Which process gives actions on (a lease), how many it has, and since when that fails.';
insert into verwerkingenlog.ldv_doorgifte_stand default values;

create table verwerkingenlog.ldv_doorgifte_meldingen (
  id bigint generated always as identity primary key,
  op timestamptz not null default now(),
  soort text not null check (soort in ('geweigerd', 'wijziging', 'verwijdering', 'ingehouden', 'verdwenen', 'onleesbaar')),
  -- Null: the other logbook did not say which of `acties`.
  actie_id uuid,
  versie integer,
  span_id text,
  acties uuid[],
  aantal integer not null default 1,
  reden text
);
comment on table verwerkingenlog.ldv_doorgifte_meldingen is
  'What the other logbook does not have as it is here: refused lines, later versions and deletions, and actions that were not sent.';

grant select, insert, delete on verwerkingenlog.ldv_doorgifte to koppelvlak_dienst;
grant select, update on verwerkingenlog.ldv_doorgifte_stand to koppelvlak_dienst;
grant select, insert on verwerkingenlog.ldv_doorgifte_meldingen to koppelvlak_dienst;
