-- SHA-256 of the signature value, in the first entry of a signed request: it is answered again only to the same caller and variant.
alter table gegevens.journaal add column first_signature_hash bytea;
update gegevens.journaal j
   set first_signature_hash = sha256(convert_to(split_part(vraag_handtekening, '.', 3), 'UTF8'))
 where id in (select min(id) from gegevens.journaal group by split_part(vraag_handtekening, '.', 3));
drop index gegevens.journaal_handtekening;
create unique index journaal_first_signature on gegevens.journaal (first_signature_hash);
