-- A person is found by one normal form of kind and number, however both were written. What was stored before is found by its own spelling
-- until `koppelvlak log rotate-key` has hashed it anew.

create table verwerkingenlog.schrijfwijzen (
  sleutel text primary key
);

comment on table verwerkingenlog.schrijfwijzen is
  'Keys by name (empty: none) under which persons may be stored by the spelling that they were logged with.';

insert into verwerkingenlog.schrijfwijzen (sleutel)
select naam from verwerkingenlog.sleutels
where (gebruikt or naam = '') and exists (select 1 from verwerkingenlog.versies);

grant select on verwerkingenlog.schrijfwijzen to koppelvlak_dienst;
grant select, delete on verwerkingenlog.schrijfwijzen to koppelvlak_opschoner;
