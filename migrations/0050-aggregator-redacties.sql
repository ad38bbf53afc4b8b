-- What an aggregator must remember so that no redaction of a source is lost, and to see that a source leads somewhere.

alter table aggregator.bron
  drop constraint bron_fase_check,
  -- `historie`: after a new snapshot, the kept history of the source is read for the redactions that were missed.
  add constraint bron_fase_check check (fase in ('stand', 'historie', 'feed')),
  -- The place in the feed was given up, so redactions may have been missed. Where its history is read: null is its beginning.
  add column historie_lezen boolean not null default false,
  add column historie_cursor text,
  -- Number of the last record that was read before; null when nothing says which.
  add column historie_na bigint,
  -- Whether that history is the one that was read before and reaches back to that number; null while nothing says so.
  add column historie_sluit_aan boolean,
  -- It does not: what disappears in the comparison that runs is taken out of our own history too.
  add column historie_gemist boolean not null default false,
  -- See `ReadingProgress` in src/lib/feed-client/progress.ts.
  add column voortgang jsonb,
  -- A hash of this source was the one that we would make; then one that is not is wrong.
  add column hash_klopt boolean not null default false,
  -- Organisations that its service document names; when all of them are taken from elsewhere there is nothing to read.
  add column genoemd text[] not null default '{}',
  add column niets_te_lezen boolean not null default false;

-- The number of the record by which the snapshot shows a resource: a redaction with a lower one is of what was before.
alter table aggregator.gezien add column nummer bigint;

-- Resources whose last record was refused: until there is a better one, the source is not up to date.
create table aggregator.geweigerd (
  bron_id integer not null references aggregator.bron (id) on delete cascade,
  -- `organisatiecode/resourceType/bronidentificatie`; empty when the record does not say.
  sleutel text collate "C" not null,
  sinds timestamptz not null default now(),
  primary key (bron_id, sleutel)
);

grant select, insert, update, delete on aggregator.geweigerd to koppelvlak_dienst;
