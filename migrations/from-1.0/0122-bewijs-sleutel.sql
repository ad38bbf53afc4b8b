-- A check value of the key that the proof logs were begun with: a wrong one is refused at the start, and not only when it should sign.
create table proof.sleutel (
  een boolean primary key default true check (een),
  controle text not null
);
comment on column proof.sleutel.controle is 'An HMAC under what seals entries, so PROOF_KEY and PROOF_SEALING_KEY both have it.';

grant select, insert on proof.sleutel to koppelvlak_dienst, koppelvlak_opschoner;
