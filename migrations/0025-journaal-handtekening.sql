-- A signed request is answered again only to the same caller and variant: who was answered first is looked up by the signature value.
-- A hash index keeps four bytes of it, where the header with its certificate chain takes 8 to 12 KB.
create index journaal_handtekening on gegevens.journaal using hash (split_part(vraag_handtekening, '.', 3));
