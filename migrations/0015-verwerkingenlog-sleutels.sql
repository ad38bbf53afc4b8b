-- Which keys the log was written with, and idempotency without a hash that a BSN can be guessed from.

create table verwerkingenlog.sleutels (
  naam text primary key,
  controle text,
  gebruikt boolean not null
);

comment on table verwerkingenlog.sleutels is
  'The keys of VERWERKINGENLOG_KEY by name. A start with another key under a name, or without one that is in use, is refused.';
comment on column verwerkingenlog.sleutels.controle is
  'Check value: HMAC-SHA-256 under a key that is derived from the key. Null: the log was written with it before check values were kept.';
comment on column verwerkingenlog.sleutels.gebruikt is
  'Whether versions may have been written with it. `koppelvlak log rotate-key` removes a key that no version needs any more.';

-- Reads the log once; afterwards whoever writes with a key says so first.
insert into verwerkingenlog.sleutels (naam, gebruikt)
select distinct sleutelnaam, true from verwerkingenlog.versies where sleutelnaam is not null;

grant select, insert, update (controle, gebruikt) on verwerkingenlog.sleutels to koppelvlak_dienst;
grant select, delete on verwerkingenlog.sleutels to koppelvlak_opschoner;

-- What was kept until now are plain hashes of a caller's key and of an action with its persons: both can be guessed. They are kept for a
-- day only, so forgetting them costs at most a second entry for a call that is tried again across this migration.
truncate verwerkingenlog.idempotentie;

comment on table verwerkingenlog.idempotentie is
  'Idempotency keys of the last 24 hours: keyed hashes of caller and key, and of the action, and the action that came of it.';
