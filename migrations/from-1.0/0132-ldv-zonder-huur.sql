-- Who forwards locks the row for as long as a batch takes; nothing is leased.
alter table verwerkingenlog.ldv_doorgifte_stand drop column huurder, drop column huur_nummer, drop column huur_tot;
