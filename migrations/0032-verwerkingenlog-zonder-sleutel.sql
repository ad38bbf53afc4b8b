-- Whether the log holds anything that was kept without a key: only then is a person looked for by a hash without one.

comment on table verwerkingenlog.sleutels is
  'The keys of VERWERKINGENLOG_KEY by name. A start with another key under a name, or without one that is in use, is refused. A row without a name: versions may have been kept without a key.';

-- Reads the log once. `gebruikt` is false: it is no key, and an earlier version of the service must not ask for it.
insert into verwerkingenlog.sleutels (naam, gebruikt)
select '', false where exists (select from verwerkingenlog.versies where sleutelnaam is null);

-- Whoever keeps a version without a key, of whatever version of the service, says so first; and once keys are in use and all was
-- encrypted, nobody can. The lock orders this with a start that takes the first key into use (`open-keys.ts`), and the lock of the row
-- with the end of a rotation that takes the row away.
create function verwerkingenlog.meld_zonder_sleutel() returns trigger language plpgsql as $$
begin
  perform from verwerkingenlog.sleutels where naam = '' for key share;
  if found then
    return new;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('verwerkingenlog sleutels', 0));
  if exists (select from verwerkingenlog.sleutels where gebruikt) then
    raise exception 'the log is kept with keys: nothing is added to it without one'
      using errcode = 'object_not_in_prerequisite_state', hint = 'Give every instance VERWERKINGENLOG_KEY.';
  end if;
  insert into verwerkingenlog.sleutels (naam, gebruikt) values ('', false) on conflict do nothing;
  return new;
end $$;

create trigger zonder_sleutel before insert on verwerkingenlog.versies
  for each row when (new.sleutelnaam is null) execute function verwerkingenlog.meld_zonder_sleutel();
