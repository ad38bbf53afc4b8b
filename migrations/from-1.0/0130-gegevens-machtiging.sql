-- Who was delegated to what in a delivery, as the FSC token said: {"gemachtigde": the peer that called for the requester (`act.sub`),
-- "publicatieNamens": the peer for whom this one offers the service (`pdi`)}. Null: nobody was.
alter table gegevens.journaal add column machtiging jsonb;
