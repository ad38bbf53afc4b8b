-- The keys that idempotency keys, and the ids of lines of LDV, are hashed with: one at a time for all instances, whatever the order of the
-- keys in their configuration, so that a request that two of them get at once is stored once. `koppelvlak log rotate-key` makes another key
-- the row of `infinity` while it has this table and `idempotency_keys` locked: who takes idempotency keys, or reads the row `for share`, comes
-- before or after it.
create table verwerkingenlog.idempotency_hashing (
  -- Empty: without a key.
  key_name text primary key,
  -- Check value, as in `keys`; null without a key.
  check_value text,
  -- `infinity`: what is new is hashed with it. A moment: until then there may be idempotency keys that were hashed with it.
  needed_until timestamptz not null
);
create unique index idempotency_hashing_current on verwerkingenlog.idempotency_hashing ((true)) where (needed_until = 'infinity');
grant select, insert, update, delete on verwerkingenlog.idempotency_hashing to koppelvlak_dienst;
grant select, insert, update, delete on verwerkingenlog.idempotency_hashing to koppelvlak_opschoner;

-- Until now each instance hashed with its own first key. The first instance that starts makes its first key that of all.
insert into verwerkingenlog.idempotency_hashing (key_name, check_value, needed_until)
select naam, controle, clock_timestamp() + interval '24 hours 5 seconds' from verwerkingenlog.keys where gebruikt and naam <> '';

-- Null: hashed with the key of the first version of its action.
alter table verwerkingenlog.ldv_keys add column hashed_with text;
create index ldv_keys_hashed_with on verwerkingenlog.ldv_keys (actie_id) where (hashed_with is not null);
