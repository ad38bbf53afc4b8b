-- Rows of several entries gained nothing: all wait in proof.queue again. Whoever adds to the table meanwhile waits, and is told that it is gone.
lock table proof.groepen in access exclusive mode;

insert into proof.queue (log, nr, vermelding, op)
select g.log, e.nr, substring(g.vermeldingen from (e.plaats - 1)::integer * 33 + 1 for 33), g.op
from proof.groepen g cross join unnest(g.nrs) with ordinality as e(nr, plaats);

drop table proof.groepen;
