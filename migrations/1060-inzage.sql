-- Sessions of citizens that were ended before their time. The session itself is in an encrypted cookie; this makes a copy of the cookie worthless.
-- Holds nothing of a person.
create table verwerkingenlog.inzage_beeindigd (
  sessie uuid primary key,
  -- When the session would have ended by itself: then the row is removed.
  tot timestamptz not null
);
create index inzage_beeindigd_tot on verwerkingenlog.inzage_beeindigd (tot);
grant select, insert, delete on verwerkingenlog.inzage_beeindigd to koppelvlak_dienst;
