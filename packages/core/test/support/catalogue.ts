import type pg from "pg";

/** Everything that the catalogue knows of `schema`, as texts that are the same for the same tables. */
export async function catalogueOf(pool: pg.Pool, schema: string): Promise<string[]> {
  const { rows } = await pool.query<{ line: string }>(
    `with n as (select oid from pg_namespace where nspname = $1),
          r as (select c.* from pg_class c join n on n.oid = c.relnamespace)
     select 'relation ' || relname || ' ' || relkind::text || ' ' || coalesce(reloptions::text, '') || ' ' || coalesce(relacl::text, '')
            || ' ' || coalesce(pg_get_expr(relpartbound, oid), '') as line from r
     union all
     select 'column ' || r.relname || '.' || a.attname || ' ' || a.attnum || ' ' || format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull::text
            || ' ' || a.attidentity::text || ' ' || coalesce(a.attstattarget, -1) || ' ' || a.attcollation::regcollation
            || ' ' || coalesce(pg_get_expr(d.adbin, d.adrelid), '') || ' ' || coalesce(col_description(r.oid, a.attnum), '')
       from r join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped and r.relkind in ('r', 'p', 'v')
       left join pg_attrdef d on d.adrelid = r.oid and d.adnum = a.attnum
     union all select 'constraint ' || r.relname || ' ' || c.conname || ' ' || pg_get_constraintdef(c.oid) from r join pg_constraint c on c.conrelid = r.oid
     union all select 'index ' || pg_get_indexdef(i.indexrelid) from r join pg_index i on i.indrelid = r.oid
     union all select 'trigger ' || pg_get_triggerdef(t.oid) from r join pg_trigger t on t.tgrelid = r.oid where not t.tgisinternal
     union all select 'view ' || relname || ' ' || pg_get_viewdef(oid) from r where relkind = 'v'
     union all select 'function ' || pg_get_functiondef(p.oid) || ' ' || coalesce(p.proacl::text, '') from pg_proc p join n on n.oid = p.pronamespace
     union all
     select 'enum ' || t.typname || ' ' || (select string_agg(e.enumlabel, ',' order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid)
       from pg_type t join n on n.oid = t.typnamespace where t.typtype = 'e'
     order by line`,
    [schema],
  );
  return rows.map(({ line }) => line);
}

/** Schemas that PostgreSQL does not bring itself. */
export async function schemasOf(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select nspname as name from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema' order by nspname collate "C"`,
  );
  return rows.map(({ name }) => name);
}
