-- Area A: what is delivered, what requesters that page have seen, and what was delivered to whom.

create schema gegevens;
grant usage on schema gegevens to koppelvlak_dienst;

-- One file that was imported. Nothing of it is visible before all of it is.
create table gegevens.invoeren (
  id bigint generated always as identity primary key,
  variant text not null check (variant in ('shv', 'vs')),
  model_versie text not null,
  bestand text not null,
  bytes bigint not null default 0,
  ingevoerd_op timestamptz not null default clock_timestamp()
);
grant select, insert, delete on gegevens.invoeren to koppelvlak_dienst;

-- One levering: the records of an organisation over a period. Several parts of one file may be of the same organisation and period.
create table gegevens.leveringen (
  id bigint generated always as identity primary key,
  variant text not null check (variant in ('shv', 'vs')),
  invoer_id bigint not null references gegevens.invoeren,
  -- Place in the file, from 0; with invoer_id the key of its records.
  nummer integer not null,
  organisatie_sleutel text not null,
  naam text,
  naam_sleutel text,
  kvk_nummer text,
  gemeentecode text,
  gemeente_sleutel text,
  periode_start date not null,
  periode_einde date not null,
  aangeleverd_op timestamptz not null,
  -- The levering without its records, as JSON text.
  kop text not null,
  records integer not null,
  zaken integer not null,
  bytes bigint not null,
  vingerafdruk text not null,
  vervallen_op timestamptz,
  reden text check (reden in ('vervangen', 'verwijderd')),
  model_versie text,
  -- Whether its rows in `looptijden` are there.
  looptijden boolean not null default false,
  check ((vervallen_op is null) = (reden is null)),
  check (periode_start <= periode_einde),
  unique (invoer_id, nummer)
);
create index leveringen_geldig on gegevens.leveringen (variant, periode_einde, periode_start) where (vervallen_op is null);
create index leveringen_sleutel on gegevens.leveringen (variant, organisatie_sleutel, periode_einde);
grant select, insert, delete, update (gemeente_sleutel, vervallen_op, reden, model_versie, looptijden) on gegevens.leveringen to koppelvlak_dienst;

-- The records as the JSON text that is sent. No foreign key: a check per row would double the time of an import, and rows are only
-- removed together with their levering.
create table gegevens.records (
  invoer_id bigint not null,
  levering integer not null,
  -- 0: a record; 1: a case (vroegsignaalzaak) that goes with one.
  soort smallint not null,
  nummer integer not null,
  tekst text not null,
  primary key (invoer_id, levering, soort, nummer)
);
grant select, insert, delete on gegevens.records to koppelvlak_dienst;

-- With which record a case goes: the first of its signals.
create table gegevens.zaken_bij (
  invoer_id bigint not null,
  levering integer not null,
  bij integer not null,
  zaak integer not null,
  primary key (invoer_id, levering, bij, zaak)
);
grant select, insert, delete on gegevens.zaken_bij to koppelvlak_dienst;

-- What a requester that pages sees: the leveringen as they stood when page 1 was asked for.
create table gegevens.standen (
  variant text not null,
  afnemer text not null,
  filter text not null,
  leveringen bigint[] not null,
  gemaakt_op timestamptz not null,
  verloopt_op timestamptz not null,
  -- The period that was resolved when page 1 was asked for. A state without it is of an earlier version of the program, and over: its
  -- pages would be chosen otherwise.
  periode_start date,
  -- The period that was resolved when page 1 was asked for. A state without it is of an earlier version of the program, and over: its
  -- pages would be chosen otherwise.
  periode_einde date,
  primary key (variant, afnemer, filter)
);
create index standen_verloopt on gegevens.standen (verloopt_op);
grant select, insert, update, delete on gegevens.standen to koppelvlak_dienst;

-- What was asked and delivered, for later proof. No personal data: a request names periods and organisations only.
create table gegevens.journaal (
  id bigint generated always as identity primary key,
  variant text not null,
  klaargezet_op timestamptz not null default clock_timestamp(),
  -- When the last byte was handed to the connection; null: the answer never left, or not whole.
  verzonden_op timestamptz,
  request_id uuid not null,
  oin text,
  subject text not null,
  token_hash text not null,
  fsc_transactie_id text,
  -- The request body as received: what its digest and signature are over.
  vraag text not null,
  vraag_digest text not null,
  vraag_handtekening text not null,
  pagina integer,
  pagina_grootte integer not null,
  leveringen bigint[] not null,
  records integer not null,
  bytes bigint not null,
  antwoord_digest text not null,
  antwoord_handtekening text not null,
  -- Days asked for that no delivery covers, by organisation and municipality.
  ongedekt jsonb not null default '[]',
  -- In which trace (W3C Trace Context) something was delivered or read: beside the journal of deliveries, and beside the service's own
  -- entries in the processing log. A caller chooses its trace id, so it is never the `verwerking_id` of such an entry.
  trace_id text,
  -- In which trace (W3C Trace Context) something was delivered or read: beside the journal of deliveries, and beside the service's own
  -- entries in the processing log. A caller chooses its trace id, so it is never the `verwerking_id` of such an entry.
  span_id text,
  -- In which trace (W3C Trace Context) something was delivered or read: beside the journal of deliveries, and beside the service's own
  -- entries in the processing log. A caller chooses its trace id, so it is never the `verwerking_id` of such an entry.
  ouder_span_id text,
  zaad text,
  bewijs_nr bigint,
  -- Who was delegated to what in a delivery, as the FSC token said: {"gemachtigde": the peer that called for the requester (`act.sub`),
  -- "publicatieNamens": the peer for whom this one offers the service (`pdi`)}. Null: nobody was.
  machtiging jsonb,
  -- SHA-256 of the signature value, in the first entry of a signed request: it is answered again only to the same caller and variant.
  first_signature_hash bytea
);
create index journaal_tijd on gegevens.journaal (klaargezet_op);
create unique index journaal_first_signature on gegevens.journaal (first_signature_hash);
grant select, insert, update (verzonden_op) on gegevens.journaal to koppelvlak_dienst;
grant usage on sequence gegevens.journaal_id_seq to koppelvlak_dienst;

-- One narrow row per record beside its text, so that choosing records does not read their texts. Filled by the import.
create table gegevens.looptijden (
  invoer_id bigint not null,
  levering integer not null,
  nummer integer not null,
  -- Without a begin the record overlaps every period; without an end it is running.
  begin date,
  einde date,
  -- The persons of the record, or its ID: an HMAC under the key below. Null: not known, so never the same as another.
  sleutel bytea,
  primary key (invoer_id, levering, nummer)
);
grant select, insert, delete on gegevens.looptijden to koppelvlak_dienst;

-- Which records of its own levering a case names.
create table gegevens.zaak_signalen (
  invoer_id bigint not null,
  levering integer not null,
  zaak integer not null,
  signaal integer not null,
  primary key (invoer_id, levering, zaak, signaal)
);
grant select, insert, delete on gegevens.zaak_signalen to koppelvlak_dienst;

-- The key of `looptijden.sleutel`: of this database only, made here, shown nowhere. The record itself stands in the same database, so
-- the key guards what could leave it alone: a list of recognition values without the records.
create table gegevens.herkenning (
  enige boolean default true check (enige) primary key,
  sleutel bytea not null
);
insert into gegevens.herkenning (sleutel)
values (sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));
grant select on gegevens.herkenning to koppelvlak_dienst;
