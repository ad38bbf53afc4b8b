-- Numbers of a source that are missing are looked for in the pages after them; how far, when a turn ended over it. As JSON:
-- see `LookAhead` in src/extensions/aggregator/feed/explain-gaps.ts.
alter table aggregator.bron add column vooruit jsonb;
