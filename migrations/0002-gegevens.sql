-- Area A: what is delivered, what requesters that page have seen, and what was delivered to whom.

create schema gegevens;

-- One file that was imported. Nothing of it is visible before all of it is.
create table gegevens.invoeren (
  id bigint generated always as identity primary key,
  variant text not null check (variant in ('shv', 'vs')),
  model_versie text not null,
  bestand text not null,
  bytes bigint not null default 0,
  ingevoerd_op timestamptz not null default clock_timestamp()
);

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
  unique (invoer_id, nummer),
  check ((vervallen_op is null) = (reden is null)),
  check (periode_start <= periode_einde)
);

-- What a request looks for is always current.
create index leveringen_geldig on gegevens.leveringen (variant, periode_einde, periode_start) where vervallen_op is null;
create index leveringen_sleutel on gegevens.leveringen (variant, organisatie_sleutel, periode_einde);

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

-- With which record a case goes: the first of its signals.
create table gegevens.zaken_bij (
  invoer_id bigint not null,
  levering integer not null,
  bij integer not null,
  zaak integer not null,
  primary key (invoer_id, levering, bij, zaak)
);

-- What a requester that pages sees: the leveringen as they stood when page 1 was asked for.
create table gegevens.standen (
  variant text not null,
  afnemer text not null,
  filter text not null,
  leveringen bigint[] not null,
  gemaakt_op timestamptz not null,
  verloopt_op timestamptz not null,
  primary key (variant, afnemer, filter)
);
create index standen_verloopt on gegevens.standen (verloopt_op);

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
  antwoord_handtekening text not null
);
create index journaal_tijd on gegevens.journaal (klaargezet_op);

grant usage on schema gegevens to koppelvlak_dienst;
grant select, insert, delete on gegevens.invoeren to koppelvlak_dienst;

grant select, insert, delete on gegevens.leveringen, gegevens.records, gegevens.zaken_bij to koppelvlak_dienst;
grant update (vervallen_op, reden) on gegevens.leveringen to koppelvlak_dienst;
grant select, insert, update, delete on gegevens.standen to koppelvlak_dienst;
-- The journal is added to, never changed: only that an answer has left is noted afterwards.
grant select, insert on gegevens.journaal to koppelvlak_dienst;
grant update (verzonden_op) on gegevens.journaal to koppelvlak_dienst;
