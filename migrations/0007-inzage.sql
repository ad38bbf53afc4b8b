-- Sessions of citizens that were ended before their time. The session itself is in an encrypted cookie; this makes a copy of the cookie worthless.
-- Holds nothing of a person.
create table verwerkingenlog.ended_sessions (
  session_id uuid primary key,
  -- When the session would have ended by itself: then the row is removed.
  ends_at timestamptz not null
);
create index ended_sessions_ends_at on verwerkingenlog.ended_sessions (ends_at);
grant select, insert, delete on verwerkingenlog.ended_sessions to koppelvlak_dienst;
