-- New is what the feed recorded first lately, whatever its own date is.

-- The rows that are there lack it: the first server that starts takes the current state of the feed in again.
truncate pages.items, pages.links;
update pages.position set feed_id = '';

-- Number and moment of the first record since the resource was there without a break.
alter table pages.items add column first_number bigint not null, add column first_stored_at timestamptz not null;

create index items_new on pages.items (first_number desc);
create index items_new_documents on pages.items (organisatiecode, first_number desc) where (resource_type = 'Informatieobject');
create index items_new_of_body on pages.items (organisatiecode, gremium, first_number desc) where (resource_type = 'Informatieobject') and (gremium is not null);
create index items_meetings_of_body on pages.items (organisatiecode, gremium, datum desc nulls last, nummer desc) where (resource_type = 'Vergadering') and (gremium is not null);
