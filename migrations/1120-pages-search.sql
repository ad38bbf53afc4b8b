-- Search finds what people type: every form of a word, the end of a compound, names of organisation and body, days, the nearest spelling.
-- The program folds letters (`fold.ts`); here a folded word becomes what the index has of it.

-- The form that singular, plural and infinitive share: the stem, with one consonant at its end, `f` for `v` and `s` for `z`. A stop word is its own.
create function pages.stem(word text) returns text language sql immutable parallel safe as $$
  select case when word ~ '^[0-9@]' or length(s) < 3 then word else left(s, -1) || translate(right(s, 1), 'vz', 'fs') end
    from regexp_replace(coalesce((ts_lexize('pg_catalog.dutch_stem', word))[1], word), '([bcdfghjklmnpqrstvwxz])\1$', '\1') s
$$;

-- Words between blanks: as they are and their stems, both after `mark` as well where there is one; and from four letters on backwards after
-- `<`, so that the beginning of that is the end of a compound. Position 1 stays free: no phrase goes on from one text into the next.
create function pages.words_of(words text, mark text, weight text) returns tsvector language sql immutable parallel safe as $$
  select coalesce(string_agg(
           concat(' ', word, at, ' ' || nullif(stem, word) || at,
                  case when mark <> '' then concat(' ', mark, word, at, ' ' || mark || nullif(stem, word) || at) end,
                  case when length(word) >= 4 and word !~ '^[0-9@]' then ' <' || reverse(word) || at end), ''), '')::tsvector
    from (select word, concat(':', place + 1, weight) as at, pages.stem(word) as stem
            from unnest(string_to_array(words, ' ')) with ordinality w (word, place) where word <> '') w
$$;

-- What a row is of: the organisation by its code, for its name may change, and its day, that day of any year, and its month.
create function pages.place_of(organisatiecode text, datum timestamptz) returns tsvector language sql stable parallel safe as $$
  select concat('@', organisatiecode, ':2C',
                to_char(datum at time zone 'Europe/Amsterdam', '" @"YYYYMMDD":2C @"MMDD":2C @"YYYYMM":2C"'))::tsvector
$$;

-- How the words of a row were made: 1 before this migration, 2 since. Servers of the version before cannot write: their rows lack the column.
alter table pages.items add column words_version smallint not null default 1;
alter table pages.items alter column words_version drop default;

-- The words that rows have, and how many, for the nearest spelling. A word goes with the last row that has it.
create table pages.words (
  word text collate "C" primary key,
  rows bigint not null
);
alter table pages.words alter column word set statistics 0;
grant select, insert, update, delete on pages.words to koppelvlak_dienst;
insert into raadsfeed.content_tables (schema_name, table_name) values ('pages', 'words');

-- The words that are spelt most like what was typed, of rows and of `names`: without the extension pg_trgm none. Who adds it later calls this.
-- The function has columns of its own: one that is of the table's type would keep a redaction from replacing the table.
create function pages.use_trigrams() returns boolean language plpgsql as $$
declare
  home text;
begin
  begin
    create extension if not exists pg_trgm with schema pages;
  exception
    when insufficient_privilege or feature_not_supported or undefined_file then
      raise warning 'search suggests no other spelling: %', sqlerrm
        using hint = 'As a DBA run: create extension pg_trgm; then as the owner: select pages.use_trigrams();';
  end;
  select nspname into home from pg_extension join pg_namespace n on n.oid = extnamespace where extname = 'pg_trgm';
  if home is null then
    create or replace function pages.nearest_words(typed text, names text[]) returns table (word text, rows bigint) language sql stable as
      'select * from pages.words where false';
  else
    execute format('create index if not exists words_trigrams on pages.words using gin (word %I.gin_trgm_ops)', home);
    execute format($f$
      create or replace function pages.nearest_words(typed text, names text[]) returns table (word text, rows bigint) language sql stable as $n$
        select * from (select * from pages.words where word operator(%1$I.%%) typed
                       union all select name, 1000000 from unnest(names) name where name operator(%1$I.%%) typed) w
         where abs(length(word) - length(typed)) < 4
         order by %1$I.similarity(word, typed) desc, rows desc, word limit 5
      $n$ $f$, home);
  end if;
  return home is not null;
end
$$;
revoke execute on function pages.use_trigrams() from public;
select pages.use_trigrams();
grant execute on function pages.stem(text), pages.words_of(text, text, text), pages.place_of(text, timestamptz), pages.nearest_words(text, text[])
  to koppelvlak_dienst;

-- Rows that are there are written again by the first server that starts, while they answer.
update pages.position set scan_after = 0, scan_to = greatest(nummer, 1) where nummer > 0;
