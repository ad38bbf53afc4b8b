-- Retention. A term hides nothing any more: until an action is removed it is found and changed like any other, so places need no end of
-- their own. The column stays for an older instance that still serves beside a newer one; a later migration drops it.
alter table verwerkingenlog.vindplaatsen alter column vervalt_op set default 'infinity';
comment on column verwerkingenlog.vindplaatsen.vervalt_op is 'Not used any more; to be dropped.';
comment on column verwerkingenlog.versies.vervalt_op is 'tijdstip plus the term of the action itself; infinity without one.';

-- The term of an activity when its text is a duration; the standard leaves it free, so it may also be words: then null. Digits are named,
-- for `\d` has those of other scripts too.
create function verwerkingenlog.termijn_in(tekst text) returns text
language sql immutable parallel safe
return case when tekst ~ '[1-9]' and tekst ~
  '^P(?!$)([0-9]{1,5}W|([0-9]{1,5}Y)?([0-9]{1,5}M)?([0-9]{1,5}D)?(T(?=[0-9])([0-9]{1,5}H)?([0-9]{1,5}M)?([0-9]{1,5}S)?)?)$' then tekst end;

-- When an action has been kept long enough by its term: its own, else that of its activity, else that of the configuration.
create function verwerkingenlog.einde(tijdstip timestamptz, eigen text, activiteit text, anders text) returns timestamptz
language sql stable parallel safe
return verwerkingenlog.vervalt_op(tijdstip, coalesce(eigen, verwerkingenlog.termijn_in(activiteit), anders));

-- What the register said of terms, and since when. Retention goes by this table and not by the register itself: a term that was shortened
-- there must be seen for a while before anything is removed, and a change that is not told here removes nothing.
create table verwerkingenlog.activiteit_termijnen (
  nummer bigint generated always as identity primary key,
  verwerkingsactiviteit_id uuid not null,
  vanaf timestamptz not null,
  bewaartermijn text,
  door text not null,
  verzoek_id text not null
);

create index activiteit_termijnen_activiteit on verwerkingenlog.activiteit_termijnen (verwerkingsactiviteit_id, vanaf, nummer);

-- Until now these terms removed nothing: for what was kept under them they begin today.
insert into verwerkingenlog.activiteit_termijnen (verwerkingsactiviteit_id, vanaf, bewaartermijn, door, verzoek_id)
select verwerkingsactiviteit_id, now(), bewaartermijn, door, verzoek_id from verwerkingenlog.verwerkingsactiviteiten
where bewaartermijn is not null;

create function verwerkingenlog.activiteit_termijn(activiteit uuid, moment timestamptz) returns text
language sql stable parallel safe
return (select t.bewaartermijn from verwerkingenlog.activiteit_termijnen t
  where t.verwerkingsactiviteit_id = activiteit and t.vanaf <= moment order by t.vanaf desc, t.nummer desc limit 1);

-- One line for each run that removes. It grows with each batch, in the transaction of that batch, and stays for ever.
create table verwerkingenlog.opschoningen (
  nummer bigint generated always as identity primary key,
  begonnen_op timestamptz not null,
  geeindigd_op timestamptz,
  door text not null,
  verwijderd bigint not null default 0 check (verwijderd >= 0),
  maanden jsonb not null default '{}',
  oudste timestamptz,
  nieuwste timestamptz,
  verwijderde_maanden text[] not null default '{}',
  zonder_termijn bigint,
  fout text
);

comment on column verwerkingenlog.opschoningen.door is 'The database login that it ran as.';
comment on column verwerkingenlog.opschoningen.maanden is 'How many actions by month of registration: {"202601": 12}.';
comment on column verwerkingenlog.opschoningen.oudste is 'Earliest first registration of what was removed; nieuwste: the latest.';
comment on column verwerkingenlog.opschoningen.zonder_termijn is 'Actions that were found to have no term at all, and are kept.';

create function verwerkingenlog.bewaak_opschoning() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if old.geeindigd_op is not null or new.verwijderd < old.verwijderd then
    raise exception 'a line of what was removed cannot be taken back' using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;

create trigger opschoningen_blijven before update on verwerkingenlog.opschoningen
for each row execute function verwerkingenlog.bewaak_opschoning();

grant select, insert on verwerkingenlog.activiteit_termijnen to koppelvlak_dienst;
grant select on verwerkingenlog.opschoningen to koppelvlak_dienst;
grant select on verwerkingenlog.activiteit_termijnen to koppelvlak_opschoner;
grant select, insert (begonnen_op, door), update (geeindigd_op, verwijderd, maanden, oudste, nieuwste, verwijderde_maanden, zonder_termijn, fout)
  on verwerkingenlog.opschoningen to koppelvlak_opschoner;
