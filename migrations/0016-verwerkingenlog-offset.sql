-- The offset that `tijdstip` was given in: order and retention go by the moment, answers show it as it was given.

alter table verwerkingenlog.versies add column tijdstip_offset text;

comment on column verwerkingenlog.versies.tijdstip_offset is 'Offset from UTC as it was given, such as +01:00; null: UTC.';

comment on column verwerkingenlog.versies.sleutelnaam is
  'The key that encrypts the identifiers in this row (objecten[].id, and afnemer_id unless it is an OIN); null: stored as they came.';
