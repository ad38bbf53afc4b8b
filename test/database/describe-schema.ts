/**
 * The contents of `pg_dump --schema-only` for our schemas, as sorted lines, without needing a program that matches the server's version.
 * Names count, as do column order, function bodies and privileges.
 */
import type pg from 'pg';

const STATEMENTS = [
  `select format('schema %s owner %s acl %s', nspname, nspowner::regrole, (select array_agg(a::text order by a::text) from unnest(nspacl) a))
     from pg_namespace where nspname in (select nspname from ours)`,
  `select format('%s %s.%s persistence %s identity %s options %s partition %s of %s bound %s acl %s', relkind, nspname, relname, relpersistence,
          relreplident, reloptions, case when relkind = 'p' then pg_get_partkeydef(c.oid) end,
          (select inhparent::regclass from pg_inherits where inhrelid = c.oid), pg_get_expr(relpartbound, c.oid),
          (select array_agg(a::text order by a::text) from unnest(relacl) a))
     from pg_class c join ours n on n.oid = relnamespace where relkind <> 't'`,
  `select format('column %s %s %s %s not null %s default %s identity %s generated %s storage %s statistics %s collation %s acl %s comment %s',
          attrelid::regclass, attnum - (select count(*) from pg_attribute d where d.attrelid = a.attrelid and d.attnum > 0
            and d.attnum < a.attnum and d.attisdropped), attname, format_type(atttypid, atttypmod), attnotnull,
          pg_get_expr(adbin, adrelid), attidentity, attgenerated, attstorage, attstattarget, attcollation::regcollation, attacl,
          col_description(attrelid, attnum))
     from pg_attribute a join pg_class c on c.oid = attrelid join ours n on n.oid = relnamespace
     left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attnum > 0 and not attisdropped and relkind in ('r', 'p', 'v')`,
  `select format('constraint %s on %s %s', conname, conrelid::regclass, pg_get_constraintdef(k.oid))
     from pg_constraint k join ours n on n.oid = connamespace where conrelid <> 0 and contype <> 'n'`,
  `select format('index %s replica %s', pg_get_indexdef(indexrelid), indisreplident)
     from pg_index join pg_class c on c.oid = indrelid join ours n on n.oid = relnamespace`,
  `select format('trigger %s', pg_get_triggerdef(t.oid))
     from pg_trigger t join pg_class c on c.oid = tgrelid join ours n on n.oid = relnamespace where not tgisinternal`,
  `select format('function %s acl %s', pg_get_functiondef(p.oid), (select array_agg(a::text order by a::text) from unnest(proacl) a))
     from pg_proc p join ours n on n.oid = pronamespace`,
  `select format('comment on %s %s', objoid::regclass, description)
     from pg_description join pg_class c on c.oid = objoid and classoid = 'pg_class'::regclass
     join ours n on n.oid = relnamespace where objsubid = 0`,
];

/** One line for each schema, table, column, constraint, index, trigger and function that does not belong to Postgres. */
export async function describeSchema(client: pg.Client): Promise<string[]> {
  const lines: string[] = [];
  for (const statement of STATEMENTS) {
    const { rows } = await client.query({
      text: `with ours as (
               select oid, nspname from pg_namespace where nspname !~ '^(pg_|information_schema|public$)')
             ${statement}`,
      rowMode: 'array',
    });
    lines.push(...rows.map(([line]) => String(line)));
  }
  return lines.sort();
}
