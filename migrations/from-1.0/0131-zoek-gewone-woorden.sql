-- The words of a row are those of its texts alone: a search is narrowed by the columns. Rows that are there are written anew by the first
-- server that starts, as after `feed reindex`.
drop function raadsfeed_zoek.kenmerken(text, text, text, timestamptz);
update raadsfeed_zoek.positie set scan_na = 0, scan_tot = greatest(nummer, 1) where nummer > 0;
