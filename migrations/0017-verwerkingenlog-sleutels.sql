-- The retention role encrypts anew (`koppelvlak log rotate-key`), also with a key that the service has not used yet.
grant insert, update (controle, gebruikt) on verwerkingenlog.sleutels to koppelvlak_opschoner;
-- The first key makes what was kept of idempotency keys without one useless.
grant select, delete on verwerkingenlog.idempotentie to koppelvlak_opschoner;
