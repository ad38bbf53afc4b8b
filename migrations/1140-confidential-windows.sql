-- What may belong to something confidential is withheld over all windows of a source.
alter table aggregator.windows
  -- A meeting or an agenda item in it is confidential.
  add column has_confidential boolean not null default false;
