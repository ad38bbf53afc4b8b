-- Sessions of citizens that were ended before their time. The session itself is in an encrypted cookie; this makes a copy of the cookie worthless.
-- Holds nothing of a person.
create table verwerkingenlog.ended_sessions (
  sessie uuid primary key,
  -- When the session would have ended by itself: then the row is removed.
  tot timestamptz not null
);
create index ended_sessions_tot on verwerkingenlog.ended_sessions (tot);
grant select, insert, delete on verwerkingenlog.ended_sessions to koppelvlak_dienst;
