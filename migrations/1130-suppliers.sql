-- Several suppliers: a source has a last day and options of its supplier, and registers are read beside the windows.

alter table aggregator.bron
  -- Last day that is read of a supplier: an organisation may have another source from the day after.
  add column tot date,
  -- See `SupplierOptions` in src/raadsfeed/aggregator/source.ts.
  add column options jsonb not null default '{}';

-- Earlier versions read, and published, whole quarters: the first day that such a source really has.
update aggregator.bron
   set vanaf = date_trunc('quarter', vanaf::timestamp)::date
 where soort = 'leveranciers-api' and vanaf <> date_trunc('quarter', vanaf::timestamp)::date;

alter table aggregator.windows
  -- When a reading of it that was complete began.
  add column complete_at timestamptz;

alter table aggregator.coverage
  -- What registers hold is measured in one reading of all of them, meetings in that of a window.
  add column registers boolean not null default false,
  drop constraint coverage_pkey,
  add primary key (bron_id, maand, registers);

-- When the supplier may next be called, where it allows a number of calls a minute.
create table aggregator.supplier_pace (
  leverancier text primary key,
  next_at timestamptz not null
);
grant select, insert, update, delete on aggregator.supplier_pace to koppelvlak_dienst;

-- Suppliers that blocked our address: nobody calls them until an operator resumes them.
create table aggregator.supplier_blocks (
  leverancier text primary key,
  since timestamptz not null,
  reason text not null
);
grant select, insert, update, delete on aggregator.supplier_blocks to koppelvlak_dienst;
