-- What a search is narrowed by stands among the words of a row, as words that nobody can type: its organisation, kind, body, year and month.
-- The index of words then finds a common word of one organisation or month by itself; without it, every row that has the word is read.

create function raadsfeed_zoek.kenmerken(organisatiecode text, resource_type text, gremium text, datum timestamptz) returns tsvector
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select array_to_tsvector(array_remove(array[
    '_' || organisatiecode,
    '_' || resource_type,
    '_c:' || gremium,
    '_' || to_char(datum at time zone 'UTC', 'FMYYYY'),
    '_' || to_char(datum at time zone 'UTC', 'FMYYYYMM')], null))
$$;
revoke execute on function raadsfeed_zoek.kenmerken(text, text, text, timestamptz) from public;
grant execute on function raadsfeed_zoek.kenmerken(text, text, text, timestamptz) to koppelvlak_dienst;

drop function raadsfeed_zoek.periode(timestamptz);

-- A search for all of one organisation.
create index stuk_organisatie_dag on raadsfeed_zoek.stuk (organisatiecode, datum desc nulls last, nummer desc);

-- Rows that are there are written anew by the first server that starts, as after `feed reindex`.
update raadsfeed_zoek.positie set scan_na = 0, scan_tot = greatest(nummer, 1) where nummer > 0;
