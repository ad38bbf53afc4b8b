-- Sessions of citizens that were ended before their time. The session itself is in an encrypted cookie; this makes a copy of the cookie worthless.
create table verwerkingenlog.inzage_beeindigd (
  sessie uuid primary key,
  tot timestamptz not null
);
comment on table verwerkingenlog.inzage_beeindigd is 'Holds nothing of a person.';
comment on column verwerkingenlog.inzage_beeindigd.tot is 'When the session would have ended by itself: then the row is removed.';
create index inzage_beeindigd_tot on verwerkingenlog.inzage_beeindigd (tot);

grant select, insert, delete on verwerkingenlog.inzage_beeindigd to koppelvlak_dienst;
