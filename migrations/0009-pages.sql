-- The index of what pages show and search finds.

create schema pages;
grant usage on schema pages to koppelvlak_dienst;

create table pages.position (
  only_row boolean default true check (only_row) primary key,
  -- Of the feed that was read.
  feed_id text not null default '',
  -- The records up to and including this number have been taken in.
  number bigint not null default 0,
  -- The current state after `scan_after` and up to `scan_to` is still to be taken in; equal: all of it was.
  scan_after bigint not null default 0,
  scan_to bigint not null default 0
);
insert into pages.position default values;
grant select, update on pages.position to koppelvlak_dienst;

-- What is of the resource itself has the names of the feed.
create table pages.items (
  -- Number of the record that is the current one of the resource.
  number bigint primary key,
  organisatiecode text collate "C" not null,
  resource_type text collate "C" not null,
  bronidentificatie text collate "C" not null,
  stored_at timestamptz not null,
  titel text not null,
  -- When the meeting or item is, or when the document was submitted.
  datum timestamptz,
  soort text collate "C",
  -- The meeting of an item; of a document the first one that it names, or that its first item belongs to.
  vergadering text collate "C",
  -- The body that holds the meeting, by identification and name.
  gremium text collate "C",
  gremiumnaam text,
  -- The members that lists show.
  summary jsonb not null,
  words tsvector not null,
  -- Number and moment of the first record since the resource was there without a break: what is new is what the feed recorded lately, whatever
  -- its own date is.
  first_number bigint not null,
  first_stored_at timestamptz not null,
  unique (organisatiecode, resource_type, bronidentificatie)
);
alter table pages.items alter column titel set statistics 0;
alter table pages.items alter column gremiumnaam set statistics 0;
alter table pages.items alter column summary set statistics 0;
alter table pages.items alter column words set statistics 0;
create index items_words on pages.items using gin (words);
create index items_newest on pages.items (datum desc nulls last, number desc);
create index items_newest_of_type on pages.items (resource_type, datum desc nulls last, number desc);
create index items_newest_of_organisation_and_type on pages.items (organisatiecode, resource_type, datum desc nulls last, number desc);
create index items_of_meeting on pages.items (organisatiecode, vergadering, resource_type) where (vergadering is not null);
create index items_newest_of_organisation on pages.items (organisatiecode, datum desc nulls last, number desc);
create index items_new on pages.items (first_number desc);
create index items_new_documents on pages.items (organisatiecode, first_number desc) where (resource_type = 'Informatieobject');
create index items_new_of_body on pages.items (organisatiecode, gremium, first_number desc) where (resource_type = 'Informatieobject') and (gremium is not null);
create index items_meetings_of_body on pages.items (organisatiecode, gremium, datum desc nulls last, number desc) where (resource_type = 'Vergadering') and (gremium is not null);
grant select, insert, update, delete on pages.items to koppelvlak_dienst;

-- What a document or a meeting refers to.
create table pages.links (
  organisatiecode text collate "C" not null,
  from_type text collate "C" not null,
  from_id text collate "C" not null,
  to_organisatiecode text collate "C" not null,
  to_type text collate "C" not null,
  to_id text collate "C" not null,
  rol text not null default '',
  primary key (organisatiecode, from_type, from_id, to_organisatiecode, to_type, to_id)
);
create index links_to on pages.links (to_organisatiecode, to_type, to_id);
grant select, insert, update, delete on pages.links to koppelvlak_dienst;

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

-- The words that rows have, and how many, for the nearest spelling. A word goes with the last row that has it.
create table pages.words (
  word text collate "C" primary key,
  rows bigint not null
);
alter table pages.words alter column word set statistics 0;
grant select, insert, update, delete on pages.words to koppelvlak_dienst;

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

insert into raadsfeed.content_tables (schema_name, table_name) values ('pages', 'items'), ('pages', 'links'), ('pages', 'words');
