-- Area A: deliveries, the state that a requester pages through, and the journal of what was delivered to whom.

create schema gegevens;
grant usage on schema gegevens to koppelvlak_dienst;

-- One file that was imported. Nothing of it is visible before all of it is.
create table gegevens.imports (
  id bigint generated always as identity primary key,
  variant text not null check (variant in ('shv', 'vs')),
  model_version text not null,
  file_name text not null,
  bytes bigint not null default 0,
  imported_at timestamptz not null default clock_timestamp()
);
grant select, insert, delete on gegevens.imports to koppelvlak_dienst;

-- One levering: the records of an organisation over a period. Several parts of one file may be of the same organisation and period.
create table gegevens.leveringen (
  id bigint generated always as identity primary key,
  variant text not null check (variant in ('shv', 'vs')),
  import_id bigint not null references gegevens.imports,
  -- Place in the file, from 0; with import_id the key of its records.
  number integer not null,
  organisation_key text not null,
  name text,
  name_key text,
  kvk_nummer text,
  gemeentecode text,
  municipality_key text,
  period_start date not null,
  period_end date not null,
  -- As the file says: `aanleverdatumEnTijd`.
  submitted_at timestamptz not null,
  -- The levering without its records, as JSON text.
  envelope text not null,
  records integer not null,
  zaken integer not null,
  bytes bigint not null,
  fingerprint text not null,
  -- Null: it is current.
  withdrawn_at timestamptz,
  reason text check (reason in ('vervangen', 'verwijderd')),
  model_version text,
  -- Whether its rows in `record_periods` are there.
  has_periods boolean not null default false,
  check ((withdrawn_at is null) = (reason is null)),
  check (period_start <= period_end),
  unique (import_id, number)
);
create index leveringen_current on gegevens.leveringen (variant, period_end, period_start) where (withdrawn_at is null);
create index leveringen_organisation_key on gegevens.leveringen (variant, organisation_key, period_end);
grant select, insert, delete, update (municipality_key, withdrawn_at, reason, model_version, has_periods) on gegevens.leveringen to koppelvlak_dienst;

-- The records as the JSON text that is sent. No foreign key: a check per row would double the time of an import, and rows are only
-- removed together with their levering.
create table gegevens.records (
  import_id bigint not null,
  levering integer not null,
  -- 0: a record; 1: a case (vroegsignaalzaak) that goes with one.
  kind smallint not null,
  number integer not null,
  text text not null,
  primary key (import_id, levering, kind, number)
);
grant select, insert, delete on gegevens.records to koppelvlak_dienst;

-- With which record a case goes: the first of its signals.
create table gegevens.case_records (
  import_id bigint not null,
  levering integer not null,
  record integer not null,
  zaak integer not null,
  primary key (import_id, levering, record, zaak)
);
grant select, insert, delete on gegevens.case_records to koppelvlak_dienst;

-- What a requester that pages sees: the leveringen as they stood when page 1 was asked for.
create table gegevens.pinned_states (
  variant text not null,
  afnemer text not null,
  filter text not null,
  leveringen bigint[] not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- The period that was resolved when page 1 was asked for.
  period_start date not null,
  period_end date not null,
  primary key (variant, afnemer, filter)
);
create index pinned_states_expires_at on gegevens.pinned_states (expires_at);
grant select, insert, update, delete on gegevens.pinned_states to koppelvlak_dienst;

-- What was asked and delivered, for later proof. No personal data: a request names periods and organisations only.
create table gegevens.journal (
  id bigint generated always as identity primary key,
  variant text not null,
  prepared_at timestamptz not null default clock_timestamp(),
  -- When the last byte was handed to the connection; null: the answer never left, or not whole.
  sent_at timestamptz,
  request_id uuid not null,
  oin text,
  subject text not null,
  token_hash text not null,
  fsc_transaction_id text,
  -- The request body as received: what its digest and signature are over.
  request text not null,
  request_digest text not null,
  request_signature text not null,
  page integer,
  page_size integer not null,
  leveringen bigint[] not null,
  records integer not null,
  bytes bigint not null,
  answer_digest text not null,
  answer_signature text not null,
  -- Days asked for that no delivery covers, by organisation and municipality.
  uncovered jsonb not null default '[]',
  -- The trace (W3C Trace Context) in which it was delivered. A caller chooses its trace id, so it is never the `verwerking_id` of an entry
  -- in the processing log.
  trace_id text,
  span_id text,
  parent_span_id text,
  seed text,
  proof_number bigint,
  -- Who was delegated to what in a delivery, as the FSC token said: {"gemachtigde": the peer that called for the requester (`act.sub`),
  -- "publicatieNamens": the peer for whom this one offers the service (`pdi`)}. Null: nobody was.
  delegation jsonb,
  -- SHA-256 of the signature value, in the first entry of a signed request: it is answered again only to the same caller and variant.
  first_signature_hash bytea
);
create index journal_prepared_at on gegevens.journal (prepared_at);
create unique index journal_first_signature on gegevens.journal (first_signature_hash);
grant select, insert, update (sent_at) on gegevens.journal to koppelvlak_dienst;
grant usage on sequence gegevens.journal_id_seq to koppelvlak_dienst;

-- One narrow row per record beside its text, so that choosing records does not read their texts. Filled by the import.
create table gegevens.record_periods (
  import_id bigint not null,
  levering integer not null,
  number integer not null,
  -- Without a start the record overlaps every period; without an end it is running.
  start_date date,
  end_date date,
  -- The persons of the record, or its ID: an HMAC under the key below. Null: not known, so never the same as another.
  identity_hash bytea,
  primary key (import_id, levering, number)
);
grant select, insert, delete on gegevens.record_periods to koppelvlak_dienst;

-- Which records of its own levering a case names.
create table gegevens.case_signals (
  import_id bigint not null,
  levering integer not null,
  zaak integer not null,
  signaal integer not null,
  primary key (import_id, levering, zaak, signaal)
);
grant select, insert, delete on gegevens.case_signals to koppelvlak_dienst;

-- The key of `record_periods.identity_hash`: of this database only, made here, shown nowhere. The record itself is in the same database, so
-- the key guards what could leave it alone: a list of recognition values without the records.
create table gegevens.recognition_key (
  only_row boolean default true check (only_row) primary key,
  key bytea not null
);
insert into gegevens.recognition_key (key)
values (sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));
grant select on gegevens.recognition_key to koppelvlak_dienst;

-- Imports that were stored with `--force` although their check had findings that block a delivery. Kept when the import is pruned, without
-- the name of its file, which may name a person.
create table gegevens.forced_imports (
  import_id bigint primary key,
  variant text not null,
  file_name text,
  imported_at timestamptz not null default clock_timestamp(),
  period_start date not null,
  period_end date not null,
  leveringen bigint[] not null,
  -- [{"rule": 16, "count": 61, "places": [JSON Pointers, at most 100]}]. No personal data.
  findings jsonb not null
);
grant select, insert, update (file_name) on gegevens.forced_imports to koppelvlak_dienst;

-- An import links cases to their signals in a temporary table; deploy/sql/roles.sql takes that right from the public.
do $$
begin
  if not has_database_privilege('koppelvlak_dienst', current_database(), 'temporary') then
    execute format('grant temporary on database %I to koppelvlak_dienst', current_database());
  end if;
end
$$;
