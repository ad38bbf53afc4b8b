-- In which trace (W3C Trace Context) something was delivered or read: beside the journal of deliveries, and beside the service's own
-- entries in the processing log. A caller chooses its trace id, so it is never the `verwerking_id` of such an entry.
alter table gegevens.journaal
  add column trace_id text,
  add column span_id text,
  add column ouder_span_id text;
comment on column gegevens.journaal.trace_id is 'Null: delivered before traces were recorded.';

alter table verwerkingenlog.versies
  add column trace_id uuid,
  add column span_id text,
  add column ouder_span_id text,
  add column fsc_transactie_id text;
comment on column verwerkingenlog.versies.trace_id is 'Of the call that the service made this own entry for; null in what others logged.';

-- Own entries are few beside the others.
create index versies_trace_id on verwerkingenlog.versies (trace_id) where trace_id is not null;
