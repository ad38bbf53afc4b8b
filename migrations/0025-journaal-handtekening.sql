-- A signed request is answered again only to the same caller and variant: who was answered first is looked up by the signature value.
-- The index keeps eight bytes of it, where the header with its certificate chain takes 8 to 12 KB; with the number behind them the
-- first of many repetitions is found as fast as an only one.
create index journaal_handtekening
  on gegevens.journaal (hashtextextended(split_part(vraag_handtekening, '.', 3), 0), id);
