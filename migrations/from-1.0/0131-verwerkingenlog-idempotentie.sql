-- A repeated request is compared with the action that was stored under its key, not with a hash of it.
alter table verwerkingenlog.idempotentie drop column inhoud;
