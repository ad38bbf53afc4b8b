-- A line that OTLP has no place for, such as one of 1950, is set aside under a kind of its own.

alter table verwerkingenlog.ldv_doorgifte_meldingen drop constraint ldv_doorgifte_meldingen_soort_check;
alter table verwerkingenlog.ldv_doorgifte_meldingen add constraint ldv_doorgifte_meldingen_soort_check
  check (soort in ('geweigerd', 'wijziging', 'verwijdering', 'ingehouden', 'verdwenen', 'onleesbaar', 'onverzendbaar'));
